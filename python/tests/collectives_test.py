"""Teams, and every collective: at once, with a timeout, on a stream."""

import time

import numpy as np
from pes import OnAllPes, main

import chime


class Teams(OnAllPes):
    def test_are_split_by_stride_list_and_plate(self):
        evens = range(0, self.n, 2)
        with chime.WORLD.split_strided(0, 2, len(evens)) as team:
            self.assertEqual(self.me % 2 == 0, team.is_member())
            if team.is_member():
                self.assertEqual((self.me // 2, len(evens)), (team.my_pe, team.n_pes))
                self.assertEqual(self.me, team.translate(team.my_pe, chime.WORLD))
                team.sync()
            else:
                self.assertEqual(-1, team.my_pe)
                with self.refused(chime.InvalidError, "no member"):
                    team.barrier()
        backwards = chime.WORLD.split_list(reversed(range(self.n)))
        self.assertEqual(self.n - 1 - self.me, backwards.my_pe)
        with self.assertRaises(KeyError), backwards:
            raise KeyError  # another member, which has met none, would wait in destroy() for ever
        self.assertTrue(backwards.is_member())
        backwards.destroy()
        self.assertFalse(backwards.is_member())
        with self.refused(chime.InvalidError, "destroyed"):
            backwards.sync()
        rows, columns = chime.WORLD.split_2d(2)
        self.assertEqual((self.me % 2, self.me // 2), (rows.my_pe, columns.my_pe))
        for team in (rows, columns):
            team.barrier(timeout=60)
            team.destroy()

    def test_have_lanes(self):
        with chime.WORLD.split_strided(0, 1, self.n) as team:
            with team.lane(1) as lane:  # leaving it leaves the team
                lane.barrier()
            team.barrier()
        chime.WORLD.lane(1).barrier()
        for lane in (1000, -1):
            with self.refused(chime.InvalidError, f"no lane {lane}"):
                chime.WORLD.lane(lane)

    def test_that_nobody_can_make_or_destroy_are_refused(self):
        with self.refused(chime.InvalidError, "split"):
            chime.WORLD.destroy()
        with self.refused(chime.InvalidError, "no team 99"):
            chime.Team(99).n_pes
        with self.refused(chime.InvalidError, "at least one PE"):
            chime.WORLD.split_2d(0)
        with self.refused(chime.InvalidError):
            chime.WORLD.split_list([0, 0])
        with self.refused(chime.Error):
            chime.WORLD.split_strided(0, 1, self.n + 1)
        chime.barrier()


class Collectives(OnAllPes):
    def arrays(self, n, dtype=np.float64, m=None):
        return chime.zeros(n, dtype), chime.zeros(m or n, dtype)

    def ways(self):
        """The keywords of a call that is over when it returns, and then those of a stream."""
        yield {}
        yield {"timeout": 60}
        with chime.Stream() as stream:
            yield {"stream": stream}

    def done(self, keywords):
        if "stream" in keywords:
            keywords["stream"].synchronize()

    def test_broadcast(self):
        dst, src = self.arrays(5)
        for root in range(self.n):
            for keywords in self.ways():
                src.np[:] = 10 * self.me + root
                dst.np[:] = -1
                chime.barrier()
                chime.WORLD.broadcast(dst, src, root, **keywords)
                self.done(keywords)
                self.assert_same([11 * root] * 5, dst.np)
        with self.refused(chime.InvalidError, f"no member {self.n}"):
            chime.WORLD.broadcast(dst, src, self.n)
        with self.refused(chime.InvalidError, "destination has 4 elements, and the collective needs 5"):
            chime.WORLD.broadcast(dst[1:], src, 0)

    def test_fcollect_and_collect(self):
        dst, src = self.arrays(3 * self.n, np.int32, 3)
        for keywords in self.ways():
            src.np[:] = [self.me, self.me + 10, self.me + 20]
            dst.np[:] = -1
            chime.barrier()
            chime.WORLD.fcollect(dst, src, **keywords)
            self.done(keywords)
            self.assert_same([pe + i for pe in range(self.n) for i in (0, 10, 20)], dst.np)
            chime.barrier()
            share = self.me % 3 + 1
            chime.WORLD.collect(dst, src[:share], **keywords)
            self.done(keywords)
            expected = [pe + 10 * i for pe in range(self.n) for i in range(pe % 3 + 1)]
            self.assert_same(expected, dst.np[: len(expected)])
        with self.refused(chime.InvalidError, f"needs {3 * self.n}"):
            chime.WORLD.fcollect(dst[1:], src)

    def test_alltoall_and_alltoalls(self):
        dst, src = self.arrays(2 * self.n, np.int64)
        wide, apart = self.arrays(4 * self.n, np.int16)
        for keywords in self.ways():
            src.np[:] = [100 * self.me + 10 * pe + i for pe in range(self.n) for i in (0, 1)]
            apart.np[:] = np.repeat(np.arange(2 * self.n), 2) + 100 * self.me
            chime.barrier()
            chime.WORLD.alltoall(dst, src, **keywords)
            self.done(keywords)
            self.assert_same([100 * pe + 10 * self.me + i for pe in range(self.n) for i in (0, 1)], dst.np)
            for stride in (1, 2):
                wide.np[:] = -1
                chime.barrier()
                chime.WORLD.alltoalls(wide, apart, stride, 2, 2, **keywords)
                self.done(keywords)
                expected = np.full(4 * self.n, -1)
                expected[: 2 * self.n * stride : stride] = [100 * pe + 2 * self.me + i for pe in range(self.n) for i in (0, 1)]
                self.assert_same(expected, wide.np)
                chime.barrier()
        with self.refused(chime.InvalidError, "stride"):
            chime.WORLD.alltoalls(wide, apart, 0, 1, 1)
        for to, source, name in ((wide, apart[1:], "source"), (wide[1:], apart, "destination")):
            with self.refused(chime.InvalidError, f"{name} has {4 * self.n - 1} elements, and the collective needs {4 * self.n}"):
                chime.WORLD.alltoalls(to, source, 1, 1, 4)
        if self.n > 1:
            with self.refused(chime.InvalidError, "share equally"):
                chime.WORLD.alltoall(dst[1:], src[1:])

    def test_alltoallv(self):
        room = 4
        dst, src = self.arrays(room * self.n, np.float32)
        src.np[:] = np.arange(room * self.n) + 1000 * self.me
        offsets, rooms = [room * pe for pe in range(self.n)], [room] * self.n
        counts = [(self.me + 2 * pe) % (room + 1) for pe in range(self.n)]
        chime.barrier()
        for keywords in ({}, {"timeout": 60}):
            dst.np[:] = -1
            chime.barrier()
            came = chime.WORLD.alltoallv(dst, src, rooms, offsets, counts, offsets, **keywords)
            self.assertEqual([(pe + 2 * self.me) % (room + 1) for pe in range(self.n)], came)
            for pe, count in enumerate(came):
                self.assert_same(1000 * pe + room * self.me + np.arange(count), dst.np[room * pe : room * pe + count])
                self.assert_same([-1] * (room - count), dst.np[room * pe + count : room * (pe + 1)])
            chime.barrier()
        with self.refused(chime.InvalidError, "one entry for each"):
            chime.WORLD.alltoallv(dst, src, rooms, offsets + [0], counts, offsets)
        with self.refused(chime.InvalidError, "none negative"):
            chime.WORLD.alltoallv(dst, src, rooms, offsets, [-1] * self.n, offsets)
        for name, rooms_of, counts_of in (("source", rooms, [room * self.n + 1] * self.n), ("destination", [room + 1] * self.n, counts)):
            with self.refused(chime.InvalidError, f"{name} has"):
                chime.WORLD.alltoallv(dst, src, rooms_of, offsets, counts_of, offsets)
        chime.barrier()
        with self.refused(chime.InvalidError, "no room"):
            chime.WORLD.alltoallv(dst, src, [0] * self.n, offsets, rooms, offsets)

    def test_reduce_by_every_operation(self):
        mine = lambda pe: (np.arange(1, 8) * (pe + 2)) % 13 + 1
        folds = {"sum": np.add, "prod": np.multiply, "min": np.minimum, "max": np.maximum, "and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor}
        for dtype in (np.int8, np.uint8, np.int32, np.uint64, np.float16, np.float32, np.float64):
            dst, src = self.arrays(7, dtype)
            for op, fold in folds.items():
                if np.dtype(dtype).kind == "f" and op in ("and", "or", "xor"):
                    with self.refused(chime.InvalidError, op):
                        chime.WORLD.reduce(dst, src, op)
                    continue
                with self.subTest(dtype=dtype, op=op):
                    src.np[:] = mine(self.me).astype(dtype)
                    chime.barrier()
                    chime.WORLD.reduce(dst, src, op)
                    expected = mine(0).astype(dtype)
                    for pe in range(1, self.n):
                        expected = fold(expected, mine(pe).astype(dtype))
                    if dtype is np.float16 and op == "prod":  # rounded at the end alone
                        np.testing.assert_allclose(dst.np, expected, rtol=2e-3)
                    else:
                        self.assert_same(expected, dst.np)
            dst.free()
            src.free()
        dst, src = self.arrays(2)
        with self.refused(chime.InvalidError, "maxloc"):
            chime.WORLD.reduce(dst, src, "avg")
        with self.refused(chime.InvalidError, "destination has 1 elements, and the collective needs 2"):
            chime.WORLD.reduce(dst[1:], src)
        for dtype in (np.longdouble, np.complex64, np.bool_):
            with self.refused(chime.InvalidError, f"'sum' does not take elements of type {np.dtype(dtype)}"):
                chime.WORLD.reduce(*self.arrays(2, dtype))

    def test_maxloc_finds_the_member(self):
        dst, src = self.arrays((3, 2))
        src.np[:] = [[self.me, self.me], [-self.me, self.me], [7, self.me]]
        chime.barrier()
        chime.WORLD.reduce(dst, src, "maxloc")
        self.assert_same([[self.n - 1, self.n - 1], [0, 0], [7, 0]], dst.np)
        with self.refused(chime.InvalidError, "value and location"):
            chime.WORLD.reduce(dst.reshape(6), src.reshape(6), "maxloc")
        for to, source in ((dst, src.reshape(6)[1:5].reshape(2, 2)), (dst.reshape(6)[1:5].reshape(2, 2), src)):  # not at a pair's address
            with self.refused(chime.InvalidError, "value and location"):
                chime.WORLD.reduce(to, source, "maxloc")
        with self.refused(chime.InvalidError, "reduce alone"):
            chime.WORLD.reducescatter(dst, src, "maxloc")

    def test_reducescatter_and_scans(self):
        dst, src = self.arrays(2, np.int32, 2 * self.n)
        below, mine = self.arrays(2, np.int32)
        for keywords in ({}, *({"stream": stream} for stream in [chime.Stream()])):
            src.np[:] = np.arange(2 * self.n) + 100 * self.me
            mine.np[:] = [self.me + 1, 10]
            chime.barrier()
            chime.WORLD.reducescatter(dst, src, **keywords)
            self.done(keywords)
            everyone = 100 * self.n * (self.n - 1) // 2
            self.assert_same([self.n * (2 * self.me + i) + everyone for i in (0, 1)], dst.np)
            chime.WORLD.inscan(below, mine, **keywords)
            self.done(keywords)
            self.assert_same([(self.me + 1) * (self.me + 2) // 2, 10 * (self.me + 1)], below.np)
            chime.WORLD.exscan(below, mine, **keywords)
            self.done(keywords)
            self.assert_same([self.me * (self.me + 1) // 2, 10 * self.me], below.np)
            chime.barrier()
        if self.n > 1:
            with self.refused(chime.InvalidError, "share equally"):
                chime.WORLD.reducescatter(dst, src[1:])

    def test_go_wrong_with_a_sentence(self):
        dst, src = self.arrays(4)
        with self.refused(chime.InvalidError, "element types differ"):
            chime.WORLD.reduce(dst, chime.zeros(4, np.float32))
        with self.refused(chime.InvalidError, "byte order"):
            chime.WORLD.reduce(chime.zeros(4, ">f8"), chime.zeros(4, ">f8"))
        with self.refused(chime.InvalidError, "contiguous"):
            chime.WORLD.reduce(dst[::2], src[::2])
        with self.refused(chime.InvalidError, "no symmetric array"):
            chime.WORLD.reduce(dst, np.zeros(4))
        with chime.Stream() as stream, self.refused(chime.InvalidError, "no timeout"):
            chime.barrier(timeout=1, stream=stream)

    def test_that_a_member_does_not_call_end_at_their_timeout(self):
        dst, src = self.arrays(self.n)
        one, places = [1] * self.n, list(range(self.n))
        calls = (lambda team: team.barrier(timeout=0.3), lambda team: team.barrier(timeout=0),
                 lambda team: team.alltoallv(dst, src, one, places, one, places, timeout=0.3))
        for call in calls:
            team = chime.WORLD.split_strided(0, 1, self.n)
            began = time.monotonic()
            if self.n > 1 and self.me == 0:
                with self.refused(chime.TimeoutError):
                    call(team)
                self.assertLess(time.monotonic() - began, 15)  # not by CHIME_TIMEOUT
            elif self.n == 1:
                call(team)
        chime.WORLD.lane(2).sync()


if __name__ == "__main__":
    main()
