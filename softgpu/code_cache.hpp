// Compiled code on disk: C++ sources become shared libraries of this machine, each once.
//
// The folder is CHIME_SOFTGPU_CACHE, else chime/softgpu in the user's cache folder. Processes share
// it: a library appears complete (another name, then a rename), and a process that needs a library
// which another process makes waits for it. If the folder holds more than kMostCacheBytes, entries
// that have not been used for longest are removed. It may be deleted at any time.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace softgpu {

inline constexpr std::uint64_t kMostCacheBytes = std::uint64_t{1} << 30;

// The folder; made if it is missing. Throws PtxError.
std::string cache_folder();

// Compiles a source that follows the vocabulary, in plain or watched form, and loads it: a handle
// for dlsym. Throws PtxError with the compiler's output.
void* load_code(const std::string& source, bool watched);
// The same for code that later code calls, by the names that it exports.
void load_called_code(const std::string& source, bool watched);

}  // namespace softgpu
