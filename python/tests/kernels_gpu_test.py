"""A kernel in CUDA's words, from its text, on an emulated GPU: CHIME_DEVICE=cuda."""

import ctypes
import threading

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


class Waits(OnAllPes):
    def test_of_the_host_end_with_their_value_or_at_their_bound(self):
        """Each looks for Ctrl-C meanwhile."""
        words = chime.zeros(2, np.uint64)
        threading.Timer(0.3, lambda: chime.signal_op(words[0], 3, self.right)).start()
        self.assertEqual(3, chime.signal_wait(words[0], ">", 2))
        with self.refused(chime.TimeoutError, "0.3"):
            chime.wait(words[1], "==", 1, timeout=0.3)
        chime.barrier()


class Tensor:
    """Another library's array, as __cuda_array_interface__ (version 3) shows it."""

    def __init__(self, array, **differences):
        self.__cuda_array_interface__ = {**array.__cuda_array_interface__, **differences}


class Tensors(OnAllPes):
    def setUp(self):
        self.driver, self.stream = chime.cuda_module.driver(), ctypes.c_void_p()
        self.driver.call("cuStreamCreate", ctypes.byref(self.stream), 1)  # CU_STREAM_NON_BLOCKING
        self.word, self.go, self.to = chime.zeros(1, np.int32), chime.zeros(1, np.uint64), chime.zeros(1, np.int32)
        self.tensor = Tensor(self.word, stream=self.stream.value)

    def write_when_it_may(self, value):
        """The stream sets `word` once `go` is `value`."""
        self.driver.call("cuStreamWaitValue64", self.stream, ctypes.c_uint64(self.go.address), ctypes.c_uint64(value), 1)  # CU_STREAM_WAIT_VALUE_EQ
        self.driver.call("cuStreamWriteValue32", self.stream, ctypes.c_uint64(self.word.address), value, 0)

    def arrived(self):
        self.driver.call("cuStreamSynchronize", self.stream)
        chime.barrier()
        got = np.zeros(1, np.int32)
        chime.get(got, self.to, self.me)
        return int(got[0])

    def test_are_read_when_their_stream_has_written_them(self):
        self.write_when_it_may(7)
        threading.Timer(0.3, lambda: chime.signal_op(self.go, 7, self.me)).start()
        chime.put(self.to, self.tensor, self.right)
        self.assertEqual(7, self.arrived())

    def test_are_not_waited_for_on_their_own_stream(self):
        self.write_when_it_may(8)
        chime.put(self.to, self.tensor, self.right, stream=chime.Stream(self.stream.value))
        chime.signal_op(self.go, 8, self.me)
        self.assertEqual(8, self.arrived())

    def test_that_do_not_fit_are_refused(self):
        address = self.word.address
        with self.refused(chime.InvalidError, "destination is read-only"):
            chime.get(Tensor(self.word, data=(address, True)), self.to, self.me)
        with self.refused(chime.InvalidError, "source has a mask"):
            chime.put(self.to, Tensor(self.word, mask=Tensor(self.word)), self.me)
        chime.put(self.to, Tensor(self.word, data=(address, True), mask=None, stream=None), self.me)
        chime.get(Tensor(self.word, version=2), self.to, self.me)


if __name__ == "__main__":
    main()
