// Two blocks each send a row with a signal (docs/model.md).
#include <chime/chime.h>

#include <cstdio>
#include <vector>

namespace exec = chime::exec;

constexpr int kRow = 1000;

// Blocks 0 and 1 of PE 0 each fill a row and send it to PE 1, which adds up what has come.
static CHIME_KERNEL void send_rows(long* rows, uint64_t* arrived, long* sums) {
  const int block = static_cast<int>(exec::block_rank());
  long* row = rows + block * kRow;
  if (chime_my_pe() == 0) {
    for (int i = static_cast<int>(exec::thread_rank()); i < kRow;
         i += static_cast<int>(exec::block_threads()))
      row[i] = block + 1;
    // All threads call it. Entry: the row is whole. Data first, then the signal.
    chimex_long_put_signal_block(row, row, kRow, arrived + block, 1, CHIME_SIGNAL_SET, 1);
  } else if (chime_my_pe() == 1) {
    chimex_signal_wait_until_block(arrived + block, CHIME_CMP_EQ, 1);  // all threads have the row
    if (exec::thread_rank() == 0)
      for (int i = 0; i < kRow; ++i) sums[block] += row[i];
  }
}

int main() {
  chime_init();
  auto* rows = static_cast<long*>(chime_calloc(2 * kRow, sizeof(long)));
  auto* arrived = static_cast<uint64_t*>(chime_calloc(2, sizeof(uint64_t)));
  auto* sums = static_cast<long*>(chime_calloc(2, sizeof(long)));

  // Collective: kernels that wait for kernels of other PEs must all run at the same time.
  const exec::LaunchConfig config{.grid = exec::dim3(2), .block = exec::dim3(64)};
  if (chime::collective_launch(config, send_rows, rows, arrived, sums) != CHIMEX_OK) return 1;
  if (exec::device_synchronize() != CHIMEX_OK) return 1;

  long got[2];
  exec::copy(got, sums, sizeof got);
  if (chime_my_pe() == 1) std::printf("sums of the rows: %ld and %ld\n", got[0], got[1]);
  chime_finalize();
}
