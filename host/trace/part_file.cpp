#include "host/trace/part_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "host/errors/error.hpp"

namespace chime::trace {
namespace {

[[noreturn]] void refuse(const std::string& what) { throw host::system_error("CHIME_TRACE", what); }

}  // namespace

PartFile::PartFile(const std::string& file, const Process& process, std::uint64_t most_events)
    : file_(file) {
  const std::uint64_t chunks = (most_events + kChunkEvents - 1) / kChunkEvents;
  // Another inode than a part that an earlier job has left, and that a process of it may still map.
  ::unlink(file.c_str());
  fd_ = ::open(file.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (fd_ < 0) refuse(fmt::format("cannot make {}", file));
  try {
    map(chunks);
  } catch (...) {  // a broken part would keep those of other PEs from being merged
    ::close(fd_);
    ::unlink(file.c_str());
    throw;
  }
  fill_header(process, chunks);
}

void PartFile::map(std::uint64_t chunks) {
  const std::size_t bytes = part_bytes(chunks);
  if (::ftruncate(fd_, static_cast<off_t>(bytes)) != 0)
    refuse(fmt::format("{} cannot have {} bytes; lower CHIME_TRACE_EVENTS", file_, bytes));
  if (const int error = ::posix_fallocate(fd_, 0, static_cast<off_t>(part_bytes(0)))) {
    errno = error;
    refuse(fmt::format("no room for {}", file_));
  }
  void* const memory =
      ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd_, 0);
  if (memory == MAP_FAILED) refuse(fmt::format("cannot map {}", file_));
  memory_ = static_cast<std::byte*>(memory);
}

void PartFile::fill_header(const Process& process, std::uint64_t chunks) {
  PartHeader& h = mine();
  h.version = kPartVersion;
  h.n_pes = process.n_pes;
  h.first_pe = process.first_pe;
  h.process = ::getpid();
  h.pes_here = 1;
  h.job = hash_of(process.job);
  h.most_chunks = chunks;
  h.clock = number_of_clock();
  h.opened_ns = now_ns();
  if (::gethostname(h.host, sizeof h.host - 1) != 0) std::strcpy(h.host, "?");
  add_text("(a name that was not kept)");
  std::memcpy(h.magic, kPartMagic, sizeof kPartMagic);
}

std::uint64_t PartFile::count(std::uint64_t& word, std::uint64_t more) {
  return std::atomic_ref(word).fetch_add(more, std::memory_order_relaxed);
}

// The disk's room is taken now: a page that the system cannot write would end the process.
Chunk* PartFile::take_chunk() {
  if (std::atomic_ref(mine().chunks).load(std::memory_order_relaxed) < header().most_chunks) {
    const std::uint64_t number = count(mine().chunks, 1);
    const off_t at = static_cast<off_t>(part_bytes(number));
    if (number < header().most_chunks && ::posix_fallocate(fd_, at, kChunkBytes) == 0) {
      auto* const chunk = reinterpret_cast<Chunk*>(memory_ + at);
      chunk->thread = static_cast<std::int32_t>(::syscall(SYS_gettid));
      return chunk;
    }
  }
  drop();
  return nullptr;
}

void PartFile::add_pe() {
  std::atomic_ref(mine().pes_here).fetch_add(1, std::memory_order_relaxed);
}

std::uint32_t PartFile::add_text(const char* text) {
  const std::size_t bytes = std::strlen(text) + 1;
  if (bytes > kNamesBytes - names_used_) return 0;
  std::memcpy(memory_ + kHeaderBytes + names_used_, text, bytes);
  names_used_ += bytes;
  return static_cast<std::uint32_t>(names_used_ - bytes);
}

// Known names are found without the lock: a name's number is stored before it (release).
std::uint32_t PartFile::number_of(const char* name) {
  const auto start = reinterpret_cast<std::uintptr_t>(name) * 0x9e3779b97f4a7c15u >> 52;
  static_assert(kMostNames == 1 << 12, "the hash has as many bits");
  for (std::size_t i = 0; i < kMostNames; ++i) {
    Known& known = known_[(start + i) % kMostNames];
    const char* const there = known.name.load(std::memory_order_acquire);
    if (there == name) return known.number;
    if (there != nullptr) continue;
    const std::lock_guard lock(one_adds_);
    const char* const now = known.name.load(std::memory_order_relaxed);
    if (now == name) return known.number;
    if (now != nullptr) continue;
    known.number = add_text(name);
    known.name.store(name, std::memory_order_release);
    return known.number;
  }
  return 0;
}

void PartFile::set_offset(std::int64_t offset_ns, std::uint64_t doubt_ns) {
  const ClockOffset offset{now_ns(), offset_ns, doubt_ns};
  if (mine().first.at_ns == 0) mine().first = offset;
  mine().last = offset;
}

void PartFile::close(bool others_read_it) {
  const std::uint64_t chunks = std::min(
      std::atomic_ref(mine().chunks).load(std::memory_order_relaxed), header().most_chunks);
  std::atomic_ref(mine().closed_ns).store(now_ns(), std::memory_order_release);
  if (others_read_it) ::msync(memory_, part_bytes(chunks), MS_SYNC);
}

// Acquire: pairs with the release in close().
bool PartFile::is_closed() const {
  return __atomic_load_n(&header().closed_ns, __ATOMIC_ACQUIRE) != 0;
}

}  // namespace chime::trace
