"""Signals, waits on words, and atomics of every type."""

import time

import numpy as np
from pes import OnAllPes, main

import chime


class Signals(OnAllPes):
    def test_are_set_added_and_fetched(self):
        with chime.zeros(1, np.uint64) as word:
            chime.signal_op(word, 5, self.right)
            self.assertEqual(5, chime.signal_wait(word, "!=", 0, timeout=60))
            chime.barrier()
            chime.signal_op(word, 2, self.right, op=chime.SIGNAL_ADD)
            self.assertEqual(7, chime.signal_wait(word, ">", 5, timeout=60))
            self.assertEqual(7, chime.signal_fetch(word))
            chime.barrier()
            with chime.Stream() as stream:
                for value in (3, 4):
                    chime.signal_op(word, value, self.right, op=chime.SIGNAL_ADD, stream=stream)
            self.assertEqual(14, chime.signal_wait(word, ">", 10, timeout=60))
            chime.barrier()

    def test_are_compared_on_streams_in_each_way(self):
        with chime.zeros(2, np.uint64) as words, chime.Stream() as stream:
            words.np[0] = 5
            for cmp, value in (("!=", 4), (">", 4), (">=", 4), ("<", 6), ("<=", 6), ("==", 5)):
                chime.signal_wait(words[0], cmp, value, stream=stream)
            chime.signal_op(words[1], 1, self.me, stream=stream)
            try:
                chime.signal_wait(words[1], "==", 1, timeout=20)
            finally:
                for value in (4, 6, 5):  # so that the stream ends in any case
                    words.np[0] = value
                    time.sleep(0 if words.np[1] else 0.1)
            chime.barrier()

    def test_that_do_not_come_end_the_wait_at_its_bound(self):
        with chime.zeros(1, np.uint64) as word:
            began = time.monotonic()
            with self.refused(chime.TimeoutError, "0.3", "sender") as refusal:
                chime.signal_wait(word, "==", 7, timeout=0.3)
            self.assertGreaterEqual(time.monotonic() - began, 0.3)
            self.assertEqual(5, refusal.error.status)
            self.assertIsInstance(refusal.error, TimeoutError)
            with self.refused(chime.InvalidError, "comparison"):
                chime.signal_wait(word, "=", 7)
            for timeout in (-1, float("nan"), float("inf")):
                with self.refused(chime.InvalidError, f"timeout is {timeout}"):
                    chime.signal_wait(word, "==", 7, timeout=timeout)
            with chime.Stream() as stream, self.refused(chime.InvalidError, "has no timeout"):
                chime.signal_wait(word, "==", 0, timeout=1, stream=stream)

    def test_hold_64_bits_without_a_sign(self):
        with chime.zeros(1, np.uint64) as word, chime.Stream() as stream:
            most = (1 << 64) - 1
            chime.signal_op(word, most, self.right)
            self.assertEqual(most, chime.signal_wait(word, "==", most, timeout=60))
            chime.barrier()
            calls = (lambda value, on: chime.signal_op(word, value, self.me, stream=on),
                     lambda value, on: chime.signal_wait(word, "!=", value, stream=on),
                     lambda value, on: chime.put_signal(word, word, word, value, self.me, stream=on))
            for call in calls:
                for value in (-1, 1 << 64, 0.5, "1", None):
                    for on in (None, stream):
                        with self.refused(chime.InvalidError, "the value is", "uint64"):
                            call(value, on)
            self.assertEqual(most, chime.signal_fetch(word))
            chime.barrier()


class Words(OnAllPes):
    def test_of_each_type_are_waited_for_by_each_comparison(self):
        for dtype in (np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64):
            with self.subTest(dtype=dtype), chime.zeros(2, dtype) as words:
                for cmp, value in (("==", 0), ("!=", 1), ("<", 1), ("<=", 0), (">=", 0)):
                    self.assertTrue(chime.test(words[1], cmp, value))
                    chime.wait(words[1], cmp, value, timeout=60)
                self.assertFalse(chime.test(words[1], ">", 0))
                with self.refused(chime.TimeoutError):
                    chime.wait(words[1], ">", 0, timeout=0)
                chime.barrier()
                chime.put(words[1], np.array(3, dtype), self.right)
                chime.wait(words[1], ">", 2, timeout=60)
                chime.barrier()
                words.np[0] = ~words.np[0] if words.dtype.kind == "i" else 1 << 8 * words.dtype.itemsize - 1  # the highest bit is set
                cmp = "<" if words.dtype.kind == "i" else ">"
                self.assertTrue(chime.test(words[0], cmp, 0))
                chime.wait(words[0], cmp, 0, timeout=0)

    def test_that_cannot_be_waited_for_are_refused(self):
        with chime.zeros(2) as a:
            with self.refused(chime.InvalidError, "float64"):
                chime.wait(a[0], "==", 1)
            with self.refused(chime.InvalidError, "index the array"):
                chime.test(a, "==", 1)
        with chime.zeros(1, ">i4") as word, self.refused(chime.InvalidError, "byte order"):
            chime.atomic_add(word, 1, 0)
        with chime.zeros(1, np.int32) as word:
            for values in ([], [1, 2]):
                with self.refused(chime.InvalidError, "one value"):
                    chime.test(word, "==", values)
            for call in (lambda: chime.test([1], "==", 1), lambda: chime.atomic_add([1], 1, 0), lambda: chime.atomic_fetch(np.zeros(1), 0)):
                with self.refused(chime.InvalidError, "no symmetric array"):
                    call()

    def test_are_compared_with_no_other_value(self):
        for dtype, values in ((np.uint16, (-1, 65536, 0.0)), (np.int32, (1 << 31, "0", None)), (np.uint64, (-1, 1 << 64, np.float64(0), 0j))):
            with chime.zeros(1, dtype) as word:
                for value in values:
                    for call in (lambda: chime.test(word, "==", value), lambda: chime.wait(word, "!=", value, timeout=60)):
                        with self.refused(chime.InvalidError, "the value is", np.dtype(dtype).name):
                            call()
                for value in (0, False, np.int8(0), np.zeros(1, np.uint8), [0]):
                    self.assertTrue(chime.test(word, "==", value))


class Atomics(OnAllPes):
    def test_of_integers_count_all_pes(self):
        for dtype in (np.int32, np.uint32, np.int64, np.uint64):
            with self.subTest(dtype=dtype), chime.zeros(4, dtype) as words:
                words.np[2] = 0xFF
                chime.barrier()
                chime.atomic_inc(words[0], 0)
                chime.atomic_add(words[0], 10, 0)
                old = chime.atomic_fetch_add(words[0], 100, 0)
                self.assertEqual(old, chime.atomic_fetch_inc(words[1], 0) * 0 + old)
                chime.atomic_or(words[3], 1 << self.me, 0)
                chime.atomic_and(words[2], 0xFF ^ (1 << self.me), 0)
                chime.barrier()
                self.assertEqual(111 * self.n, chime.atomic_fetch(words[0], 0))
                self.assertEqual(self.n, chime.atomic_fetch(words[1], 0))
                self.assertEqual(0xFF ^ ((1 << self.n) - 1), chime.atomic_fetch(words[2], 0))
                self.assertEqual((1 << self.n) - 1, chime.atomic_fetch(words[3], 0))
                chime.barrier()
                if self.me == 0:
                    self.assertEqual((1 << self.n) - 1, chime.atomic_fetch_xor(words[3], 1, 0))
                    self.assertEqual((1 << self.n) - 2, chime.atomic_fetch_or(words[3], 1, 0))
                    self.assertEqual((1 << self.n) - 1, chime.atomic_fetch_and(words[3], 2, 0))
                    chime.atomic_xor(words[3], 3, 0)
                    chime.quiet()
                    self.assertEqual((2 if self.n > 1 else 0) ^ 3, words.np[3])
                chime.barrier()

    def test_swaps_return_what_was_there(self):
        for dtype in (np.int32, np.uint64, np.float32, np.float64):
            with self.subTest(dtype=dtype), chime.zeros(1, dtype) as word:
                chime.atomic_set(word, 3, self.right)
                chime.barrier()
                old = chime.atomic_swap(word, 4 + self.me, self.right)
                self.assertEqual((3, np.dtype(dtype)), (old, old.dtype))
                chime.barrier()
                self.assertEqual(4 + self.left, word.np[0])
                self.assertEqual(4 + self.left, chime.atomic_fetch(word, self.me))
                chime.barrier()
        with chime.zeros(1, np.int64) as word:
            self.assertEqual(0, chime.atomic_compare_swap(word, 1, 9, self.right))
            self.assertEqual(0, chime.atomic_compare_swap(word, 0, -9, self.right))
            self.assertEqual(-9, chime.atomic_fetch(word, self.right))
            chime.barrier()

    def test_of_floats_add(self):
        for dtype in (np.float32, np.float64):
            with self.subTest(dtype=dtype), chime.zeros(1, dtype) as word:
                chime.barrier()
                chime.atomic_add(word, 0.5, 0)
                chime.atomic_fetch_add(word, 0.25, 0)
                chime.barrier()
                self.assertEqual(0.75 * self.n, chime.atomic_fetch(word, 0))
                chime.barrier()

    def test_take_no_value_that_the_element_does_not_hold(self):
        for dtype, values in ((np.int32, (1 << 31, -(1 << 31) - 1, 0.9)), (np.uint32, (-1, 1 << 33, np.float32(1))), (np.int64, (1 << 63, 0.9)),
                              (np.float32, (1e39, -1e39))):
            with chime.zeros(1, dtype) as word:
                chime.barrier()
                for value in values:
                    calls = [lambda: chime.atomic_set(word, value, 0), lambda: chime.atomic_swap(word, value, 0),
                             lambda: chime.atomic_add(word, value, 0), lambda: chime.atomic_fetch_add(word, value, 0)]
                    if word.dtype.kind != "f":
                        calls += [lambda: chime.atomic_compare_swap(word, 0, value, 0), lambda: chime.atomic_compare_swap(word, value, 0, 0),
                                  lambda: chime.atomic_or(word, value, 0), lambda: chime.atomic_fetch_xor(word, value, 0)]
                    for call in calls:
                        with self.refused(chime.InvalidError, f"{value!r}", np.dtype(dtype).name):
                            call()
                chime.barrier()
                self.assertEqual(0, chime.atomic_fetch(word, 0))
                chime.barrier()
        with chime.zeros(2, np.int32) as words, chime.zeros(1, np.float32) as fraction:
            for value in (-(1 << 31), (1 << 31) - 1):
                chime.atomic_set(words[0], value, self.right)
                chime.barrier()
                self.assertEqual(value, words.np[0])
                chime.barrier()
            chime.atomic_set(fraction, float("inf"), self.right)
            chime.barrier()
            self.assertEqual(float("inf"), fraction.np[0])

    def test_are_refused_of_other_types(self):
        with chime.zeros(2, np.int8) as small, chime.zeros(2) as a:
            with self.refused(chime.InvalidError, "int8"):
                chime.atomic_add(small[0], 1, 0)
            with self.refused(chime.InvalidError, "float64"):
                chime.atomic_or(a[0], 1, 0)
            with self.refused(chime.InvalidError, "index the array"):
                chime.atomic_add(a, 1, 0)
            for value in ("one", "1", None, 1j, np.complex64(1), 10**400):
                with self.refused(chime.InvalidError, "the value is", "float64"):
                    chime.atomic_add(a[0], value, 0)
            with self.refused(chime.InvalidError) as refusal:
                chime.atomic_add(a[0], 1, self.n)
            self.assertEqual(self.n, refusal.error.pe)


if __name__ == "__main__":
    main()
