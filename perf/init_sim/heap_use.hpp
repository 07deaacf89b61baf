// Bytes that this process has from operator new at this moment: what objects take is counted, and
// not guessed.
#pragma once

#include <cstddef>

namespace chime::perf {

std::size_t heap_use();

// What making an object takes, and keeps.
template <class Make>
std::size_t heap_use_of(Make make) {
  const std::size_t before = heap_use();
  const auto kept = make();
  return heap_use() - before + sizeof kept;
}

}  // namespace chime::perf
