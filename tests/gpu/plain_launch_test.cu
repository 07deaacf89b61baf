// A kernel that the CUDA runtime launches, unknown to Chime, finds its PE after chimex_init_device.
// After chime_init alone it gets an error: no hang, and no PE that does not exist.
//
//   gpu_plain_launch early|ready [told: on stderr]
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <optional>
#include <string>

#include "chime/chime.h"
#include "kernel_check.cuh"

using namespace chime;
using namespace chime::tests;

static CHIME_KERNEL void by_name(int* pe) { *pe = chime_my_pe() + 100; }

// The output on stderr from here on.
class Stderr {
 public:
  Stderr() { CHIME_NEED(dup2(fileno(file_), STDERR_FILENO) >= 0); }
  bool has(const char* words) {
    std::string text(1 << 16, '\0');
    text.resize(
        static_cast<std::size_t>(std::max(0L, pread(fileno(file_), text.data(), text.size(), 0))));
    return text.find(words) != text.npos;
  }

 private:
  std::FILE* const file_ = std::tmpfile();
};

int main(int argc, char** argv) {
  CHIME_NEED(argc > 1);
  const bool is_early = std::strcmp(argv[1], "early") == 0;
  CHIME_NEED(is_early || std::strcmp(argv[1], "ready") == 0);
  need_gpu();
  chime_init();
  if (!is_early) CHIME_NEED(chimex_init_device() == CHIMEX_OK);
  CHIME_NEED((chimex_init_status() < CHIME_STATUS_IS_INITIALIZED) == is_early);
  Result<int> pe;
  std::optional<Stderr> told;
  if (argc > 2) told.emplace();
  int* result = pe.device();
  void* arguments[] = {&result};
  CHIME_NEED(cudaLaunchKernel(reinterpret_cast<const void*>(&by_name), dim3(1), dim3(1), arguments,
                              0, nullptr) == cudaSuccess);
  const bool has_run = exec::device_synchronize() == CHIMEX_OK;
  CHIME_CHECK(has_run == !is_early);
  if (told) CHIME_CHECK(told->has("state is not filled. It is after init, where a GPU was chosen"));
  if (is_early) {  // the context is lost
    const int status = verdict();
    std::fflush(nullptr);
    std::_Exit(status);
  }
  CHIME_CHECK(pe.read() == 100);
  chime_finalize();
  return verdict();
}
