"""Symmetric arrays, put and get of every shape, put_signal, streams; what is refused."""

import ctypes
import gc
import itertools
import mmap
import os
import threading
import warnings
import weakref
from unittest import mock

import numpy as np
from pes import OnAllPes, main

import chime


class Arrays(OnAllPes):
    def test_zeros_are_zeros_again_where_others_lay(self):
        with chime.empty(100, np.int32) as used:
            used.np[:] = 7
            address = used.address
        again = chime.zeros(100, np.int32)
        self.assertEqual(again.address, address)
        self.assert_same(np.zeros(100), again.np)
        again.free()

    def test_lie_at_the_same_offset_of_each_heap(self):
        first, a = chime.zeros(1), chime.zeros((2, 3))
        offsets = chime.zeros(self.n, np.int64)
        where = chime.zeros(1, np.int64)
        where.np[0] = a.address - first.address
        chime.WORLD.fcollect(offsets, where)
        self.assert_same([where.np[0]] * self.n, offsets.np)
        for each in (where, offsets, a, first):
            each.free()

    def test_parts_know_shape_type_and_place(self):
        with chime.zeros((4, 6), np.int16) as a:
            part = a[1:3, ::2]
            self.assertEqual(((2, 3), np.dtype(np.int16), 6, 12), (part.shape, part.dtype, part.size, part.nbytes))
            self.assertEqual(a.address + 12, part.address)
            self.assertEqual((), a[3, 5].shape)
            part[...] = 5
            self.assertEqual(30, a.np.sum())
            self.assert_same(a.np.reshape(24), a.reshape(24).np)
            for key in ([0, 2], np.array([0, 2]), a.np > 0):
                with self.refused(chime.InvalidError, "would copy"):
                    a[key]
            with self.refused(chime.InvalidError, "needs a copy"):
                a[:, 1:3].reshape(8)

    def test_are_described_without_a_look_at_their_memory(self):
        """It may be a GPU's. The memory here cannot be read."""
        memory = mmap.mmap(-1, mmap.PAGESIZE)
        address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
        self.assertEqual(0, ctypes.CDLL(None).mprotect(ctypes.c_void_p(address), ctypes.c_size_t(mmap.PAGESIZE), 0))
        block = chime.array._Block(address)
        a, seen = chime.Array(block, chime._chime.view(address, (4, 6), (), np.dtype(np.int16), memory)), np.zeros((4, 6), np.int16)
        for key in ([0, 1], np.array([0, 2]), (slice(None), [1]), seen == 0, True, np.True_, np.zeros(4, bool)):
            with self.refused(chime.InvalidError, "would copy"):
                a[key]
        self.assertEqual(((1, 3), a.address + 12), (a[np.int64(1), None, ..., 3:].shape, a[1].address))
        copies = 0
        for key in ((), 1, slice(2, 2), np.s_[:, :3], np.s_[:, ::2], np.s_[1:2], np.s_[::2, 1], np.s_[:, 2:3], np.s_[..., None], np.s_[::-1]):
            for shape in ((24,), (-1,), (6, 4), (2, 2, 6), (2, 2, 3), (4, 2, 3), (12, 1), (2, 6), (2, 3), (4, 1, 3), (2,), (1, 2, 1), (0, 7), (2, -1, 3)):
                with self.subTest(key=key, shape=shape):
                    try:
                        expected = seen[key].reshape(shape)
                    except ValueError:
                        self.assertRaises(ValueError, a[key].reshape, shape)
                        continue
                    if expected.size and not np.shares_memory(expected, seen):
                        copies += 1
                        with self.refused(chime.InvalidError, "needs a copy"):
                            a[key].reshape(*shape)
                        continue
                    part = a[key].reshape(shape)
                    strides = [[stride for stride, extent in zip(each.strides, each.shape) if extent > 1 and each.size] for each in (part, expected)]
                    self.assertEqual((expected.shape, strides[1], a[key].address), (part.shape, strides[0], part.address))
        self.assertGreater(copies, 5)
        block.end("it is of a test")

    def test_are_seen_by_numpy_and_dlpack_without_a_copy(self):
        with chime.zeros(3) as a:
            seen = np.from_dlpack(a)  # read-only by numpy's choice
            np.asarray(a)[1] = 2
            a[2] = 3
            self.assert_same([0, 2, 3], seen)
            self.assert_same([0, 2, 3], a.np)
            self.assertEqual((1, 0), tuple(map(int, a.__dlpack_device__())))
            self.assertFalse(hasattr(a, "__cuda_array_interface__"))
            for copy, dtype, is_shared in ((None, None, True), (None, np.float32, False), (True, None, False), (False, None, True), (False, np.float64, True)):
                made = a.__array__(dtype, copy=copy)
                self.assertEqual((np.dtype(dtype), is_shared), (made.dtype, np.shares_memory(made, a.np)))
            for dtype in (np.float32, np.float64().dtype.newbyteorder()):
                with self.refused(ValueError, "copy=False"):
                    a.__array__(dtype, copy=False)
            del seen, made

    def test_are_not_freed_by_the_collector(self):
        dropped = chime.zeros(1)
        address = dropped.address
        del dropped
        gc.collect()
        with chime.zeros(1) as other:
            self.assertNotEqual(address, other.address)

    def test_are_refused_when_freed(self):
        a = chime.zeros(3)
        part = a[1:]
        a.free()
        self.assertIn("no more", repr(a))
        for use in (lambda: a.np, lambda: chime.put(part, np.zeros(2), self.me), lambda: chime.get(np.zeros(2), part, self.me), a.free):
            with self.refused(chime.InvalidError, "free() has freed it"):
                use()

    def test_that_an_exception_leaves_are_not_freed(self):
        """For another PE, which has met none, would wait in free() for ever."""
        with self.assertRaises(KeyError), chime.zeros(3) as a:
            raise KeyError
        a.np[:] = 1
        a.free()

    def test_are_freed_with_a_warning_while_numpy_shows_them(self):
        a, b, d, c = (chime.zeros(3) for _ in range(4))
        part = a[1:].np[1:]
        tensor, same = np.from_dlpack(b), np.asarray(d)
        for lent in (a, b, d):
            with self.assertWarnsRegex(ResourceWarning, "views of this symmetric array") as seen:
                lent.free()
            self.assertEqual(__file__, seen.filename)
        del part, tensor, same
        c.np[0] = np.asarray(c).sum() + c.at(self.me)[1]
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            c.free()

    def test_of_wrong_sizes_are_refused(self):
        with self.refused(chime.OutOfMemoryError, "heap"):
            chime.empty(1 << 45)
        with self.refused(chime.InvalidError, "negative"):
            chime.empty((2, -1))
        with self.refused(chime.InvalidError, "Python objects"):
            chime.empty(3, object)
        with self.refused(chime.InvalidError, "no bytes"):
            chime.empty(3, "V0")
        with self.refused(chime.OutOfMemoryError):
            chime.empty((np.int64(1 << 32),) * 2, np.int8)

    def test_show_mapped_peers_at_once(self):
        with chime.zeros(2, np.int32) as a:
            a.np[:] = self.me
            chime.barrier()
            there = a.at(self.right)
            if os.environ.get("CHIME_P2P") == "off" and self.n > 1:
                self.assertIsNone(there)
            else:
                self.assert_same([self.right] * 2, there)
            self.assert_same([self.me] * 2, a.at(self.me))
            for pe in (-1, self.n, 99):
                with self.refused(chime.InvalidError, f"there is no PE {pe}; this job has PE") as refusal:
                    a.at(pe)
                self.assertEqual(pe if pe >= 0 else None, refusal.error.pe)
            del there
            chime.barrier()
        with chime.zeros((2, 6), np.int32) as a:
            a.np[:] = np.arange(12).reshape(2, 6)
            self.assert_same([[1, 3, 5], [7, 9, 11]], a[:, 1::2].at(self.me))


class Moves(OnAllPes):
    def test_bring_every_type(self):
        pair = np.dtype([("a", np.int32), ("b", np.float32)])
        for dtype in (np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64, np.float16, np.float32, np.float64,
                      np.complex64, np.complex128, np.bool_, "S5", "M8[s]", pair):
            with self.subTest(dtype=dtype), chime.zeros(17, dtype) as a:
                sent = (np.arange(17) + self.me).astype(np.uint8).astype(dtype) if dtype is not pair else np.array([(self.me, i) for i in range(17)], pair)
                chime.put(a, sent, self.right)
                chime.barrier()
                back = np.zeros(17, dtype)
                chime.get(back, a, self.right)
                self.assert_same(sent, back)
                chime.barrier()

    def test_bring_strides_of_every_rank(self):
        with chime.zeros((3, 4, 5), np.int32) as a, chime.zeros((3, 4, 5), np.int32) as b:
            b.np[:] = np.arange(60).reshape(3, 4, 5) + 1000 * self.me
            chime.barrier()
            whole = np.arange(60).reshape(3, 4, 5)
            for key in ((slice(None), 1, slice(0, 5, 2)), (slice(0, 2), slice(1, 3), 4), (2, 3, 4), (slice(None, None, 2), slice(None), slice(None))):
                a.np[:] = -1
                chime.barrier()
                chime.put(a[key], b[key], self.right)
                chime.barrier()
                expected = np.full((3, 4, 5), -1)
                expected[key] = whole[key] + 1000 * self.left
                self.assert_same(expected, a.np)
                got = np.zeros(whole[key].shape, np.int32)
                chime.get(got, b[key], self.left)
                self.assert_same(whole[key] + 1000 * self.left, got)
                chime.barrier()

    def test_bring_columns_of_fields_and_nothing_beside_them(self):
        """Also such as are not aligned to their type, and of types that no word has the bytes of; at once and on a stream."""
        kinds = ([("before", "i4"), ("f", "i4")], [("before", "f8"), ("f", "c16"), ("after", "f8")], [("before", "i1"), ("f", "f8")],
                 [("f", "S3"), ("after", "i1")])
        with chime.Stream() as stream:
            for kind, on in itertools.product(kinds, (None, stream)):
                with self.subTest(kind=kind, on=on), chime.zeros((3, 4), kind) as plate:

                    def plate_of(pe, columns=slice(1, 2)):
                        made = np.zeros((3, 4), kind)
                        made["f"][:, columns] = (np.arange(12).reshape(3, 4) + 100 * pe + 1)[:, columns]
                        return made

                    column, back = plate["f"][:, 1], np.zeros((3, 4), kind)
                    chime.put(column, plate_of(self.me, slice(None))["f"][:, 1], self.right, stream=on)
                    chime.quiet(stream=on)
                    stream.synchronize()
                    chime.barrier()
                    self.assert_same(plate_of(self.left), plate.np)
                    chime.get(back["f"][:, 1], column, self.right, stream=on)
                    stream.synchronize()
                    self.assert_same(plate_of(self.me), back)
                    chime.barrier()

    def test_take_lists_and_numbers(self):
        with chime.zeros(3) as a:
            chime.put(a, [1, 2, 3], self.right)
            chime.barrier()
            self.assert_same([1, 2, 3], a.np)
            chime.barrier()
            chime.put(a, 4, self.right)
            chime.barrier()
            self.assert_same([4, 4, 4], a.np)

    def test_take_no_list_or_number_that_the_elements_do_not_hold(self):
        wrong = {np.int32: (1.7, [1, 2.0], [1 << 31, 0], "1", [None, 1]), np.int8: (300, [0, 300], np.int16(-129)),
                 np.uint64: (-1, [1, -1], 1 << 64, [0.0, 1.0]), np.bool_: (7, [0, 2], "no", 1.0), "S2": ("abc", [b"abc", b""]),
                 np.float32: (1e39, [0, 1e39], "1", ["0", "1"], 1j, np.complex64(1), [1j, 0])}
        right = {np.int32: [-5, True], np.uint64: [(1 << 64) - 1, 0], np.bool_: [np.True_, 0], "S2": ["ab", ""], np.float32: [float("-inf"), 1 << 70],
                 np.complex64: [1j, 2]}
        for dtype in {**wrong, **right}:
            with self.subTest(dtype=dtype), chime.zeros(2, dtype) as a:
                for values in wrong.get(dtype, ()):
                    with self.refused(chime.InvalidError, f"{np.dtype(dtype)}"):
                        chime.put(a, values, self.me)
                self.assert_same(np.zeros(2, dtype), a.np)
                chime.put(a, right.get(dtype, []) or 0, self.me)
                self.assert_same(np.array(right.get(dtype, [0, 0]), dtype), a.np)

    def test_take_no_array_whose_mask_would_be_left_out(self):
        masked, seen = np.ma.masked_array([1.0, 2.0], [False, True]), np.zeros(2)
        with chime.zeros(2) as a, chime.zeros(1, np.uint64) as word:
            for call in (lambda: chime.put(a, masked, self.me), lambda: chime.get(masked, a, self.me), lambda: chime.put_signal(a, masked, word, 1, self.me)):
                with self.refused(chime.InvalidError, "mask"):
                    call()
            chime.put(a, np.ma.masked_array([1.0, 2.0]), self.me)
            chime.get(np.ma.masked_array(seen), a, self.me)
            self.assert_same([1, 2], seen)

    def test_nbi_complete_with_quiet(self):
        with chime.zeros(1 << 14) as a:
            sent = np.arange(1 << 14) + self.me + 0.5
            chime.put(a, sent, self.right, nbi=True)
            chime.fence()
            chime.barrier()
            back = np.zeros(1 << 14)
            chime.get(back, a, self.right, nbi=True)
            chime.quiet()
            self.assert_same(sent, back)
            self.assert_same(np.arange(1 << 14) + self.left + 0.5, a.np)
            chime.barrier()

    def test_nothing_is_moved_of_nothing(self):
        with chime.zeros((0, 3)) as a:
            chime.put(a, np.zeros((0, 3)), self.right)
            chime.get(np.zeros((0, 3)), a, self.right)
            chime.barrier()

    def test_on_streams_come_in_order(self):
        with chime.zeros(8) as a, chime.zeros(8) as b, chime.zeros(1, np.uint64) as word, chime.Stream() as stream:
            back = np.zeros(8)
            b.np[:] = self.me + 1
            chime.put(a, b, self.right, stream=stream)
            chime.signal_op(word, 3, self.right, stream=stream)
            chime.quiet(stream=stream)
            chime.signal_wait(word, "==", 3, stream=stream)
            chime.barrier(stream=stream)
            chime.get(back, a, self.right, stream=stream)
            chime.quiet(stream=stream)
            stream.synchronize()
            self.assert_same([self.left + 1] * 8, a.np)
            self.assert_same([self.me + 1] * 8, back)
            chime.barrier()
            chime.put_signal(a, np.full(8, 9.0), word, 4, self.right, nbi=True, stream=stream)
            chime.signal_wait(word, "==", 4, stream=stream)
            stream.synchronize()
            self.assert_same([9] * 8, a.np)
            chime.barrier()
            for value, nbi in ((5, True), (6, False)):
                chime.put_signal(a, np.full(8, 9.0), word, value, self.right, op=chime.SIGNAL_ADD, nbi=nbi, stream=stream)
            stream.synchronize()
            self.assertEqual(15, chime.signal_wait(word, ">", 9, timeout=60))
            chime.barrier()

    def test_on_streams_have_come_when_the_stream_is_done(self):
        n = 1 << 18
        with chime.zeros(n) as a, chime.zeros(n) as b, chime.Stream() as stream:
            a.np[:] = self.me + 1
            chime.barrier()
            chime.get(b, a, self.right, stream=stream)
            stream.synchronize()
            self.assertEqual((self.right + 1) * n, b.np.sum())
            chime.barrier()
            for nbi, name in ((False, "chimex_getmem_on_stream"), (True, "chimex_getmem_nbi_on_stream")):
                if self.n > 1:  # a PE's own memory need not be symmetric
                    with self.refused(chime.InvalidError, f"{name}: ", "not a symmetric address"):
                        chime._chime.get_on_stream(np.zeros(1), np.zeros(1), self.right, nbi, stream.handle)

    def test_on_streams_keep_local_memory_until_they_are_done(self):
        with chime.zeros(8) as a, chime.zeros(1, np.uint64) as word, chime.Stream() as stream:
            used = []

            def local():
                memory = np.zeros(8)
                used.append(weakref.ref(memory))
                return memory

            chime.put(a, local(), self.right, stream=stream)
            chime.put_signal(a, local(), word, 1, self.right, stream=stream)
            chime.get(local(), a, self.right, stream=stream)
            gc.collect()
            self.assertEqual([True] * 3, [memory() is not None for memory in used])
            stream.synchronize()
            gc.collect()
            self.assertEqual([None] * 3, [memory() for memory in used])
            chime.barrier()

    def test_streams_do_their_work_before_they_close(self):
        with chime.zeros(1) as a, chime.zeros(1, np.uint64) as word:
            with chime.Stream() as stream:
                chime.signal_wait(word, "==", 1, stream=stream)
                chime.put(a, [7.0], self.me, stream=stream)
                sets = threading.Timer(0.2, lambda: word.np.__setitem__(0, 1))
                sets.start()
            self.assertEqual(7, a.np[0])
            sets.join()

    def test_streams_that_are_closed_are_no_more(self):
        with chime.Stream() as stream:
            handle = stream.handle
        with self.refused(chime.InvalidError):
            chime._chime.stream_synchronize(handle)
        self.assertNotIn(handle, chime.stream._queued)
        with self.assertRaises(KeyError), chime.Stream() as kept:
            raise KeyError  # whose work may wait for a PE that does not come
        self.assertTrue(kept.handle)
        kept.close()

    def test_on_a_dropped_stream_keep_their_sources(self):
        with chime.zeros(1 << 18) as a:
            stream = chime.Stream()
            handle = stream.handle
            chime.put(a, np.full(1 << 18, 3.0), self.right, stream=stream)
            del stream
            gc.collect()
            chime._chime.stream_synchronize(handle)
            chime.barrier()
            self.assert_same([3] * 4, a.np[:4])
            self.assertEqual(3 << 18, a.np.sum())
        closed = chime.Stream()
        closed.close()
        with self.refused(chime.InvalidError, "closed"):
            chime.quiet(stream=closed)

    def test_on_a_stream_keep_what_another_thread_queues_while_it_is_waited_for(self):
        """The other thread's calls are made here, at the worst moments: just before the put is in the queue, and when the wait is over."""
        with chime.zeros(3) as a, chime.zeros(1, np.uint64) as word, chime.Stream() as stream:
            kept = []

            def source():
                made = np.full(3, 4.0)
                kept.append(weakref.ref(made))
                return made

            def waits_first(call):
                def instead(*arguments):
                    stream.synchronize()
                    call(*arguments)
                return instead

            def queues_then(*arguments):
                wait(*arguments)
                with mock.patch.object(chime._chime, "stream_synchronize", wait):
                    chime.put(a, source(), self.me, stream=stream)

            wait = chime._chime.stream_synchronize
            calls = (("put_on_stream", lambda: chime.put(a, source(), self.me, stream=stream)),
                     ("get_on_stream", lambda: chime.get(source(), a, self.me, stream=stream)),
                     ("put_signal_on_stream", lambda: chime.put_signal(a, source(), word, 1, self.me, stream=stream)))
            for name, queue in calls:
                with mock.patch.object(chime._chime, name, waits_first(getattr(chime._chime, name))):
                    queue()
                self.assertIsNotNone(kept[-1](), name)
            chime.put(a, source(), self.me, stream=stream)
            with mock.patch.object(chime._chime, "stream_synchronize", queues_then):
                stream.synchronize()
            self.assertIsNotNone(kept[-1]())
            stream.synchronize()
            self.assertEqual([None] * 5, [each() for each in kept])

    def test_with_signals_have_come_when_the_signal_has(self):
        with chime.zeros(300, np.int32) as a, chime.zeros(2, np.uint64) as words:
            for nbi in (False, True):
                chime.put_signal(a, np.arange(300, dtype=np.int32) + self.me, words[0], 1, self.right, nbi=nbi)
                chime.signal_wait(words[0], ">=", 1, timeout=60)
                self.assert_same(np.arange(300) + self.left, a.np)
                chime.barrier()
                words.np[0] = 0
                chime.barrier()
            chime.put_signal(a, np.zeros(300, np.int32), words[1], 5, self.right, op=chime.SIGNAL_ADD)
            chime.put_signal(a, np.zeros(300, np.int32), words[1], 6, self.right, op=chime.SIGNAL_ADD)
            self.assertEqual(11, chime.signal_wait(words[1], "==", 11, timeout=60))
            chime.barrier()

    def test_are_refused_where_they_cannot_be(self):
        with chime.zeros(4) as a, chime.zeros((4, 4)) as plate:
            for pe in (-1, self.n, 1 << 20):
                with self.refused(chime.InvalidError, f"there is no PE {pe}; this job has PE") as refusal:
                    chime.put(a, np.zeros(4), pe)
                self.assertEqual((1, pe if pe >= 0 else None), (refusal.error.status, refusal.error.pe))
            with self.refused(chime.InvalidError, "float32", "astype"):
                chime.put(a, np.zeros(4, np.float32), self.me)
            with self.refused(chime.InvalidError, "shapes differ"):
                chime.put(a, np.zeros(5), self.me)
            with self.refused(chime.InvalidError, "no symmetric array"):
                chime.put(np.zeros(4), a, self.me)
            with self.refused(chime.InvalidError, "no symmetric array"):
                chime.get(a, np.zeros(4), self.me)
            for copied in ([0.0] * 4, np.float64(3)):
                with self.refused(chime.InvalidError, "cannot receive"):
                    chime.get(copied, a[0] if copied == 3 else a, self.me)
            fixed = np.zeros(4)
            fixed.flags.writeable = False
            with self.refused(chime.InvalidError, "read-only"):
                chime.get(fixed, a, self.me)
            with self.refused(chime.InvalidError, "positive"):
                chime.put(a, np.zeros(4)[::-1], self.me)
            with self.refused(chime.InvalidError, "positive"):
                chime.put(a, np.broadcast_to(1.0, (4,)), self.me)

    def test_with_signals_are_refused_where_they_cannot_be(self):
        with chime.zeros(4) as a, chime.zeros((4, 4)) as plate, chime.zeros(2, np.uint64) as words:
            for dst, src in ((plate[:, 0], np.zeros(4)), (a, np.zeros((4, 4))[:, 0])):
                with self.refused(chime.InvalidError, "contiguous"):
                    chime.put_signal(dst, src, words[0], 1, self.me)
            for sig in (a[0], words):
                with self.refused(chime.InvalidError, "one element of type uint64"):
                    chime.put_signal(a, np.zeros(4), sig, 1, self.me)


if __name__ == "__main__":
    main()
