"""A kernel in CUDA's words, from its text, on an emulated GPU: CHIME_DEVICE=cuda."""

import numpy as np
from pes import OnAllPes, main

import chime

SHIFT = """
__global__ void shift(float* inbox, const float* mine, int part, uint64_t* arrived) {
  const int right = (chime_my_pe() + 1) % chime_n_pes();
  chimex_float_put_signal_block(inbox + blockIdx.x * part, mine + blockIdx.x * part, part, arrived + blockIdx.x, 1, CHIME_SIGNAL_SET, right);
  chimex_signal_wait_until_block(arrived + blockIdx.x, CHIME_CMP_GE, 1);
}
"""


class Kernels(OnAllPes):
    def test_put_signal_and_wait_for_each_other(self):
        blocks, part = 4, 100
        shift = chime.kernel(SHIFT, "shift")
        inbox, mine = chime.zeros(blocks * part, np.float32), chime.zeros(blocks * part, np.float32)
        arrived, numbers = chime.zeros(blocks, np.uint64), np.arange(blocks * part, dtype=np.float32)
        chime.put(mine, numbers + 1000 * self.me, self.me)
        chime.barrier()
        with self.refused(chime.InvalidError, "argument 2 of shift", "CPU's memory"):
            shift[blocks, 64](inbox, numbers, part, arrived)
        shift[blocks, 64](inbox, mine, part, arrived, collective=True)
        got = np.zeros(blocks * part, np.float32)
        chime.get(got, inbox, self.me)
        self.assert_same(numbers + 1000 * self.left, got)


if __name__ == "__main__":
    main()
