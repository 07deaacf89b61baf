// The program's own memory that is symmetric, by where in the heap it is.
#pragma once

#include <cstddef>
#include <map>

#include "host/memory/lent_pages.hpp"

namespace chime::host {

// The buffers of one PE. Only collective calls change them, and a PE makes one at a time: no lock.
class SymmetricBuffers {
 public:
  // As LentPages does.
  void lend(const Pages& pages, const HeapPart& part) {
    lent_.try_emplace(part.offset, pages, part);
  }
  // REQUIRES: one was lent there, and is there.
  void give_back(std::size_t offset) {
    const auto found = lent_.find(offset);
    found->second.give_back();
    lent_.erase(found);
  }
  // Null: none begins there.
  const LentPages* at(std::size_t offset) const {
    const auto found = lent_.find(offset);
    return found == lent_.end() ? nullptr : &found->second;
  }

 private:
  std::map<std::size_t, LentPages> lent_;
};

}  // namespace chime::host
