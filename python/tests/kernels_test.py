"""Kernels from their text: what they do, what they take, and what becomes of their errors."""

import weakref

import numpy as np
from pes import OnAllPes, main

import chime

SHIFT = """
namespace exec = chime::exec;

CHIME_KERNEL void shift(float* inbox, const float* mine, int part, uint64_t* arrived, uint64_t turn) {
  const unsigned block = exec::block_idx().x;
  const int right = (chime_my_pe() + 1) % chime_n_pes();
  chimex_float_put_signal_block(inbox + block * part, mine + block * part, part, arrived + block, turn, CHIME_SIGNAL_SET, right);
  chimex_signal_wait_until_block(arrived + block, CHIME_CMP_GE, turn);
}
"""
SCALARS = """
struct Pair { int a; float b; };
enum class Colour : unsigned char { kRed, kGreen };
namespace mine {
template <class T>
CHIME_KERNEL void store(double* out, signed char i1, unsigned short u2, long i8, unsigned long u8, bool b, float f4, T other, Pair pair,
                        Colour colour) {
  if (chime::exec::thread_idx().x != 0) return;
  const double values[] = {double(i1), double(u2), double(i8), double(u8 >> 60), double(b), f4, double(other), double(pair.a), pair.b, double(colour)};
  for (double value : values) *out++ = value;
}
}
"""
WRONG_PE = "CHIME_KERNEL void lose(int* word) { chime_int_p(word, 1, chime_n_pes() + 7); }"
ADD = "CHIME_KERNEL void add(double* sums, const double* more) { sums[chime::exec::thread_idx().x] += more[chime::exec::thread_idx().x]; }"


class Kernels(OnAllPes):
    def test_put_signal_and_wait_for_each_other(self):
        blocks, part = 4, 100
        shift = chime.kernel(SHIFT, "shift")
        self.assertEqual(["*f4", "*f4 const", "i4", "*u8", "u8"], shift.parameters)
        with chime.zeros(blocks * part, np.float32) as inbox, chime.zeros(blocks, np.uint64) as arrived:
            for turn, collective in ((1, True), (2, False)):
                mine = (np.arange(blocks * part) + 1000 * self.me + turn).astype(np.float32)
                chime.barrier()
                shift[blocks, 64](inbox, mine, part, arrived, turn, collective=collective)
                self.assert_same(np.arange(blocks * part) + 1000 * self.left + turn, inbox.np)
                chime.barrier()

    def test_take_numbers_of_each_type(self):
        store = chime.kernel(SCALARS, "mine::store<short>")
        self.assertEqual(["*f8", "i1", "u2", "i8", "u8", "b1", "f4", "i2", "x8", "u1"], store.parameters)
        pair = np.array((7, 0.5), np.dtype([("a", np.int32), ("b", np.float32)]))
        right = (-128, 65535, -(1 << 50), (1 << 64) - 1, True, 1.5, np.int64(-3), pair, 1)
        with chime.zeros(10) as out:
            store[(1, 1, 1), (32, 2)](out, *right)
            self.assert_same([-128, 65535, -(1 << 50), 15, 1, 1.5, -3, 7, 0.5, 1], out.np)
            for place, value, words in ((0, 128, "int8"), (1, -1, "uint16"), (2, 0.5, "int64"), (4, 7, "bool"), (4, "no", "bool"), (5, "x", "float32"),
                                        (5, 1e39, "1e+39"), (7, np.zeros(3), "24 bytes")):
                wrong = list(right)
                wrong[place] = value
                with self.refused(chime.InvalidError, f"argument {place + 2} of mine::store<short>", words):
                    store[1, 1](out, *wrong)
            with self.refused(chime.InvalidError, "takes 10 arguments"):
                store[1, 1](out)
            for config in ((0, 1), (1, (1, 1, 1, 1)), (1, 1, -1)):
                with self.refused(chime.InvalidError):
                    store[config](out, *right)
            with self.refused(chime.LaunchError, "threads"):
                store[1, 1 << 20](out, *right)

    def test_take_arrays_of_their_type_alone(self):
        add = chime.kernel(ADD, "add")
        with chime.zeros(4) as sums, chime.zeros(4, np.float32) as floats, chime.zeros((4, 4)) as plate:
            add[1, 4](sums, [1.0, 2.0, 3.0, 4.0])
            add[1, 4](sums.address, sums)
            self.assert_same([2, 4, 6, 8], sums.np)
            local = np.ones(4)
            add[1, 2](local[1:3], sums[2:])
            self.assert_same([1, 7, 9, 1], local)
            for wrong, words in ((floats, "float32"), (plate[:, 0], "contiguous"), (np.zeros(4, ">f8"), "byte order"), ([1.0] * 4, "cannot receive")):
                with self.refused(chime.InvalidError, "argument 1 of add" if "byte" not in words else "", words):
                    add[1, 4](wrong, sums)
            for address in (-1, 1 << 64):
                with self.refused(chime.InvalidError, f"argument 1 of add is {address}", "address"):
                    add[1, 4](address, sums)
        with self.refused(chime.InvalidError, "no more"):
            add[1, 4](sums, local)

    def test_on_a_stream_run_in_its_order(self):
        add = chime.kernel(ADD, "add")
        with chime.zeros(64) as sums, chime.zeros(64) as inbox, chime.Stream() as stream:
            for _ in range(5):
                add[1, 64](sums, np.full(64, 1.0 + self.me), stream=stream)  # the stream keeps it
            chime.put(inbox, sums, self.right, stream=stream)
            chime.barrier(stream=stream)
            more = np.ones(64)
            kept = weakref.ref(more)
            add[1, 64](sums, more, stream=stream)
            del more
            self.assertIsNotNone(kept())
            stream.synchronize()
            self.assertIsNone(kept())
            self.assert_same([5 * (1 + self.left)] * 64, inbox.np)

    def test_that_fail_raise(self):
        lose = chime.kernel(WRONG_PE, "lose")
        with chime.zeros(1, np.int32) as word:
            with self.refused(chime.InvalidError, f"PE {self.n + 7}"):
                lose[1, 1](word)
            with chime.Stream() as stream:
                lose[1, 1](word, stream=stream)
                with self.refused(chime.InvalidError, f"PE {self.n + 7}"):
                    stream.synchronize()
            chime.barrier()  # that error is told


if __name__ == "__main__":
    main()
