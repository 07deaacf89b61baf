#include "softgpu/cache_files.hpp"

#include <elf.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

#include "softgpu/fingerprint.hpp"
#include "softgpu/first_compilation.hpp"
#include "softgpu/ptx/error.hpp"

namespace softgpu {

namespace fs = std::filesystem;

namespace {

constexpr unsigned kLocks = 64;  // files that entries are locked by

}  // namespace

std::string fingerprint_of_headers(const std::vector<std::string>& folders,
                                   const std::string& header) {
  std::vector<std::string> names{header};
  std::string all;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto folder = std::find_if(folders.begin(), folders.end(), [&](const std::string& in) {
      return is_readable(in + '/' + names[i]);
    });
    if (folder == folders.end()) throw PtxError(0, names[i] + " is in none of softgpu's folders");
    std::ifstream file(*folder + '/' + names[i], std::ios::binary);
    all += names[i] + '\n';
    for (std::string line; std::getline(file, line);) {
      all += line + '\n';
      constexpr std::string_view kInclude = "#include \"";
      if (!line.starts_with(kInclude)) continue;
      const std::string name =
          line.substr(kInclude.size(), line.find('"', kInclude.size()) - kInclude.size());
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    }
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
MakingOf::MakingOf(const std::string& folder, const std::string& entry, CompilerWait& wait) {
  const auto number = fnv(entry, 0) % kLocks;
  const std::string path = folder + "/lock." + std::to_string(number);
  file_ = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (file_ < 0) return;
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(2);
  while (flock(file_, LOCK_EX | LOCK_NB) != 0 && std::chrono::steady_clock::now() < end) wait.nap();
}
MakingOf::~MakingOf() {
  if (file_ >= 0) close(file_);
}

// Linkers write the table of sections last.
bool is_whole_library(const std::string& path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  const auto bytes = static_cast<std::uint64_t>(std::max<std::streamoff>(file.tellg(), 0));
  Elf64_Ehdr head{};
  file.seekg(0);
  file.read(reinterpret_cast<char*>(&head), sizeof head);
  return file && std::memcmp(head.e_ident, ELFMAG, SELFMAG) == 0 &&
         head.e_shoff + std::uint64_t{head.e_shnum} * head.e_shentsize <= bytes;
}

namespace {

struct Entry {
  fs::path path;
  fs::file_time_type used{};
  std::uint64_t bytes = 0;
};

// Another process may clean, too: a file that is gone meanwhile counts no bytes.
void add_file(Entry& entry, const fs::directory_entry& file) {
  std::error_code gone;
  const auto bytes = file.file_size(gone);
  if (gone) return;
  const auto used = file.last_write_time(gone);
  if (gone) return;
  entry.bytes += bytes;
  entry.used = std::max(entry.used, used);
}

// The time of use of a folder is that of the file in it that was used last.
Entry entry_of(const fs::directory_entry& found) {
  Entry entry{found.path(), fs::file_time_type::min(), 0};
  std::error_code error;
  if (found.is_regular_file(error) && found.path().extension() == ".so") add_file(entry, found);
  if (found.is_directory(error) && found.path().filename().string().starts_with(kVocabulary)) {
    for (const fs::directory_entry& file : fs::directory_iterator(found.path(), error)) {
      add_file(entry, file);
    }
  }
  return entry;
}

}  // namespace

void remove_oldest(const std::string& folder, std::uint64_t most) {
  std::vector<Entry> entries;
  std::uint64_t total = 0;
  std::error_code error;
  for (const fs::directory_entry& found : fs::directory_iterator(folder, error)) {
    Entry entry = entry_of(found);
    total += entry.bytes;
    if (entry.bytes > 0) entries.push_back(std::move(entry));
  }
  std::sort(entries.begin(), entries.end(),
            [](const Entry& a, const Entry& b) { return a.used < b.used; });
  for (const Entry& entry : entries) {
    if (total <= most) return;
    fs::remove_all(entry.path, error);
    total -= entry.bytes;
  }
}

void mark_as_used(const std::string& path) { utimensat(AT_FDCWD, path.c_str(), nullptr, 0); }

}  // namespace softgpu
