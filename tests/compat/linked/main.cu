// linked <plug-in>: a program of two units and a shared library, each with kernels and calls by
// NVSHMEM's names. After init it opens a plug-in with more of them.
#include <dlfcn.h>
#include <nvshmem.h>
#include <nvshmemx.h>

#include <cstdio>
#include <cstdlib>

#include "send.hpp"

namespace exec = chime::exec;

constexpr int kSlots = 4;

static CHIME_KERNEL void send(int* slots, int n) {
  const int right = (nvshmem_my_pe() + 1) % nvshmem_n_pes();
  nvshmem_int_p(slots + n, 100 * n + nvshmem_my_pe(), right);
}
CHIME_REGISTER_KERNEL(send);

static void require(int status, const char* what) {
  if (status == 0) return;
  std::fprintf(stderr, "failed: %s: %d, '%s'\n", what, status, chimex_last_error());
  std::exit(1);
}

static Send open_plugin(const char* path) {
  void* const plugin = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  const auto function =
      plugin ? reinterpret_cast<Send>(dlsym(plugin, kSendFromPlugin)) : Send{nullptr};
  if (function == nullptr) {
    std::fprintf(stderr, "failed: %s\n", dlerror());
    std::exit(1);
  }
  return function;
}

int main(int argc, char** argv) {
  require(argc == 2 ? 0 : argc, "usage: linked <plug-in>");
  nvshmem_init();
  auto* const slots = static_cast<int*>(nvshmem_calloc(kSlots, sizeof(int)));
  const Send send_from_plugin = open_plugin(argv[1]);  // once the states of the others are filled
  require(send_from_plugin(slots, 3), "the plug-in");
  require(send_from_library(slots, 2), "the library");
  require(send_from_other_unit(slots, 1), "the other unit");
  require(exec::launch({}, send, slots, 0), "this unit");
  require(exec::device_synchronize(), "kernels");
  nvshmem_barrier_all();

  int found[kSlots] = {};
  require(exec::copy(found, slots, sizeof(found)), "copy");
  const int left = (nvshmem_my_pe() + nvshmem_n_pes() - 1) % nvshmem_n_pes();
  for (int n = 0; n < kSlots; ++n)
    require(found[n] == 100 * n + left ? 0 : found[n] + 1, "what a kernel sent");
  nvshmem_free(slots);
  nvshmem_finalize();
  return 0;
}
