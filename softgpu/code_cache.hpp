// Compiled code on disk: C++ sources become shared libraries of this machine, each once.
//
// The folder is CHIME_SOFTGPU_CACHE, else chime/softgpu in the user's cache folder. Processes share
// it: a library appears whole (another name, then a rename), and who needs one that another process
// makes waits for it. What nobody used for longest goes when the folder holds more than
// kMostCacheBytes; it may be removed at any time.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace softgpu {

inline constexpr std::uint64_t kMostCacheBytes = std::uint64_t{1} << 30;

// The folder; made where it is missing. Throws PtxError.
std::string cache_folder();

// Compiles a source that follows the vocabulary, in plain or watched form, and loads it: a handle
// for dlsym. Throws PtxError with what the compiler said.
void* load_code(const std::string& source, bool watched);
// The same for what code that is loaded later calls, by the names that it exports.
void load_called_code(const std::string& source, bool watched);

}  // namespace softgpu
