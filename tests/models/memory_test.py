#!/usr/bin/env python3
"""What the memories of memory.py allow: litmus tests with known answers. README.md has the rules."""

import unittest

from memory import Strong, Weak

X, Y = range(2)


def store(word, value, release=False):
    return lambda memory, me: [(None, after) for after in memory.store(me, word, value, release)]


def load(word, acquire=False):
    return lambda memory, me: memory.load(me, word, acquire)


def add(word, difference, release=False):
    return lambda memory, me: memory.update(me, word, lambda value: value + difference, release)


def fence(acquire=False, release=False):
    return lambda memory, me: [(None, memory.fence(me, acquire, release))]


def outcomes(*programs, memory=None):
    """The values that the programs' loads and atomics may find: a set with one tuple per execution."""
    memory = memory or Weak.of((0, 0), len(programs))
    seen, found = set(), set()

    def run(at, memory, values):
        if (at, memory, values) in seen:
            return
        seen.add((at, memory, values))
        if all(step == len(program) for step, program in zip(at, programs)):
            found.add(tuple(value for mine in values for value in mine))
        for me, program in enumerate(programs):
            if at[me] == len(program):
                continue
            for value, after in program[at[me]](memory, me):
                mine = values[me] if value is None else values[me] + (value,)
                run(at[:me] + (at[me] + 1,) + at[me + 1:], after.trimmed(),
                    values[:me] + (mine,) + values[me + 1:])

    run((0,) * len(programs), memory, ((),) * len(programs))
    return found


class MessagePassing(unittest.TestCase):
    def reader_of(self, *tail):
        return [load(Y), *tail, load(X)]

    def test_relaxed_passes_nothing_on(self):
        self.assertIn((1, 0), outcomes([store(X, 1), store(Y, 1)], self.reader_of()))

    def test_a_release_alone_or_an_acquire_alone_is_not_enough(self):
        fenced = self.reader_of(fence(acquire=True))
        self.assertIn((1, 0), outcomes([store(X, 1), store(Y, 1, release=True)], self.reader_of()))
        self.assertIn((1, 0), outcomes([store(X, 1), store(Y, 1)], fenced))

    def test_release_and_acquire(self):
        writers = ([store(X, 1), store(Y, 1, release=True)],
                   [store(X, 1), fence(release=True), store(Y, 1)])
        readers = ([load(Y, acquire=True), load(X)], self.reader_of(fence(acquire=True)))
        for writer in writers:
            for reader in readers:
                self.assertEqual(outcomes(writer, reader), {(0, 0), (0, 1), (1, 1)})

    def test_a_release_fence_does_not_cover_what_is_read_or_stored_behind_it(self):
        writer = [fence(release=True), store(X, 1), store(Y, 1)]
        self.assertIn((1, 0), outcomes(writer, [load(Y, acquire=True), load(X)]))

    def test_strong_memory_needs_no_order(self):
        found = outcomes([store(X, 1), store(Y, 1)], self.reader_of(), memory=Strong((0, 0)))
        self.assertEqual(found, {(0, 0), (0, 1), (1, 1)})


class Chains(unittest.TestCase):
    WRITER = [store(X, 1), store(Y, 1, release=True)]
    READER = [load(Y, acquire=True), load(X)]

    def test_an_atomic_hands_on_what_it_finds(self):
        found = outcomes(self.WRITER, [add(Y, 1)], self.READER)
        self.assertNotIn((1, 2, 0), found)
        self.assertIn((1, 2, 1), found)

    def test_a_store_does_not(self):
        self.assertIn((1, 2, 0), outcomes(self.WRITER, [load(Y), store(Y, 2)], self.READER))

    def test_a_release_fence_passes_on_relaxed_reads_only_after_an_acquire(self):
        hands_on = [load(Y), fence(release=True), store(Y, 2)]
        self.assertIn((1, 2, 0), outcomes(self.WRITER, hands_on, self.READER))
        hands_on = [load(Y), fence(acquire=True, release=True), store(Y, 2)]
        self.assertNotIn((1, 2, 0), outcomes(self.WRITER, hands_on, self.READER))


class NoTotalOrder(unittest.TestCase):
    def test_stores_come_after_later_loads(self):
        for release in (False, True):
            one = [store(X, 1, release), load(Y, acquire=True)]
            other = [store(Y, 1, release), load(X, acquire=True)]
            self.assertIn((0, 0), outcomes(one, other))

    def test_two_readers_see_two_stores_in_different_orders(self):
        readers = [load(X, acquire=True), load(Y)], [load(Y, acquire=True), load(X)]
        found = outcomes([store(X, 1, release=True)], [store(Y, 1, release=True)], *readers)
        self.assertIn((1, 0, 1, 0), found)

    def test_a_load_is_not_later_than_a_later_store(self):  # the models must reorder such steps themselves
        self.assertNotIn((1, 1), outcomes([load(X), store(Y, 1)], [load(Y), store(X, 1)]))


class Coherence(unittest.TestCase):
    def test_a_thread_never_goes_back(self):
        found = outcomes([store(X, 1), store(X, 2)], [load(X), load(X)])
        self.assertEqual(found, {(a, b) for a in range(3) for b in range(a, 3)})

    def test_stores_of_two_threads_pass_each_other(self):
        # In both words, the store that came first in its thread comes last.
        first, second = [store(X, 1), store(Y, 2)], [store(Y, 1), store(X, 2)]
        watcher = [load(X), load(X), load(Y), load(Y)]
        self.assertIn((2, 1, 2, 1), outcomes(first, second, watcher))
        fenced = [[one, fence(release=True), other] for one, other in (first, second)]
        self.assertIn((2, 1, 2, 1), outcomes(*fenced, watcher))

    def test_atomics_lose_no_addition(self):
        found = outcomes([add(X, 1)], [add(X, 1)], [add(X, 1)])
        self.assertEqual({tuple(sorted(values)) for values in found}, {(0, 1, 2)})

    def test_a_late_store_does_not_pass_one_that_was_read_but_by_the_letter(self):
        # The last program stores X after it saw Y. The program before it wrote Y after it had read X.
        programs = ([store(X, 1)], [load(X), store(Y, 1, release=True)],
                    [load(Y), store(X, 2), load(X)])
        for by_the_letter in (False, True):
            found = outcomes(*programs, memory=Weak.of((0, 0), 3, by_the_letter))
            self.assertEqual((1, 1, 1) in found, by_the_letter)


if __name__ == "__main__":
    unittest.main()
