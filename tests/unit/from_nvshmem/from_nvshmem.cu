// A program from NVSHMEM, ported line by line by docs/renaming.md: each PE sends its right
// neighbour a row with a signal, three times, with three kinds of launch.
#include <chime/chime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

using chime::exec::dim3;
namespace exec = chime::exec;

constexpr int kThreads = 128;

static CHIME_KERNEL void send_row(float* to, const float* from, std::uint64_t* signal, int n,
                                  std::uint64_t round) {
  const unsigned i = exec::block_idx().x * exec::block_dim().x + exec::thread_idx().x;
  CHIME_SHARED_ARRAY(unsigned, seen, kThreads);
  seen[exec::thread_idx().x] = i;
  exec::sync_block();
  const int right = (chime_my_pe() + 1) % chime_n_pes();
  chimex_float_put_signal_nbi_block(to, from, std::size_t(n), signal, round, CHIME_SIGNAL_SET,
                                    right);
  chime_signal_wait_until(signal, CHIME_CMP_EQ, round);
  if (seen[kThreads - 1] != kThreads - 1) to[0] = -1;
  chime_quiet();
}
CHIME_REGISTER_KERNEL(send_row);

static void require(bool good, const char* what) {
  if (good) return;
  std::fprintf(stderr, "failed: %s: %s\n", what, chimex_last_error());
  std::exit(1);
}

static void init(bool with_unique_id) {
  if (!with_unique_id) return chime_init();
  chimex_uniqueid_t id = CHIMEX_UNIQUEID_INITIALIZER;
  chimex_init_attr_t attr = CHIMEX_INIT_ATTR_INITIALIZER;
  require(chimex_get_uniqueid(&id) == CHIMEX_SUCCESS, "unique id");
  require(chimex_set_attr_uniqueid_args(0, 1, &id, &attr) == CHIMEX_SUCCESS, "attributes");
  require(chimex_init_attr(CHIMEX_INIT_WITH_UNIQUEID, &attr) == CHIMEX_SUCCESS, "init");
}

int main(int argc, char** argv) {
  init(argc == 2 && std::strcmp(argv[1], "unique_id") == 0);
  const int me = chime_my_pe(), n_pes = chime_n_pes();
  require(chimex_node_my_pe() == me && chimex_node_n_pes() == n_pes, "place on the node");
  require(exec::set_device(chimex_node_my_pe() % exec::device_count()) == CHIMEX_SUCCESS, "device");

  int n = 1000;
  auto from = static_cast<float*>(chime_malloc(sizeof(float) * std::size_t(n)));
  auto to = static_cast<float*>(chime_calloc(std::size_t(n), sizeof(float)));
  auto signal = static_cast<std::uint64_t*>(chime_calloc(1, sizeof(std::uint64_t)));
  require(chimex_init_status() >= CHIME_STATUS_IS_INITIALIZED, "status");

  const int left = (me + n_pes - 1) % n_pes;
  for (std::uint64_t round = 1; round <= 3; ++round) {
    std::vector<float> row(std::size_t(n), float(100 * me) + float(round));
    exec::copy(from, row.data(), sizeof(float) * row.size());
    dim3 grid(1), block(kThreads);
    void* arguments[] = {&to, &from, &signal, &n, &round};
    int launched = -1;
    if (round == 1)
      launched = exec::launch({.grid = grid, .block = block}, send_row, to, from, signal, n, round);
    else if (round == 2)
      launched = exec::launch({.grid = 1, .block = kThreads}, send_row, to, from, signal, n, round);
    else
      launched = chimex_collective_launch(reinterpret_cast<const void*>(send_row), grid, block,
                                          arguments, 0, nullptr);
    require(launched == CHIMEX_SUCCESS, exec::last_error());
    chimex_barrier_all_on_stream(nullptr);
    require(exec::device_synchronize() == CHIMEX_SUCCESS, "kernel");
    exec::copy(row.data(), to, sizeof(float) * row.size());
    for (float x : row) require(x == float(100 * left) + float(round), "a row of the left");
    chime_barrier_all();
  }
  chime_free(signal);
  chime_free(to);
  chime_free(from);
  chime_finalize();
}
