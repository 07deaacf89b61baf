// Sizes as words: "8", "64K", "4M"; ranges of them.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace chime::predict {

// Bytes; K, M and G are powers of 1024. Throws std::invalid_argument, which says what it takes.
std::size_t size_of(const std::string& text);

// "8:4M": from the first to the last, doubling; the last is in it.
std::vector<std::size_t> sizes_in(const std::string& range);

// "8 B", "64 KiB", "4 MiB": in the largest unit that leaves a whole number.
std::string in_words(std::size_t bytes);

}  // namespace chime::predict
