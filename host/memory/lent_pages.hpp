// Pages of the program that show a part of the heap (chimex_buffer_register_symmetric on the CPU
// device).
#pragma once

#include <sys/types.h>

#include <cstddef>

namespace chime::host {

// Memory of the program.
struct Pages {
  std::byte* first = nullptr;
  std::size_t bytes = 0;
};

// A part of the heap: where this PE has mapped it, and where it is in the file behind the heap.
struct HeapPart {
  std::byte* memory;
  int fd;
  std::size_t offset;
};

std::size_t page_bytes();

// Private memory, not touched yet, that can take the place of other pages.
class SparePages {
 public:
  // Throws Error{OUT_OF_MEMORY}.
  explicit SparePages(std::size_t bytes);
  ~SparePages();
  SparePages(const SparePages&) = delete;
  SparePages& operator=(const SparePages&) = delete;

  // Moves to `place`, with the bytes at `contents`. Once. Ends the process if the system refuses:
  // the program's data would be lost.
  void replace(std::byte* place, const std::byte* contents);

 private:
  Pages pages_;
};

class LentPages {
 public:
  // From now on `pages` and `part`, which has as many bytes, are the same memory, with the content
  // of `pages`. Nobody else uses either meanwhile. Throws Error, and all is as it was: INVALID
  // unless `pages` are whole pages of private memory; OUT_OF_MEMORY; SYSTEM.
  LentPages(const Pages& pages, const HeapPart& part);
  // As give_back(), where the program has not unmapped them.
  ~LentPages();
  LentPages(const LentPages&) = delete;
  LentPages& operator=(const LentPages&) = delete;

  const Pages& pages() const { return pages_; }
  // Whether the pages are still lent: the program may have unmapped them. Throws Error{SYSTEM} if
  // the system does not say.
  bool are_there() const;
  // The pages are private memory again, with their last content. REQUIRES: are_there().
  void give_back();

 private:
  Pages pages_;
  std::size_t offset_;
  ino_t file_;
  SparePages spare_;
};

}  // namespace chime::host
