// A PE that joins and leaves its job many times, and prints by how much it has grown.
// reinit_test.py compares.
#define CHIME_HOST_ONLY
#include <chime/chime.h>
#include <malloc.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace {

int entries_of(const char* folder) {
  int n = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder)) ++n;
  return n;
}

// The number after `word` in /proc/self/status, in KiB.
long status_kib(const std::string& word) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with(word + ":")) return std::atol(line.c_str() + word.size() + 1);
  return -1;
}

struct Size {
  long anonymous_kib = status_kib("RssAnon");
  long heap_kib = static_cast<long>(mallinfo2().uordblks >> 10);
  int descriptors = entries_of("/proc/self/fd");
  int threads = entries_of("/proc/self/task");
};

void join_and_leave() {
  chime_init();
  void* const memory = chime_malloc(4096);
  if (memory == nullptr || chimex_last_status() != CHIMEX_OK) exit(1);
  chime_barrier_all();
  chime_free(memory);
  chime_finalize();
}

// PE 0 closes its ends of the others' connections when it reads their goodbyes.
void wait_for_late_closes(int descriptors) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (entries_of("/proc/self/fd") > descriptors && std::chrono::steady_clock::now() < end)
    usleep(1000);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  for (int i = 0; i < std::atoi(argv[1]); ++i) join_and_leave();
  const Size before;
  for (int i = 0; i < std::atoi(argv[2]); ++i) join_and_leave();
  wait_for_late_closes(before.descriptors);
  const Size after;
  std::printf("grown by %ld KiB of memory, %ld KiB of heap, %d descriptors, %d threads\n",
              after.anonymous_kib - before.anonymous_kib, after.heap_kib - before.heap_kib,
              after.descriptors - before.descriptors, after.threads - before.threads);
  return 0;
}
