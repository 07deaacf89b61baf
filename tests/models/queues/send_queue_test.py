#!/usr/bin/env python3
"""The send queue's protocol over all interleavings, strong memory: README.md. `--soak` adds larger searches."""

import itertools
import random
import sys
import unittest

from queues.send_queue import check
from queues.send_queue_state import QUIET, Op, Queue

PLAIN, WAITS = Op(1), Op(1, wait=True)
MORE, PAIR, MORE_PAIR = Op(1, more=True), Op(2, wait=True), Op(2, more=True)
WIDE = Op(2, tail=1, wait=True)
SWAPPED = Op(3, tail=1, wait=True)      # data, and a signal that is a swap
GATHERED = Op(3, tail=2)                # one request of a warp's elements
KINDS = (PLAIN, WAITS, MORE, PAIR, MORE_PAIR)

# depth >= batch - 1 + the largest submission
SMALL = Queue(depth=4, batch=3)


def programs(threads, length, kinds=KINDS):
    """All mixes of `threads` programs of `length` submissions. No call ends with MORE."""
    whole = [p for p in itertools.product(kinds, repeat=length) if not p[-1].more]
    return itertools.combinations_with_replacement(whole, threads)


def sweep(queue, mixes):
    """(what is wrong or "", programs, states). Stops at the first mix that fails."""
    count = states = 0
    for mix in mixes:
        wrong, seen = check(queue, mix)
        count, states = count + 1, states + seen
        if wrong:
            return f"{wrong}: {mix}", count, states
    return "", count, states


def with_faults(queue, *faults):
    return queue._replace(faults=frozenset(faults))


class Protocol(unittest.TestCase):
    def expect_right(self, queue, mixes):
        wrong, count, states = sweep(queue, mixes)
        print(f"{self.id().split('.')[-1]}: {count} programs, {states} states")
        self.assertEqual(wrong, "")

    def test_two_threads_of_two_submissions(self):
        self.expect_right(SMALL, programs(2, 2))

    def test_three_threads_of_one_submission(self):
        self.expect_right(SMALL, programs(3, 1))

    def test_a_batch_of_two(self):
        self.expect_right(Queue(depth=4, batch=2), programs(2, 2))

    def test_requests_with_a_tail(self):
        # The tail needs no more depth, though `done` lags behind by it: edges count from `done`.
        self.expect_right(SMALL, programs(2, 2, (PLAIN, WAITS, WIDE, MORE)))

    def test_data_with_a_signal_that_has_a_tail(self):
        self.expect_right(Queue(depth=5, batch=3), programs(2, 2, (PLAIN, WAITS, SWAPPED, MORE)))

    def test_a_long_tail(self):
        self.expect_right(Queue(depth=5, batch=3),
                          programs(2, 2, (PLAIN, GATHERED, SWAPPED, MORE)))
        self.expect_right(Queue(depth=6, batch=4), programs(2, 2, (PLAIN, GATHERED, MORE_PAIR)))

    def test_quiet(self):
        self.expect_right(Queue(depth=5, batch=3), programs(2, 2, (PLAIN, WIDE, GATHERED, QUIET)))

    def test_giving_up_at_every_step_leaves_no_thread_waiting(self):
        self.expect_right(SMALL._replace(give_up=True), programs(2, 2, (PLAIN, PAIR, MORE)))

    def test_giving_up_with_three_threads(self):
        self.expect_right(SMALL._replace(give_up=True), programs(3, 1, (PLAIN, PAIR, QUIET)))


class PlantedFaults(unittest.TestCase):
    def expect_found(self, what, queue, mixes):
        wrong, _, _ = sweep(queue, mixes)
        self.assertTrue(wrong.startswith(what), f"expected to find '{what}', found '{wrong}'")

    def test_owed_bit_dropped(self):
        mixes = programs(2, 2, (PLAIN, WAITS, MORE))
        self.expect_found("deadlock", with_faults(SMALL, "owed dropped"), with_stragglers(mixes))

    def test_no_doorbell_at_the_edge(self):
        self.expect_found("deadlock", with_faults(SMALL, "no edge"), programs(2, 3))

    def test_record_not_written(self):
        self.expect_found("record behind its doorbell", with_faults(SMALL, "no record"),
                          programs(2, 1))

    def test_slot_reused_before_completion(self):
        self.expect_found("overwrite", with_faults(SMALL, "no slot wait"), programs(2, 3))

    def test_too_shallow_for_the_batch(self):
        self.expect_found("deadlock", Queue(depth=2, batch=4), programs(3, 1))

    def test_too_shallow_for_a_signal_that_has_a_tail(self):
        self.expect_found("deadlock", Queue(depth=4, batch=3),
                          programs(2, 2, (PLAIN, SWAPPED, MORE, MORE_PAIR)))

    def test_edges_counted_from_the_end_of_a_request_with_a_tail(self):
        self.expect_found("deadlock", with_faults(Queue(depth=5, batch=3), "edge from the end"),
                          programs(2, 2, (PLAIN, GATHERED, SWAPPED, MORE, MORE_PAIR)))

    def test_leaving_without_a_word(self):  # the thread that left owed the doorbell
        self.expect_found("lost doorbell",
                          with_faults(SMALL._replace(give_up=True), "leaves quietly"),
                          programs(2, 2))

    def test_request_with_a_tail_waited_for_to_its_end(self):
        self.expect_found("deadlock", with_faults(SMALL, "waits for the end"),
                          programs(1, 1, (WIDE,)))

    def test_quiet_that_does_not_know_of_a_tail(self):
        self.expect_found("deadlock", with_faults(SMALL, "tail dropped"),
                          [((WIDE._replace(wait=False), QUIET),)])

    def test_counter_taken_for_the_end_of_the_request(self):
        self.expect_found("early", with_faults(SMALL, "counter taken for the end"), programs(2, 2))


def with_stragglers(mixes):
    """Adds what mixes cannot say: after its MORE, a thread waits for another thread's completion."""
    return itertools.chain([((WAITS,), (MORE,))], mixes)


def some_of(mixes, count):
    mixes = list(mixes)
    random.Random(7).shuffle(mixes)
    return mixes[:count]


class Soak(unittest.TestCase):
    def expect_right(self, queue, mixes):
        self.assertEqual(sweep(queue, mixes)[0], "")

    def test_three_threads_of_two_submissions(self):
        self.expect_right(Queue(depth=5, batch=4), some_of(programs(3, 2), 60))

    def test_two_threads_of_three_submissions(self):
        self.expect_right(SMALL, some_of(programs(2, 3), 1000))

    def test_giving_up_in_longer_programs(self):
        self.expect_right(SMALL._replace(give_up=True), programs(2, 2))


if __name__ == "__main__":
    soak = "--soak" in sys.argv
    arguments = [argument for argument in sys.argv if argument != "--soak"]
    if not soak:
        del Soak
    unittest.main(argv=arguments)
