#include "softgpu/cache_files.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

#include "softgpu/fingerprint.hpp"
#include "softgpu/ptx/error.hpp"

namespace softgpu {

namespace fs = std::filesystem;

namespace {

constexpr unsigned kLocks = 64;  // files that entries are locked by

}  // namespace

std::string fingerprint_of_headers(const std::string& folder) {
  std::vector<fs::path> headers;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    if (entry.path().extension() == ".hpp") headers.push_back(entry.path());
  }
  if (headers.empty()) throw PtxError(0, "softgpu's headers are not in " + folder);
  std::sort(headers.begin(), headers.end());
  std::string all;
  for (const fs::path& header : headers) {
    all += header.filename().string() + '\n' + content_of(header.string());
  }
  return fingerprint(all);
}

bool is_readable(const std::string& path) { return access(path.c_str(), R_OK) == 0; }

std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void write_file(const std::string& path, std::string_view content) {
  std::ofstream file(path, std::ios::binary);
  file.write(content.data(), static_cast<std::streamsize>(content.size()));
  file.close();
  if (!file) throw PtxError(0, "cannot write " + path + ": " + std::strerror(errno));
}

// The lock files stay: there are few.
MakingOf::MakingOf(const std::string& folder, const std::string& entry) {
  const auto number = fnv(entry, 0) % kLocks;
  const std::string path = folder + "/lock." + std::to_string(number);
  file_ = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (file_ < 0) return;
  constexpr int kMostNaps = 12'000;  // of 10 ms
  constexpr timespec kNap{0, 10'000'000};
  for (int i = 0; flock(file_, LOCK_EX | LOCK_NB) != 0 && i < kMostNaps; ++i) {
    nanosleep(&kNap, nullptr);
  }
}
MakingOf::~MakingOf() {
  if (file_ >= 0) close(file_);
}

void remove_oldest(const std::string& folder, std::uint64_t most) {
  struct File {
    fs::path path;
    fs::file_time_type used;
    std::uint64_t bytes;
  };
  std::vector<File> files;
  std::uint64_t total = 0;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    std::error_code gone;  // another process cleans, too
    if (!entry.is_regular_file(gone) || entry.path().extension() != ".so") continue;
    const auto bytes = entry.file_size(gone);
    const auto used = entry.last_write_time(gone);
    if (gone) continue;
    files.push_back({entry.path(), used, bytes});
    total += bytes;
  }
  if (total <= most) return;
  std::sort(files.begin(), files.end(),
            [](const File& a, const File& b) { return a.used < b.used; });
  for (const File& file : files) {
    if (total <= most) return;
    fs::remove(file.path, error);
    total -= file.bytes;
  }
}

void mark_as_used(const std::string& path) { utimensat(AT_FDCWD, path.c_str(), nullptr, 0); }

}  // namespace softgpu
