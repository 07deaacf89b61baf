// Bytes that this process has from operator new at this moment: the memory of objects is counted,
// and not estimated.
#pragma once

#include <cstddef>

namespace chime::perf {

std::size_t heap_use();

// The bytes that the construction of an object takes, and keeps.
template <class Make>
std::size_t heap_use_of(Make make) {
  const std::size_t before = heap_use();
  const auto kept = make();
  return heap_use() - before + sizeof kept;
}

}  // namespace chime::perf
