// The cache's folder and its files (code_cache.hpp).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace softgpu {

class CompilerWait;

// What the names of precompiled headers' folders begin with.
inline constexpr std::string_view kVocabulary = "vocabulary.";

// Of a header and of all that it includes with quotes, however deep: their names and contents, and
// not the folders that they lie in, so that another copy of the sources finds the same code.
std::string fingerprint_of_headers(const std::vector<std::string>& folders,
                                   const std::string& header);

bool is_readable(const std::string& path);
std::string content_of(const std::string& path);                     // empty: none
void write_file(const std::string& path, std::string_view content);  // throws PtxError

// Among all that make one entry of a folder, in whatever process or thread, one at a time. Gives up
// waiting after a time and goes on: then work is done twice, and nothing else happens.
class MakingOf {
 public:
  MakingOf(const std::string& folder, const std::string& entry, CompilerWait& wait);
  MakingOf(const MakingOf&) = delete;
  ~MakingOf();

 private:
  int file_ = -1;
};

// Whether a library has all that its header speaks of: one that was cut off would be loaded, and
// end the process where it is read.
bool is_whole_library(const std::string& path);

// Of a folder's entries, libraries and precompiled headers' folders, those used last remain, so
// that they have `most` bytes together.
void remove_oldest(const std::string& folder, std::uint64_t most);
void mark_as_used(const std::string& path);

}  // namespace softgpu
