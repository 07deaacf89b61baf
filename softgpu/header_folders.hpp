// Where the headers are that kernels' code is compiled with.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace softgpu {

// From the folder that has these below it, the header of the vocabulary is found by its name.
inline constexpr char kVocabularyHeader[] = "softgpu/vocabulary/vocabulary.hpp";

// Folders for a library's code, by the library's own file: those that were installed with it, else
// those that it was built with. Throws PtxError, which names both, if no headers are there.
//
//   installed  from the library's folder: one for each layout of an installation
//   built      absolute
//
// Both lists have colons between their folders.
std::vector<std::string> header_folders(const std::string& library, std::string_view installed,
                                        std::string_view built);

// The parts of a list that are not empty.
std::vector<std::string> split(std::string_view list, char between);

}  // namespace softgpu
