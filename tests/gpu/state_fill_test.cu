// The state of kernels without -rdc: two translation units, and a library opened after init.
//
//   gpu_state_fill <path of gpu_state_fill_late>
#include <dlfcn.h>

#include "state_seen.cuh"

using namespace chime;
using namespace chime::tests;

static LookLate open_late_library(const char* path) {
  void* library = dlopen(path, RTLD_NOW);
  if (library == nullptr) std::printf("%s\n", dlerror());
  CHIME_NEED(library != nullptr);
  return reinterpret_cast<LookLate>(dlsym(library, "look_from_late_library"));
}

static CHIME_KERNEL void by_name(int* pe) { *pe = chime_my_pe(); }

int main(int, char** argv) {
  need_gpu();
  CHIME_CHECK(is_nobody(seen_by(look_from_this_unit)));
  chime_init();
  CHIME_CHECK(is_this_pe(seen_by(look_from_this_unit)));
  CHIME_CHECK(is_this_pe(seen_by(look_from_other_unit)));
  CHIME_CHECK(is_this_pe(seen_by(open_late_library(argv[1]))));
  Result<int> pe;
  CHIME_CHECK(exec::launch({}, by_name, pe.device()) == CHIMEX_OK);
  CHIME_CHECK(pe.read() == chimex_host_my_pe());
  chime_finalize();
  CHIME_CHECK(is_nobody(seen_by(look_from_this_unit)));
  CHIME_CHECK(is_nobody(seen_by(look_from_other_unit)));
  return verdict();
}
