// Symmetric buffers that finalize gives back, three times: one that stays, and one that the program
// has unmapped.
#define _GNU_SOURCE
#include <nvshmem.h>
#include <nvshmemx.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static void require(int good, const char* what, int round) {
  if (good) return;
  fprintf(stderr, "failed in round %d: %s: %s\n", round, what, chimex_last_error());
  exit(1);
}

static char* new_pages(size_t bytes) {
  void* const pages = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return pages == MAP_FAILED ? NULL : (char*)pages;
}

int main(void) {
  enum { kBytes = 1 << 20 };
  char* const stays = new_pages(kBytes);
  for (int round = 0; round < 3; ++round) {
    nvshmem_init();
    char* const there = nvshmemx_buffer_register_symmetric(stays, kBytes, 0);
    require(there != NULL && there[5] == round, "the buffer that stays", round);
    char* const gone = new_pages(kBytes);
    require(nvshmemx_buffer_register_symmetric(gone, kBytes, 0) != NULL, "the other", round);
    munmap(gone, kBytes);
    nvshmem_barrier_all();
    there[5] = (char)(round + 1);
    nvshmem_finalize();
    require(stays[5] == round + 1, "what was last in it", round);
    // Private memory: dropped pages are empty.
    char* const other = new_pages(kBytes);
    memcpy(other, stays, kBytes);
    madvise(stays, kBytes, MADV_DONTNEED);
    require(stays[5] == 0, "its memory", round);
    memcpy(stays, other, kBytes);
    munmap(other, kBytes);
  }
  return 0;
}
