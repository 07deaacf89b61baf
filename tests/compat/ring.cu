// A program with NVSHMEM's names: each PE sends its right neighbour a row with a signal, from a
// kernel that finds its place by a team. It includes no API headers but NVSHMEM's.
#include <nvshmem.h>
#include <nvshmemx.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace exec = chime::exec;
using exec::dim3;

constexpr int kThreads = 64;
// Longs that a thread sends before a flush, more than fit in one request; and the lanes of a warp.
constexpr int kWarp = 32, kSent = 128, kPart = kWarp * kSent;

// The teams as a kernel sees them.
struct Seen {
  int world_pe, world_size, node_pe, node_size, shared_pe, shared_size, shared_of_right, same_size;
  int of_invalid, met;
};

static CHIME_KERNEL void send_row(float* to, const float* from, std::uint64_t* signal, int n,
                                  Seen* seen) {
  const int me = nvshmem_team_my_pe(NVSHMEM_TEAM_WORLD);
  const int right = (me + 1) % nvshmem_team_n_pes(NVSHMEM_TEAM_WORLD);
  nvshmemx_float_put_signal_nbi_block(to, from, std::size_t(n), signal, 1, NVSHMEM_SIGNAL_SET,
                                      right);
  nvshmem_signal_wait_until(signal, NVSHMEM_CMP_EQ, 1);
  const int met = nvshmemx_barrier_block(NVSHMEMX_TEAM_NODE);
  if (exec::thread_idx().x != 0) return;
  nvshmem_quiet();
  *seen = {me,
           nvshmem_n_pes(),
           nvshmem_team_my_pe(NVSHMEMX_TEAM_NODE),
           nvshmem_team_n_pes(NVSHMEMX_TEAM_NODE),
           nvshmem_team_my_pe(NVSHMEM_TEAM_SHARED),
           nvshmem_team_n_pes(NVSHMEM_TEAM_SHARED),
           nvshmem_team_translate_pe(NVSHMEM_TEAM_WORLD, right, NVSHMEM_TEAM_SHARED),
           nvshmem_team_n_pes(NVSHMEMX_TEAM_SAME_MYPE_NODE),
           nvshmem_team_my_pe(NVSHMEM_TEAM_INVALID),
           met};
}
CHIME_REGISTER_KERNEL(send_row);

// Block 0 flushes as a block, block 1 by its one warp, block 2 by a thread. Then the members
// overwrite the row that they have sent with another one.
static CHIME_KERNEL void send_and_overwrite(long* to, long* from) {
  const unsigned part = exec::block_idx().x, lane = exec::thread_idx().x;
  const unsigned first = part * kPart + lane * kSent;
  const int right = (nvshmem_my_pe() + 1) % nvshmem_n_pes();
  nvshmem_long_put_nbi(to + first, from + first, kSent, right);
  if (part == 0)
    nvshmemx_flush_block();
  else if (part == 1)
    nvshmemx_flush_warp();
  else
    nvshmemx_flush();
  const unsigned whose = (lane + (part < 2 ? 1 : 0)) % kWarp;
  for (int i = 0; i < kSent; ++i) from[part * kPart + whose * kSent + unsigned(i)] = -1;
}
CHIME_REGISTER_KERNEL(send_and_overwrite);

// The same in two kernels; the stream flushes between them.
static CHIME_KERNEL void send(long* to, long* from) {
  const unsigned first = (exec::block_idx().x * kWarp + exec::thread_idx().x) * kSent;
  const int right = (nvshmem_my_pe() + 1) % nvshmem_n_pes();
  nvshmem_long_put_nbi(to + first, from + first, kSent, right);
}
CHIME_REGISTER_KERNEL(send);
static CHIME_KERNEL void overwrite(long* from) {
  const unsigned first = (exec::block_idx().x * kWarp + exec::thread_idx().x) * kSent;
  for (unsigned i = 0; i < kSent; ++i) from[first + i] = -1;
}
CHIME_REGISTER_KERNEL(overwrite);

// The library's version and name as a kernel sees them.
struct Library {
  char name[NVSHMEM_MAX_NAME_LEN];
  int version, vendor_version;
  const void* multicast;
};

static CHIME_KERNEL void ask_library(Library* known) {
  int major = 0, minor = 0, patch = 0;
  known->multicast = nvshmemx_mc_ptr(NVSHMEM_TEAM_WORLD, known);
  nvshmem_info_get_name(known->name);
  nvshmem_info_get_version(&major, &minor);
  known->version = 10 * major + minor;
  nvshmemx_vendor_get_version_info(&major, &minor, &patch);
  known->vendor_version = 10000 * major + 100 * minor + patch;
}
CHIME_REGISTER_KERNEL(ask_library);

// Block 0 gives shared memory, opens a region and sends within it; block 1 has none open.
static CHIME_KERNEL void send_in_region(long* to, const long* from, std::uint64_t* counter,
                                        int* wrong) {
  CHIME_SHARED_ARRAY(long, given, kWarp);
  const auto expect = [&](bool good, int which) {
    if (!good) *wrong = which;
  };
  const auto expect_active = [&](unsigned hints, int expected, int which) {
    int active = -1;
    expect(nvshmemx_region_is_active(hints, &active) == 0 && active == expected, which);
  };
  nvshmemx_region_handle_t region = 0, nested = 0;
  nvshmemx_region_attrs_t attrs = NVSHMEMX_REGION_ATTRS_INITIALIZER;
  attrs.hints = NVSHMEMX_REGION_HINT_BATCH_RMA;
  expect_active(0, 0, 1);
  if (exec::block_idx().x == 1) return;
  expect(nvshmemx_ask_smem(NVSHMEMX_SMEM_MINIMUM) == 0, 2);
  nvshmemx_give_smem(given, sizeof(given));
  expect(nvshmemx_region_stop_block(1) == NVSHMEMX_ERROR_INVALID_VALUE, 3);
  expect(nvshmemx_region_start_block(nullptr, &attrs) == NVSHMEMX_ERROR_INVALID_VALUE, 4);
  expect(nvshmemx_region_start_block(&region, &attrs) == 0, 5);
  expect(nvshmemx_region_start_block(&nested, nullptr) == NVSHMEMX_ERROR_INVALID_VALUE, 6);
  expect_active(NVSHMEMX_REGION_HINT_BATCH_RMA, 1, 7);
  given[exec::thread_idx().x] = from[exec::thread_idx().x];
  exec::sync_block();
  nvshmemx_long_put_signal_nbi_block(to, given, kWarp, counter, 1, NVSHMEM_SIGNAL_ADD,
                                     (nvshmem_my_pe() + 1) % nvshmem_n_pes());
  nvshmem_quiet();
  expect(nvshmemx_region_stop_block(region) == 0, 8);
  expect_active(0, 0, 9);
  // A wrong argument of one thread fails the block's call, whichever thread it is.
  for (const unsigned one : {0u, 1u}) {
    const bool differs = exec::thread_idx().x == one;
    expect(nvshmemx_region_start_block(differs ? nullptr : &region, &attrs) != 0, 10);
    expect_active(0, 0, 11);
    expect(nvshmemx_region_start_block(&region, &attrs) == 0, 12);
    expect(nvshmemx_region_stop_block(differs ? 1 : region) != 0, 13);
    expect_active(0, 1, 14);
    expect(nvshmemx_region_stop_block(region) == 0, 15);
    expect_active(0, 0, 16);
  }
  nvshmemx_release_smem();
  nvshmem_signal_wait_until(counter, NVSHMEM_CMP_EQ, 1);
  exec::sync_block();
  if (exec::thread_idx().x == 0) nvshmemx_signal_counted_reset(counter);
}
CHIME_REGISTER_KERNEL(send_in_region);

// Groups of four warps; the last group has 100 threads. In its turn each group meets all PEs, while
// the others meet by themselves.
constexpr unsigned kGroup = 128, kGroups = 3, kInGroups = 2 * kGroup + 100;

static CHIME_KERNEL void meet_in_groups(int* words, int* wrong) {
  CHIME_SHARED_ARRAY(int, left_here, kGroups* kGroup);
  const int me = nvshmem_my_pe(), n_pes = nvshmem_n_pes();
  const int left = (me + n_pes - 1) % n_pes, right = (me + 1) % n_pes;
  const unsigned rank = exec::thread_rank(), group = rank / kGroup, first = group * kGroup;
  const unsigned last = (first + kGroup < kInGroups ? first + kGroup : kInGroups) - 1;
  const unsigned other = first + last - rank;
  for (unsigned turn = 0; turn < kGroups; ++turn) {
    if (group == turn) {
      nvshmem_int_p(words + rank, 1000 * me + int(rank), right);
      if (nvshmemx_barrier_warpgroup(NVSHMEM_TEAM_WORLD) != 0) *wrong = 1;
      if (nvshmem_int_g(words + other, me) != 1000 * left + int(other)) *wrong = 2;
    } else {
      left_here[rank] = int(turn * kInGroups + rank);
      if (nvshmemx_barrier_warpgroup(NVSHMEMX_TEAM_SAME_MYPE_NODE) != 0) *wrong = 3;
      if (left_here[other] != int(turn * kInGroups + other)) *wrong = 4;
    }
    exec::sync_block();
  }
}
CHIME_REGISTER_KERNEL(meet_in_groups);

static void require(bool good, const char* what) {
  if (good) return;
  std::fprintf(stderr, "failed: %s: %s\n", what, chimex_last_error());
  std::exit(1);
}

static void init(bool with_unique_id) {
  if (!with_unique_id) return nvshmem_init();
  nvshmemx_uniqueid_t id = NVSHMEMX_UNIQUEID_INITIALIZER;
  nvshmemx_init_attr_t attr = NVSHMEMX_INIT_ATTR_INITIALIZER;
  require(nvshmemx_get_uniqueid(&id) == NVSHMEMX_SUCCESS, "unique id");
  attr.args.cuda_device_id = 7;
  require(nvshmemx_set_attr_uniqueid_args(0, 1, &id, &attr) == NVSHMEMX_SUCCESS, "attributes");
  require(attr.args.uid_args.id == &id && attr.version == (2 << 16) + 144, "what they say");
  require(attr.args.cuda_device_id == 7, "and what they said before");
  const char* const device = std::getenv("CHIME_DEVICE");
  if (device && std::strcmp(device, "cuda") == 0) {  // the CPU device ignores the number
    require(nvshmemx_init_attr(NVSHMEMX_INIT_WITH_UNIQUEID, &attr) == NVSHMEMX_ERROR_INVALID_VALUE,
            "a GPU that does not exist");
    require(std::strstr(chimex_last_error(), "there is no CUDA device 7") != nullptr, "which");
    attr.args.cuda_device_id = 0;
  }
  require(nvshmemx_init_attr(NVSHMEMX_INIT_WITH_UNIQUEID, &attr) == NVSHMEMX_SUCCESS, "init");
}

static bool all_are_on_one_node(const Seen& seen) {
  return seen.world_size == seen.node_size && seen.world_pe == seen.node_pe &&
         seen.same_size == 1 && seen.of_invalid == -1 && seen.met == 0;
}

// The row of the left neighbour is here, though that PE has written to its source since.
static void check_flush(int me, int left, bool is_by_stream) {
  constexpr int kParts = 3, kCount = kParts * kPart;
  const exec::LaunchConfig shape = {.grid = dim3(kParts), .block = dim3(kWarp)};
  auto* from = static_cast<long*>(nvshmem_calloc(kCount, sizeof(long)));
  auto* to = static_cast<long*>(nvshmem_calloc(kCount, sizeof(long)));
  std::vector<long> row(kCount, 1000 + me);
  exec::copy(from, row.data(), sizeof(long) * row.size());
  if (is_by_stream) {
    require(exec::launch(shape, send, to, from) == 0, "launch");
    nvshmemx_flush_on_stream(nullptr);
    require(exec::launch(shape, overwrite, from) == 0, "launch");
  } else {
    require(exec::launch(shape, send_and_overwrite, to, from) == 0, "launch");
  }
  nvshmemx_barrier_all_on_stream(nullptr);
  require(exec::device_synchronize() == 0, "kernel that flushes");
  exec::copy(row.data(), to, sizeof(long) * row.size());
  for (long x : row) require(x == 1000 + left, "what was sent before the flush");
  exec::copy(row.data(), from, sizeof(long) * row.size());
  for (long x : row) require(x == -1, "what was written after it");
  nvshmem_barrier_all();
  nvshmem_free(to);
  nvshmem_free(from);
}

// Hints change no data that arrives.
static void check_region(int me, int left) {
  auto* from = static_cast<long*>(nvshmem_calloc(kWarp, sizeof(long)));
  auto* to = static_cast<long*>(nvshmem_calloc(kWarp, sizeof(long)));
  auto* counter = static_cast<std::uint64_t*>(nvshmem_calloc(1, sizeof(std::uint64_t)));
  auto* wrong = static_cast<int*>(nvshmem_calloc(1, sizeof(int)));
  std::vector<long> row(kWarp, 2000 + me);
  exec::copy(from, row.data(), sizeof(long) * row.size());
  require(exec::launch({.grid = dim3(2), .block = dim3(kWarp)}, send_in_region, to, from, counter,
                       wrong) == 0,
          "launch");
  require(exec::device_synchronize() == 0, "kernel with a region");
  int which = -1;
  exec::copy(&which, wrong, sizeof(which));
  require(which == 0, "the answers about regions");
  exec::copy(row.data(), to, sizeof(long) * row.size());
  for (long x : row) require(x == 2000 + left, "what was sent in a region");
  require(nvshmem_signal_fetch(counter) == 0, "a counter that the kernel has reset");
  nvshmem_barrier_all();
  nvshmem_free(wrong);
  nvshmem_free(counter);
  nvshmem_free(to);
  nvshmem_free(from);
}

static void check_groups() {
  auto* words = static_cast<int*>(nvshmem_calloc(kInGroups, sizeof(int)));
  auto* wrong = static_cast<int*>(nvshmem_calloc(1, sizeof(int)));
  require(exec::launch({.block = dim3(kInGroups)}, meet_in_groups, words, wrong) == 0, "launch");
  require(exec::device_synchronize() == 0, "kernel whose groups of warps meet");
  int which = -1;
  exec::copy(&which, wrong, sizeof(which));
  require(which == 0, "what groups of warps saw");
  nvshmem_barrier_all();
  nvshmem_free(wrong);
  nvshmem_free(words);
}

// Kernels and the host get the same answers.
static void check_library() {
  auto* asked = static_cast<Library*>(nvshmem_malloc(sizeof(Library)));
  require(exec::launch({}, ask_library, asked) == 0 && exec::device_synchronize() == 0, "asking");
  Library known;
  exec::copy(&known, asked, sizeof(known));
  char name[NVSHMEM_MAX_NAME_LEN];
  nvshmem_info_get_name(name);
  require(std::strcmp(known.name, name) == 0 && std::strncmp(name, "Chime ", 6) == 0 &&
              std::strstr(name, ", NVSHMEM v3.8.0") != nullptr,
          "its name");
  require(known.version == 10 * NVSHMEM_MAJOR_VERSION + NVSHMEM_MINOR_VERSION, "its level");
  require(known.vendor_version == NVSHMEM_VENDOR_VERSION, "its version");
  require(known.multicast == nullptr && nvshmemx_mc_ptr(NVSHMEM_TEAM_WORLD, asked) == nullptr,
          "no multicast memory");
  nvshmem_free(asked);
}

// Whether earlier kernels have overwritten it; then it is 0 again.
static bool is_overwritten(long* word) {
  long found = 0;
  const long none = 0;
  require(exec::device_synchronize() == 0, "kernels");
  exec::copy(&found, word, sizeof(found));
  exec::copy(word, &none, sizeof(none));
  return found == -1;
}

// The query gives the blocks that can run at once, and none for a block with too much memory.
static void check_gridsize() {
  const void* const kernel = reinterpret_cast<const void*>(send_and_overwrite);
  int most = -1, none = -1;
  require(nvshmemx_collective_launch_query_gridsize(kernel, dim3(kWarp), nullptr, 0, &most) == 0 &&
              most > 0,
          "the largest grid");
  nvshmemx_collective_launch_query_gridsize(kernel, dim3(kWarp), nullptr, std::size_t{1} << 30,
                                            &none);
  require(none == 0, "the largest grid of too much shared memory");
  require(nvshmemx_collective_launch_query_gridsize(kernel, dim3(1), nullptr, 0, nullptr) ==
              NVSHMEMX_ERROR_INVALID_VALUE,
          "nowhere to write it");
  long *to = static_cast<long*>(nvshmem_calloc(kPart * std::size_t(most), sizeof(long))),
       *from = static_cast<long*>(nvshmem_calloc(kPart * std::size_t(most), sizeof(long)));
  void* arguments[] = {&to, &from};
  long* const of_last_block = from + kPart * std::size_t(most) - 1;
  require(nvshmemx_collective_launch(kernel, dim3(0, 0, 0), dim3(kWarp), arguments, 0, nullptr) ==
              NVSHMEMX_SUCCESS,
          "a launch of a grid that is left open");
  require(is_overwritten(of_last_block), "its grid is the largest");
  require(nvshmemx_collective_launch(kernel, dim3(unsigned(most)), dim3(kWarp), arguments, 0,
                                     nullptr) == NVSHMEMX_SUCCESS,
          "a launch of the largest grid");
  require(exec::device_synchronize() == 0, "its kernel");
  // In CUDA's order: grid, block, shared memory, stream, attributes and their number.
  nvshmemx_collective_launch_attr_t attr{
      {dim3(unsigned(most)), dim3(kWarp), 0, nullptr, nullptr, 0}};
  require(nvshmemx_collective_launch_attr(&attr, kernel, arguments) == NVSHMEMX_SUCCESS,
          "the same by its attributes");
  require(exec::device_synchronize() == 0, "its kernel");
  require(is_overwritten(of_last_block), "the last block");
  attr = {{dim3(0, 0, 0), dim3(kWarp), 0, nullptr, nullptr, 0}};
  require(nvshmemx_collective_launch_attr(&attr, kernel, arguments) == NVSHMEMX_SUCCESS,
          "a grid that is left open by its attributes");
  require(is_overwritten(of_last_block), "its grid is the largest");
  attr.cuda_config.dynamicSmemBytes = std::size_t{1} << 30;
  require(nvshmemx_collective_launch_attr(&attr, kernel, arguments) ==
              NVSHMEMX_ERROR_COLLECTIVE_LAUNCH_FAILED,
          "too much shared memory");
  require(
      nvshmemx_collective_launch_attr(nullptr, kernel, arguments) == NVSHMEMX_ERROR_INVALID_VALUE,
      "no attributes");
  attr.cuda_config.dynamicSmemBytes = 0;
  attr.cuda_config.numAttrs = 1;
  require(nvshmemx_collective_launch_attr(&attr, kernel, arguments) != NVSHMEMX_SUCCESS,
          "attributes that are not there");
  nvshmem_barrier_all();
  nvshmem_free(from);
  nvshmem_free(to);
}

static CHIME_KERNEL void meet_as_members(nvshmem_team_t team, int* answers) {
  const int met = nvshmemx_barrier_block(team);
  if (exec::thread_rank() == 0) {
    answers[0] = met;
    answers[1] = nvshmem_team_my_pe(team);
    answers[2] = nvshmem_team_n_pes(team);
    answers[3] = nvshmem_team_translate_pe(team, 0, NVSHMEM_TEAM_WORLD);
  }
}

CHIME_REGISTER_KERNEL(meet_as_members);

// In a kernel and on the host: member `rank` of `size` members; the first is PE `first`.
void check_team(nvshmem_team_t team, int rank, int size, int first) {
  require(nvshmem_team_my_pe(team) == rank && nvshmem_team_n_pes(team) == size, "its members");
  auto* const answers = static_cast<int*>(nvshmem_malloc(4 * sizeof(int)));
  void* arguments[] = {&team, const_cast<int**>(&answers)};
  require(nvshmemx_collective_launch(reinterpret_cast<const void*>(meet_as_members), dim3(1),
                                     dim3(kThreads), arguments, 0, nullptr) == NVSHMEMX_SUCCESS,
          "launch");
  require(exec::device_synchronize() == 0, "kernel");
  int found[4];
  exec::copy(found, answers, sizeof found);
  require(found[0] == 0 && found[1] == rank && found[2] == size && found[3] == first,
          "what the kernel knows of its team");
  require(nvshmem_barrier(team) == 0 && nvshmem_team_sync(team) == 0, "its meetings");
  nvshmem_free(answers);
}

// Teams by a split, by a split in two, and by an id that the last PE makes.
void check_teams(int me, int n_pes) {
  nvshmem_team_t reversed, row, column, named;
  require(nvshmem_team_split_strided(NVSHMEM_TEAM_WORLD, n_pes - 1, -1, n_pes, nullptr, 0,
                                     &reversed) == 0,
          "a split");
  check_team(reversed, n_pes - 1 - me, n_pes, n_pes - 1);
  require(nvshmem_team_split_2d(reversed, n_pes, nullptr, 0, &row, nullptr, 0, &column) == 0,
          "a split in two dimensions");
  check_team(row, n_pes - 1 - me, n_pes, n_pes - 1);
  check_team(column, 0, 1, me);

  nvshmem_team_config_t config = NVSHMEM_TEAM_CONFIG_INITIALIZER;
  auto* const id = static_cast<std::uint64_t*>(nvshmem_malloc(sizeof(std::uint64_t)));
  if (me == n_pes - 1) {
    require(nvshmemx_team_get_uniqueid(&config.uniqueid) == 0, "an id");
    for (int pe = 0; pe < n_pes; ++pe) nvshmem_uint64_p(id, config.uniqueid, pe);
  }
  nvshmem_barrier_all();
  exec::copy(&config.uniqueid, id, sizeof config.uniqueid);
  config.num_contexts = 3;
  require(
      nvshmemx_team_init(&named, &config,
                         NVSHMEM_TEAM_CONFIG_MASK_UNIQUEID | NVSHMEM_TEAM_CONFIG_MASK_NUM_CONTEXTS,
                         n_pes, (me + 1) % n_pes) == 0,
      "a team by its id");
  check_team(named, (me + 1) % n_pes, n_pes, n_pes - 1);
  nvshmem_team_get_config(named, &config);
  require(config.num_contexts == 3, "its config");
  nvshmem_free(id);
  for (const nvshmem_team_t team : {named, column, row, reversed}) nvshmem_team_destroy(team);
}

int main(int argc, char** argv) {
  init(argc == 2 && std::strcmp(argv[1], "unique_id") == 0);
  const int me = nvshmem_my_pe(), n_pes = nvshmem_n_pes();
  const int left = (me + n_pes - 1) % n_pes, right = (me + 1) % n_pes;
  require(nvshmem_team_my_pe(NVSHMEMX_TEAM_NODE) == me, "place on the node, before the heap");

  int n = 1000;
  auto* from = static_cast<float*>(nvshmem_malloc(sizeof(float) * std::size_t(n)));
  auto* to = static_cast<float*>(nvshmem_calloc(std::size_t(n), sizeof(float)));
  auto* signal = static_cast<std::uint64_t*>(nvshmem_calloc(1, sizeof(std::uint64_t)));
  auto* seen = static_cast<Seen*>(nvshmem_align(alignof(Seen), sizeof(Seen)));
  require(nvshmemx_init_status() >= NVSHMEM_STATUS_IS_INITIALIZED, "status");
  std::vector<float> row(std::size_t(n), float(me) + 0.5f);
  exec::copy(from, row.data(), sizeof(float) * row.size());

  void* arguments[] = {&to, &from, &signal, &n, &seen};
  require(nvshmemx_collective_launch(reinterpret_cast<const void*>(send_row), dim3(1),
                                     dim3(kThreads), arguments, 0, nullptr) == NVSHMEMX_SUCCESS,
          "launch");
  require(nvshmemx_barrier_on_stream(NVSHMEM_TEAM_WORLD, nullptr) == 0, "barrier on the stream");
  require(exec::device_synchronize() == 0, "kernel");
  exec::copy(row.data(), to, sizeof(float) * row.size());
  for (float x : row) require(x == float(left) + 0.5f, "the row of the left");
  Seen known;
  exec::copy(&known, seen, sizeof(known));
  require(known.world_pe == me && known.world_size == n_pes && all_are_on_one_node(known),
          "the teams");

  // The host and kernels give the same answers.
  require(known.shared_pe == nvshmem_team_my_pe(NVSHMEM_TEAM_SHARED), "number in SHARED");
  require(known.shared_size == nvshmem_team_n_pes(NVSHMEM_TEAM_SHARED), "size of SHARED");
  require(known.shared_of_right ==
              nvshmem_team_translate_pe(NVSHMEM_TEAM_WORLD, right, NVSHMEM_TEAM_SHARED),
          "the right neighbour in SHARED");
  int mapped = 0;
  for (int pe = 0; pe < n_pes; ++pe) mapped += nvshmem_ptr(to, pe) != nullptr ? 1 : 0;
  require(known.shared_size == mapped, "SHARED is what nvshmem_ptr leads to");
  const char* const p2p = std::getenv("CHIME_P2P");
  if (p2p && std::strcmp(p2p, "off") == 0)
    require(known.shared_size == 1 && known.shared_pe == 0, "SHARED is this PE alone");

  nvshmem_barrier_all();  // all PEs have read their rows
  check_flush(me, left, false);
  check_flush(me, left, true);
  check_gridsize();
  check_region(me, left);
  check_groups();
  check_library();
  check_teams(me, n_pes);

  // By a name with a type and by a name without, on the host.
  nvshmem_float_p(to, float(10 * me), right);
  nvshmem_putmem(to + 1, from, sizeof(float), right);
  require(nvshmem_barrier(NVSHMEM_TEAM_WORLD) == 0 && nvshmem_team_sync(NVSHMEMX_TEAM_NODE) == 0,
          "barrier and sync");
  require(nvshmem_float_g(to, me) == float(10 * left), "what float_p sent");
  nvshmem_free(seen);
  nvshmem_free(signal);
  nvshmem_free(to);
  nvshmem_free(from);
  nvshmem_finalize();
}
