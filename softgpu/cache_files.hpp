// The cache's folder and its files (code_cache.hpp).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace softgpu {

class CompilerWait;

// The prefix of the folders of precompiled headers.
inline constexpr std::string_view kVocabulary = "vocabulary.";

// The fingerprint of a header and of all that it includes with quotes, at any depth: their names
// and contents, but not their folders, so that another copy of the sources finds the same code.
std::string fingerprint_of_headers(const std::vector<std::string>& folders,
                                   const std::string& header);

bool is_readable(const std::string& path);
std::string content_of(const std::string& path);                     // empty: none
void write_file(const std::string& path, std::string_view content);  // throws PtxError

// Only one process or thread at a time makes an entry of a folder. A waiter gives up after a time
// and continues: then the work is done twice, and nothing else happens.
class MakingOf {
 public:
  MakingOf(const std::string& folder, const std::string& entry, CompilerWait& wait);
  MakingOf(const MakingOf&) = delete;
  ~MakingOf();

 private:
  int file_ = -1;
};

// Whether a library has everything that its header names. A truncated one would be loaded, and end
// the process where it is read.
bool is_whole_library(const std::string& path);

// Removes entries of a folder (libraries and folders of precompiled headers) that have not been
// used for longest, until the others have at most `most` bytes.
void remove_oldest(const std::string& folder, std::uint64_t most);
void mark_as_used(const std::string& path);

}  // namespace softgpu
