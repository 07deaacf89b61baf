// A number that names no team, and a team that cannot do what a call wants: each call reports it,
// on the host and in a kernel. Runs with CHIME_ON_ERROR=return. `apart`: with CHIME_P2P in groups
// of two out of three PEs, so that SHARED is neither all PEs nor one.
#include <nvshmem.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "require.hpp"

namespace exec = chime::exec;

constexpr nvshmem_team_t kNoTeam = 17;

// A null source, destination or word of this PE, and a member of an object at null.
static CHIME_KERNEL void use_null(int* memory, int how) {
  const int right = (nvshmem_my_pe() + 1) % nvshmem_n_pes();
  auto* const near_null = reinterpret_cast<int*>(std::uintptr_t{16});
  if (how == 0) nvshmem_int_put(memory, nullptr, 2, right);
  if (how == 1) nvshmem_int_get_nbi(near_null, memory, 2, right);
  if (how == 2) nvshmem_int_iput(memory, nullptr, 1, 1, 2, right);
  if (how == 3) nvshmem_int_wait_until(nullptr, NVSHMEM_CMP_EQ, 1);
  if (how == 4) nvshmem_int_put_signal(memory, nullptr, 2, nullptr, 1, NVSHMEM_SIGNAL_SET, right);
  if (how == 5) nvshmem_int_p(near_null, 1, nvshmem_my_pe());
  if (how == 6) nvshmem_signal_fetch(nullptr);
  if (how == 7) nvshmem_int_p(nullptr, 1, right);
}
CHIME_REGISTER_KERNEL(use_null);

static void test_null(int* memory) {
  constexpr const char* kWords[] = {
      "nvshmem_put in thread 0 of block 0 of a kernel: null is no memory of PE",
      "nvshmem_get_nbi in thread 0 of block 0 of a kernel: 0x10 is no memory of PE",
      "nvshmem_iput in thread 0 of block 0 of a kernel: null is no memory of PE",
      "nvshmem_wait_until in thread 0 of block 0 of a kernel: null is no memory of PE",
      "nvshmem_put_signal in thread 0 of block 0 of a kernel: null is no memory of PE",
      "nvshmem_p in thread 0 of block 0 of a kernel: 0x10 is not a symmetric address",
      "nvshmem_signal_fetch in thread 0 of block 0 of a kernel: null is no memory of PE",
      "nvshmem_p in thread 0 of block 0 of a kernel: null is not a symmetric address"};
  for (int how = 0; how < 8; ++how) {
    require(exec::launch({}, use_null, memory, how) == 0, "launch");
    exec::device_synchronize();
    nvshmem_quiet();
    require_words(kWords[how]);
  }
  nvshmem_int_put(memory, nullptr, 2, nvshmem_my_pe());
  require_words("nvshmem_put: null is no memory of PE");
  nvshmem_int_put(memory, nullptr, 0, nvshmem_my_pe());
  require(chimex_last_status() == NVSHMEMX_SUCCESS, "of nothing");
}

static CHIME_KERNEL void ask(int* answers) {
  answers[0] = nvshmem_team_my_pe(kNoTeam);
  answers[1] = nvshmem_barrier(kNoTeam);
}

// Messages name the calls of the program's library, and of both libraries before its first call.
static void test_before_init() {
  nvshmem_barrier_all();
  require_words("Chime is not initialised; call chime_init or nvshmem_init first");
  require(nvshmem_malloc(8) == nullptr, "memory before nvshmem_init");
  require_words("nvshmem_malloc: setup: Chime is not initialised; call nvshmem_init first");
  nvshmem_barrier_all();
  require_words("nvshmem_barrier_all: setup: Chime is not initialised; call nvshmem_init first");
  require(nvshmem_team_my_pe(NVSHMEMX_TEAM_NODE) == -1, "number in a team before nvshmem_init");
  require_words("nvshmem_team_my_pe: setup: Chime is not initialised; call nvshmem_init first");
  nvshmemx_uniqueid_t id = NVSHMEMX_UNIQUEID_INITIALIZER;
  nvshmemx_init_attr_t attr = NVSHMEMX_INIT_ATTR_INITIALIZER;
  require(nvshmemx_set_attr_uniqueid_args(2, 2, &id, &attr) != 0, "a PE that is not there");
  require_words("nvshmemx_set_attr_uniqueid_args takes this PE's number");
  require(nvshmemx_set_attr_uniqueid_args(0, 1, &id, &attr) == 0, "the only PE");
  require(nvshmemx_init_attr(NVSHMEMX_INIT_WITH_UNIQUEID, &attr) != 0, "an invalid id");
  require_words("get one from nvshmemx_get_uniqueid and pass");
}

static void test_after_finalize() {
  nvshmem_barrier_all();
  require_words(
      "nvshmem_barrier_all: setup: called after nvshmem_finalize; call nvshmem_init again first");
}

static void test_wrong_frees(int* memory) {
  nvshmem_free(memory + 1);
  require_words("is inside the heap but is not what nvshmem_malloc returned");
  nvshmem_free(&memory);
  require_words("outside the symmetric heap; nvshmem_free takes only what nvshmem_malloc returned");
}

// All PEs make this call last: no later call succeeds.
static void test_different_calls(int me) {
  require(nvshmem_malloc(me == 0 ? 64 : 128) == nullptr, "memory of two sizes");
  require_words("PE 0 called nvshmem_malloc(64)");
}

int main(int argc, char** argv) {
  test_before_init();
  nvshmem_init();
  auto* const answers = static_cast<int*>(nvshmem_calloc(2, sizeof(int)));
  const int me = nvshmem_my_pe();

  require(nvshmem_team_n_pes(kNoTeam) == -1, "members of no team");
  require(chimex_last_status() == NVSHMEMX_ERROR_INVALID_VALUE, "its status");
  require_words(
      "there is no team 17; the teams are NVSHMEM_TEAM_WORLD (0), NVSHMEM_TEAM_SHARED (1), "
      "NVSHMEMX_TEAM_NODE (2) and NVSHMEMX_TEAM_SAME_MYPE_NODE (3)");
  require(nvshmem_team_translate_pe(NVSHMEM_TEAM_WORLD, 0, kNoTeam) == -1, "number in no team");
  require_words("there is no team 17");
  require(nvshmem_team_sync(kNoTeam) == NVSHMEMX_ERROR_INVALID_VALUE, "sync of no team");
  require_words("there is no team 17");
  require(nvshmem_barrier(NVSHMEM_TEAM_INVALID) == NVSHMEMX_ERROR_INVALID_VALUE, "barrier of none");
  require_words("there is no team -1");
  require(nvshmem_team_my_pe(NVSHMEM_TEAM_INVALID) == -1, "number in the invalid team");
  require(chimex_last_status() == NVSHMEMX_SUCCESS, "which is no error");

  nvshmem_team_config_t config = NVSHMEM_TEAM_CONFIG_INITIALIZER;
  nvshmem_team_get_config(NVSHMEM_TEAM_GPU_LEADERS_INDEX, &config);
  require(config.num_contexts == -1, "the config of no team");
  require_words("there is no team 5");
  nvshmem_team_get_config(NVSHMEM_TEAM_WORLD, nullptr);
  require_words("config is null");
  nvshmem_team_t first = 3, second = 3;
  const int n_pes = nvshmem_n_pes();
  require(nvshmem_team_split_strided(NVSHMEM_TEAM_WORLD, 0, 1, n_pes + 1, nullptr, 0, &first) ==
              NVSHMEMX_ERROR_INVALID_VALUE,
          "a split of more PEs than there are");
  require_words("nvshmem_team_split_strided: start 0, stride 1 and size");
  require(first == NVSHMEM_TEAM_INVALID, "its team");
  require(nvshmem_team_split_2d(NVSHMEM_TEAM_WORLD, 0, nullptr, 0, &first, &config, 0, &second) ==
              NVSHMEMX_ERROR_INVALID_VALUE,
          "a split into rows of none");
  require_words("a row has at least one PE");
  require(second == NVSHMEM_TEAM_INVALID, "its second team");
  require(nvshmem_team_split_strided(kNoTeam, 0, 1, 1, nullptr, 0, &first) ==
              NVSHMEMX_ERROR_INVALID_VALUE,
          "a split of no team");
  require_words("there is no team 17");
  require(nvshmem_team_split_strided(NVSHMEM_TEAM_WORLD, 0, 1, 1, nullptr, 0, nullptr) ==
              NVSHMEMX_ERROR_INVALID_VALUE,
          "a split without a place for its team");
  require_words("the argument new_team is null");
  first = 3;
  require(nvshmemx_team_init(&first, &config, NVSHMEM_TEAM_CONFIG_MASK_UNIQUEID, 1, 0) ==
              NVSHMEMX_ERROR_INVALID_VALUE,
          "a team without an id");
  require_words("the config has no unique id");
  require(first == NVSHMEM_TEAM_INVALID, "its team");
  require(nvshmemx_team_get_uniqueid(&config.uniqueid) == NVSHMEMX_SUCCESS, "the id of a team");
  require(nvshmemx_team_init(&first, &config, NVSHMEM_TEAM_CONFIG_MASK_UNIQUEID, 1, 1) ==
              NVSHMEMX_ERROR_INVALID_VALUE,
          "a member that a team has not");
  require_words("member 1 of 1: a team has 1 to");
  require(nvshmemx_team_get_uniqueid(nullptr) == NVSHMEMX_ERROR_INVALID_VALUE, "an id for no PE");
  require_words("the argument uid is null");
  nvshmem_team_destroy(NVSHMEM_TEAM_INVALID);
  require(chimex_last_status() == NVSHMEMX_SUCCESS, "the end of the invalid team");
  nvshmem_team_destroy(NVSHMEM_TEAM_SHARED);
  require_words("lasts until nvshmem_finalize");

  // Messages show the names that the program uses, on the host and in kernels.
  nvshmem_int_put(answers, answers, 1, 99);
  require(std::strncmp(chimex_last_error(), "nvshmem_put: there is no PE 99", 30) == 0, "a put");
  test_wrong_frees(answers);
  nvshmemx_signal_op(reinterpret_cast<std::uint64_t*>(answers), 1, 77, me);
  require_words("there is no signal operation 77 (NVSHMEM_SIGNAL_SET and NVSHMEM_SIGNAL_ADD)");
  nvshmem_int_wait_until(answers, 77, 1);
  require_words("there is no comparison 77 (NVSHMEM_CMP_EQ and its neighbours are 0 to 5)");
  chimex_pe_status(99);
  require_words("chimex_pe_status: ");  // which NVSHMEM lacks

  // On a GPU and on the softgpu the kernel itself faults.
  if (std::getenv("CHIME_DEVICE") == nullptr) test_null(answers);

  require(exec::launch({}, ask, answers) == 0, "launch");
  exec::device_synchronize();
  chimex_async_error_t error;
  require(chimex_get_async_error(&error) == 0, "asking for the kernel's error");
  require(std::strstr(error.message, "there is no team 17") != nullptr, error.message);
  int found[2];
  exec::copy(found, answers, sizeof(found));
  require(found[0] == -1 && found[1] == NVSHMEMX_ERROR_INVALID_VALUE, "the kernel's answers");
  nvshmem_quiet();  // this call reports the kernel's error
  require_words(
      "nvshmem_quiet: nvshmem_team_my_pe in thread 0 of block 0 of a kernel: there is no team 17");

  if (argc == 2 && std::strcmp(argv[1], "apart") == 0) {
    const int size = me == 2 ? 1 : 2;
    require(nvshmem_team_n_pes(NVSHMEM_TEAM_SHARED) == size, "which PEs are mapped");
    require(nvshmem_team_translate_pe(NVSHMEM_TEAM_WORLD, 2 - me, NVSHMEM_TEAM_SHARED) ==
                (me == 1 ? 1 : -1),
            "a PE that is not mapped is not in SHARED");
    require(nvshmem_barrier(NVSHMEM_TEAM_SHARED) == NVSHMEMX_SUCCESS, "its barrier");
  }
  chimex_clear_last_error();
  nvshmem_barrier_all();
  nvshmem_free(answers);
  test_different_calls(me);
  nvshmem_finalize();
  test_after_finalize();
}
