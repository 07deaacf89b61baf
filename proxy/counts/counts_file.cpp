#include "proxy/counts/counts_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <iterator>
#include <new>
#include <optional>
#include <string>
#include <system_error>

#include "net/socket/fork.hpp"

namespace chime::proxy {
namespace {

namespace fs = std::filesystem;

constexpr char kName[] = "chime-proxy-counts";

[[noreturn]] void fail(const char* call) {
  throw std::system_error(errno, std::generic_category(), call);
}

net::Descriptor make_file() {
  net::Descriptor file =
      net::opened_for_this_process([] { return memfd_create(kName, MFD_CLOEXEC); });
  if (!file || ftruncate(file.get(), sizeof(Counts)) != 0) fail("memfd_create");
  return file;
}

bool is_ours(const fs::path& link) {
  std::error_code ignored;
  return fs::read_symlink(link, ignored).string().starts_with(std::string("/memfd:") + kName);
}

// None if the layout is another build's.
std::optional<FoundCounts> read_from(const fs::path& path, pid_t process) {
  const net::Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  FoundCounts found{.process = process, .bytes = {}};
  if (!file || pread(file.get(), found.bytes, sizeof found.bytes, 0) != sizeof found.bytes ||
      found.counts().magic != Counts::kMagic)
    return std::nullopt;
  return found;
}

std::vector<fs::path> entries(const fs::path& folder) {
  std::error_code ignored;  // it may end while we look
  std::vector<fs::path> all;
  for (fs::directory_iterator at(folder, ignored), end; !ignored && at != end;
       at.increment(ignored))
    all.push_back(at->path());
  return all;
}

}  // namespace

CountsFile::CountsFile(int pe) : file_(make_file()) {
  void* const memory =
      mmap(nullptr, sizeof(Counts), PROT_READ | PROT_WRITE, MAP_SHARED, file_.get(), 0);
  if (memory == MAP_FAILED) fail("mmap");
  counts_ = new (memory) Counts;
  counts_->pe = pe;
}

CountsFile::~CountsFile() { munmap(counts_, sizeof(Counts)); }

std::vector<FoundCounts> counts_of(pid_t process) {
  std::vector<FoundCounts> found;
  for (const fs::path& link : entries("/proc/" + std::to_string(process) + "/fd"))
    if (is_ours(link))
      if (const auto counts = read_from(link, process)) found.push_back(*counts);
  return found;
}

std::vector<FoundCounts> all_counts() {
  std::vector<FoundCounts> found;
  for (const fs::path& folder : entries("/proc")) {
    const std::string name = folder.filename();
    if (!std::ranges::all_of(name, [](char c) { return c >= '0' && c <= '9'; })) continue;
    std::ranges::copy(counts_of(static_cast<pid_t>(std::stol(name))), std::back_inserter(found));
  }
  const auto by_pe = [](const FoundCounts& one) { return one.counts().pe; };
  std::ranges::stable_sort(found, {}, by_pe);
  return found;
}

}  // namespace chime::proxy
