// The state of kernels where the PEs are threads of a process: a unit has one copy on a GPU. With a
// GPU each, every PE finds itself in it; on one GPU no PE does, and kernels take their Context as
// an argument (two_contexts).
//
//   gpu_state_of_threads <path of gpu_state_fill_late> [<how many GPUs there must be>]
#include <dlfcn.h>

#include <cstdlib>
#include <thread>

#include "state_seen.cuh"

using namespace chime;
using namespace chime::tests;

// A unit's report to a PE.
static bool is_right(const Seen& seen, bool has_own_gpu) {
  return has_own_gpu ? is_this_pe(seen) : is_nobody(seen);
}

// From a thread whose current device is the first, whichever device the PE has.
static void finalize_from_elsewhere(int pe) {
  std::thread([pe] {
    CHIME_CHECK(exec::set_device(0) == CHIMEX_OK);
    CHIME_CHECK(chimex_pe_bind(pe) == CHIMEX_OK);
    chime_finalize();
  }).join();
}

static void run_pe(int pe, const chimex_uniqueid_t& id, bool has_own_gpu,
                   const char* late_library) {
  static void* opened = nullptr;
  chimex_init_attr_t attr;
  CHIME_NEED(chimex_set_attr_uniqueid_args(pe, 2, &id, &attr) == CHIMEX_OK);
  CHIME_NEED(chimex_init_attr(CHIMEX_INIT_WITH_UNIQUEID, &attr) == CHIMEX_OK);
  chime_barrier_all();  // both PEs have initialised
  CHIME_CHECK(is_right(seen_by(look_from_this_unit), has_own_gpu));
  CHIME_CHECK(is_right(seen_by(look_from_other_unit), has_own_gpu));
  chime_barrier_all();
  if (pe == 0) opened = dlopen(late_library, RTLD_NOW);
  chime_barrier_all();
  CHIME_NEED(opened != nullptr);
  const auto look_late = reinterpret_cast<LookLate>(dlsym(opened, "look_from_late_library"));
  CHIME_CHECK(is_right(seen_by(look_late), has_own_gpu));
  finalize_from_elsewhere(pe);
  if (has_own_gpu) CHIME_CHECK(is_nobody(seen_by(look_from_this_unit)));
}

int main(int argc, char** argv) {
  CHIME_NEED(argc > 1);
  need_gpu();
  if (argc > 2) CHIME_NEED(exec::device_count() == std::atoi(argv[2]));
  const bool has_own_gpu = exec::device_count() > 1;
  chimex_uniqueid_t id;
  CHIME_NEED(chimex_get_uniqueid(&id) == CHIMEX_OK);
  std::thread other([&] { run_pe(1, id, has_own_gpu, argv[1]); });
  run_pe(0, id, has_own_gpu, argv[1]);
  other.join();
  CHIME_CHECK(is_nobody(seen_by(look_from_this_unit)));
  CHIME_CHECK(is_nobody(seen_by(look_from_other_unit)));
  return verdict();
}
