// The device interface on a GPU: the heap through its descriptor, stream-ordered signals,
// host-visible memory. No kernel of a program is involved.
//
//   gpu_heap                      all of it
//   gpu_heap --other-process <fd> <bytes>   its second process: maps the descriptor, answers
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "check.hpp"
#include "host/errors/error.hpp"
#include "host/gpu/cuda_gpu.hpp"

using namespace chime::host;
using namespace chime::tests;

namespace {

constexpr std::size_t kBytes = (std::size_t{3} << 20) + 65536;  // not a multiple of the granule
constexpr std::uint64_t kQuestion = 0x1122334455667788, kAnswer = 0x8877665544332211;

std::uint64_t read_word(Gpu& gpu, const DeviceMemory& memory, std::size_t offset) {
  std::uint64_t value = 0;
  gpu.copy(&value, memory.address() + offset, sizeof value);
  return value;
}

void write_word(Gpu& gpu, const DeviceMemory& memory, std::size_t offset, std::uint64_t value) {
  gpu.copy(memory.address() + offset, &value, sizeof value);
}

constexpr std::size_t kLastWord = kBytes - sizeof(std::uint64_t);

void heap_holds_what_is_copied(Gpu& gpu) {
  const auto heap = gpu.allocate_heap(kBytes);
  CHIME_CHECK(heap->bytes() == kBytes);
  gpu.set(heap->address(), 0xab, kBytes);
  CHIME_CHECK(read_word(gpu, *heap, kLastWord) == 0xababababababababu);
  write_word(gpu, *heap, 4096, kQuestion);
  CHIME_CHECK(read_word(gpu, *heap, 4096) == kQuestion);
}

void heap_is_mapped_twice(Gpu& gpu) {
  const auto heap = gpu.allocate_heap(kBytes);
  const auto twin = heap->share_fd() >= 0 ? gpu.map_peer_heap(heap->share_fd(), kBytes)
                                          : gpu.map_peer_heap(heap->fabric_handle(), kBytes);
  CHIME_CHECK(twin->address() != heap->address());
  write_word(gpu, *heap, kLastWord, kQuestion);
  CHIME_CHECK(read_word(gpu, *twin, kLastWord) == kQuestion);
  write_word(gpu, *twin, 0, kAnswer);
  CHIME_CHECK(read_word(gpu, *heap, 0) == kAnswer);
}

int answer(int fd, std::size_t bytes) {
  const auto gpu = make_cuda_gpu(0);
  const auto heap = gpu->map_peer_heap(fd, bytes);
  CHIME_CHECK(read_word(*gpu, *heap, 64) == kQuestion);
  write_word(*gpu, *heap, kLastWord, kAnswer);
  return verdict();
}

void heap_is_mapped_by_another_process(Gpu& gpu) {
  const auto heap = gpu.allocate_heap(kBytes);
  if (heap->share_fd() < 0) return;
  write_word(gpu, *heap, 64, kQuestion);
  const std::string fd = std::to_string(::dup(heap->share_fd()));  // survives exec
  const std::string bytes = std::to_string(kBytes);
  const pid_t child = ::fork();
  if (child == 0) {
    ::execl("/proc/self/exe", "gpu_heap", "--other-process", fd.c_str(), bytes.c_str(), nullptr);
    ::_exit(127);
  }
  int status = 0;
  CHIME_NEED(::waitpid(child, &status, 0) == child);
  CHIME_CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  CHIME_CHECK(read_word(gpu, *heap, kLastWord) == kAnswer);
}

void signals_follow_the_stream(Gpu& gpu) {
  const auto heap = gpu.allocate_heap(kBytes);
  gpu.set(heap->address(), 0, 4096);
  auto* const word = reinterpret_cast<std::uint64_t*>(heap->address());
  gpu.signal_async(word, 40, false, nullptr);
  gpu.signal_async(word, 2, true, nullptr);
  gpu.synchronize(nullptr);
  CHIME_CHECK(read_word(gpu, *heap, 0) == 42);
}

void host_visible_memory_is_one_memory(Gpu& gpu) {
  const auto page = gpu.allocate_host_visible(8192);
  auto* const words = reinterpret_cast<std::uint64_t*>(page->address());
  CHIME_CHECK(words[0] == 0);
  CHIME_CHECK(page->share_fd() >= 0);
  gpu.signal_async(words, 7, true, nullptr);
  gpu.synchronize(nullptr);
  CHIME_CHECK(words[0] == 7);
}

// A dma-buf holds whole pages. Where it can be mapped its bytes are the heap's (the softgpu; a GPU
// may refuse).
void a_dma_buf_says_where_the_memory_begins(Gpu& gpu) {
  constexpr std::size_t kAt = 3 * 4096 + 64;
  const auto heap = gpu.allocate_heap(kBytes);
  write_word(gpu, *heap, kAt, kQuestion);
  const DmaBuf exported = gpu.export_dma_buf(heap->address() + kAt, 128);
  if (exported.fd < 0) return;
  CHIME_CHECK(exported.offset == 64);
  const ::off_t begin = ::lseek(exported.fd, 0, SEEK_CUR);
  void* const page = ::mmap(nullptr, 4096, PROT_READ, MAP_SHARED, exported.fd, begin);
  if (page != MAP_FAILED) {
    const std::byte* const memory = static_cast<std::byte*>(page) + exported.offset;
    CHIME_CHECK(std::memcmp(memory, &kQuestion, sizeof kQuestion) == 0);
    ::munmap(page, 4096);
  }
  ::close(exported.fd);
}

void memory_of_the_library_is_zero(Gpu& gpu) {
  for (int i = 0; i < 3; ++i) {  // the next may reuse the last one's memory
    const auto memory = gpu.allocate_device(kBytes);
    CHIME_CHECK(read_word(gpu, *memory, 0) == 0);
    CHIME_CHECK(read_word(gpu, *memory, kLastWord) == 0);
    gpu.set(memory->address(), 0xff, kBytes);
  }
}

// Copies and signals of the host end while a kernel waits for them on each of the program's
// streams, among them CUDA's null stream, for which others wait.
void copies_wait_for_no_stream_of_the_program(Gpu& gpu) {
  static std::atomic<bool> may_end, gave_up;
  may_end = gave_up = false;
  void* const null_stream = reinterpret_cast<void*>(1);  // CU_STREAM_LEGACY
  const auto wait = [](void*) {
    for (int i = 0; !may_end && i < 500; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    gave_up = !may_end;
  };
  const auto heap = gpu.allocate_heap(kBytes);
  gpu.host_call_async(wait, nullptr, null_stream);
  write_word(gpu, *heap, 0, kQuestion);
  gpu.signal(reinterpret_cast<std::uint64_t*>(heap->address()), 1, true);
  CHIME_CHECK(read_word(gpu, *heap, 0) == kQuestion + 1);
  may_end = true;
  gpu.synchronize(null_stream);
  CHIME_CHECK(!gave_up);
}

void exhausted_memory_says_so(Gpu& gpu) {
  try {
    gpu.allocate_heap(std::size_t{1} << 46);
    CHIME_CHECK(!"64 TiB were allocated");
  } catch (const Error& error) {
    CHIME_CHECK(std::strstr(error.what(), "CHIME_SYMMETRIC_SIZE") != nullptr);
    CHIME_CHECK(error.code() == CHIMEX_ERR_OUT_OF_MEMORY);
  }
}

int run(int argc, char** argv) {
  if (argc == 4) return answer(std::atoi(argv[2]), std::strtoull(argv[3], nullptr, 10));
  if (const std::string why = why_no_cuda(); !why.empty()) skip(why.c_str());
  const auto gpu = make_cuda_gpu(0);
  std::printf("%s\n", gpu->describe().c_str());
  heap_holds_what_is_copied(*gpu);
  heap_is_mapped_twice(*gpu);
  heap_is_mapped_by_another_process(*gpu);
  signals_follow_the_stream(*gpu);
  host_visible_memory_is_one_memory(*gpu);
  a_dma_buf_says_where_the_memory_begins(*gpu);
  memory_of_the_library_is_zero(*gpu);
  copies_wait_for_no_stream_of_the_program(*gpu);
  exhausted_memory_says_so(*gpu);
  return verdict();
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    std::printf("failed: %s\n", error.what());
    return 1;
  }
}
