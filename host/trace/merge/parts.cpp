#include "host/trace/merge/parts.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <filesystem>

#include "host/errors/error.hpp"
#include "host/trace/merge/open_events.hpp"

namespace chime::trace {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(const std::string& file, const std::string& why) {
  throw host::Error("timeline", CHIMEX_ERR_INVALID,
                    fmt::format("{} is no part of a timeline: {}", file, why));
}

// Acquire: a process that is not gone may be writing the next one. Pairs with the release in
// host/trace/recorder.cpp.
bool is_whole(const Event& event) {
  return __atomic_load_n(reinterpret_cast<const std::uint8_t*>(&event.kind), __ATOMIC_ACQUIRE) != 0;
}

void add_spans(const Part& part, const OpenEvents& open, std::vector<Span>& spans) {
  for (const Chunk& chunk : part.chunks()) {
    for (const Event& event : chunk.events) {
      if (!is_whole(event)) break;
      // Once: the call that stops recording ends after it.
      const std::uint64_t ended = __atomic_load_n(&event.end_ns, __ATOMIC_RELAXED);
      const std::uint64_t begin = part.in_time_of_first(event.begin_ns);
      const std::uint64_t end =
          ended != 0 ? part.in_time_of_first(ended) : open.end_ns(part, event);
      spans.push_back({begin, std::max(begin, end), &event, &part, chunk.thread, ended == 0});
    }
  }
}

}  // namespace

Part::Part(const std::string& file) : file_(file) {
  const int fd = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) throw host::system_error("timeline", "cannot read " + file);
  const off_t end = ::lseek(fd, 0, SEEK_END);
  bytes_ = end > 0 ? static_cast<std::size_t>(end) : 0;
  void* const memory =
      bytes_ < part_bytes(0) ? MAP_FAILED : ::mmap(nullptr, bytes_, PROT_READ, MAP_SHARED, fd, 0);
  ::close(fd);
  if (memory == MAP_FAILED) refuse(file, fmt::format("it has {} bytes", bytes_));
  memory_ = static_cast<const std::byte*>(memory);
  std::memcpy(&header_, memory_, sizeof header_);
  if (std::memcmp(header_.magic, kPartMagic, sizeof kPartMagic) != 0)
    refuse(file, "it does not begin as one");
  if (header_.version != kPartVersion)
    refuse(file,
           fmt::format("it has version {}, this program knows {}", header_.version, kPartVersion));
  header_.host[sizeof header_.host - 1] = 0;
  header_.chunks = std::min<std::uint64_t>(header_.chunks, (bytes_ - part_bytes(0)) / kChunkBytes);
}

Part::~Part() {
  if (memory_ != nullptr) ::munmap(const_cast<std::byte*>(memory_), bytes_);
}

std::span<const Chunk> Part::chunks() const {
  return {reinterpret_cast<const Chunk*>(memory_ + part_bytes(0)), header_.chunks};
}

std::string Part::name(std::uint32_t number) const {
  if (number >= kNamesBytes) return "?";
  const auto* const text = reinterpret_cast<const char*>(memory_ + kHeaderBytes + number);
  return {text, ::strnlen(text, kNamesBytes - number)};
}

std::int64_t Part::offset_at(std::uint64_t ns) const {
  const ClockOffset &first = header_.first, &last = header_.last;
  if (ns <= first.at_ns || first.at_ns == last.at_ns) return first.offset_ns;
  if (ns >= last.at_ns) return last.offset_ns;
  const auto drift = static_cast<double>(last.offset_ns - first.offset_ns);
  const auto passed = static_cast<double>(ns - first.at_ns);
  return first.offset_ns +
         std::llround(drift * passed / static_cast<double>(last.at_ns - first.at_ns));
}

std::uint64_t Part::in_time_of_first(std::uint64_t ns) const {
  return ns + static_cast<std::uint64_t>(offset_at(ns));
}

std::uint64_t Part::doubt_ns() const {
  return std::max(header_.first.doubt_ns, header_.last.doubt_ns);
}

std::vector<Span> Parts::spans(const EndsOfPes& ends) const {
  std::vector<Span> spans;
  const OpenEvents open(*this, ends);
  for (const auto& part : all) add_spans(*part, open, spans);
  std::stable_sort(spans.begin(), spans.end(), [](const Span& a, const Span& b) {
    return a.begin_ns != b.begin_ns ? a.begin_ns < b.begin_ns : a.end_ns > b.end_ns;
  });
  return spans;
}

bool Parts::are_complete() const {
  return std::all_of(all.begin(), all.end(), [](const auto& part) { return part->is_closed(); });
}

Parts read_parts(const std::string& folder) {
  std::error_code error;
  Parts parts;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    if (!entry.path().filename().string().starts_with("pe")) continue;
    parts.files.push_back(entry.path().string());
    parts.all.push_back(std::make_unique<Part>(parts.files.back()));
  }
  if (parts.all.empty())
    throw host::Error("timeline", CHIMEX_ERR_INVALID,
                      fmt::format("there are no parts of a timeline in {}", folder));
  // An earlier job, of more PEs, may have left some.
  const auto latest = std::max_element(
      parts.all.begin(), parts.all.end(),
      [](const auto& a, const auto& b) { return a->header().opened_ns < b->header().opened_ns; });
  const std::uint64_t job = (*latest)->header().job;
  std::erase_if(parts.all, [job](const auto& part) { return part->header().job != job; });
  std::sort(parts.all.begin(), parts.all.end(), [](const auto& a, const auto& b) {
    return a->header().first_pe < b->header().first_pe;
  });
  return parts;
}

}  // namespace chime::trace
