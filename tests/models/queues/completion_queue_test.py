#!/usr/bin/env python3
"""Polling completions over all interleavings: README.md. `--soak` adds the larger searches."""

import sys
import unittest

from queues.completion_queue import Queue, check

COLLAPSED = Queue(ring=False, depth=5, cqes=1, total=22)
RING = Queue(ring=True, depth=4, cqes=4, total=20)
# A 3-bit index, which wraps among the failed requests.
FAILING = [queue._replace(wrap=8, depth=3, total=11, fails=at) for queue in (COLLAPSED, RING)
           for at in (0, 7)]
# Weak memory has many more states: a 2-bit index.
WEAK_COLLAPSED = Queue(ring=False, depth=2, cqes=1, total=5, wrap=4, is_weak=True)
WEAK_RING = Queue(ring=True, depth=1, cqes=2, total=5, wrap=4, is_weak=True)


def with_faults(queue, *faults):
    return queue._replace(faults=frozenset(faults))


class Protocol(unittest.TestCase):
    def expect_right(self, queue):
        wrong, states = check(queue)
        print(f"{self.id().split('.')[-1]}: {states} states")
        self.assertEqual(wrong, "")

    def test_collapsed(self):
        self.expect_right(COLLAPSED)

    def test_ring(self):
        self.expect_right(RING)

    def test_ring_larger_than_the_queue(self):
        self.expect_right(RING._replace(cqes=8))

    def test_slots_are_free_when_the_nic_is_through_with_failed_requests(self):
        for queue in FAILING:
            self.expect_right(queue)

    def test_weak_memory(self):
        for queue in (WEAK_COLLAPSED, WEAK_RING):
            self.expect_right(queue)

    def test_a_lone_poller_acquires_the_cqe_and_no_more(self):
        for queue in (WEAK_COLLAPSED, WEAK_RING):
            self.expect_right(with_faults(queue._replace(pollers=1), "first load not acquired",
                                          "moved without a release"))


class PlantedFaults(unittest.TestCase):
    def expect_found(self, what, queue):
        self.assertEqual(check(queue)[0], what)

    def test_cqe_read_before_done(self):
        self.expect_found("too far", with_faults(COLLAPSED, "cqe before done"))

    def test_cqe_read_before_done_and_not_checked(self):
        self.expect_found("too far", with_faults(COLLAPSED, "cqe before done", "no stale check"))

    def test_done_read_before_a_cqe_that_is_taken(self):
        self.expect_found("stuck", with_faults(RING, "done before cqe"))

    def test_queue_as_deep_as_the_index_is_long(self):
        self.expect_found("stuck", COLLAPSED._replace(depth=16, total=40))

    def test_owner_bit_ignored(self):
        self.expect_found("too far", with_faults(RING, "owner ignored", "no stale check"))

    def test_cqe_taken_without_comparing(self):
        self.expect_found("stuck", with_faults(RING, "no compare"))

    def test_fewer_cqes_than_requests(self):
        self.expect_found("stuck", RING._replace(cqes=2))

    def test_slot_taken_at_the_failure_of_an_earlier_request(self):
        for queue in FAILING:
            self.expect_found("too far", with_faults(queue, "failure ends those behind"))

    def test_slot_of_a_failed_request_never_taken(self):
        for queue in FAILING:
            self.expect_found("stuck", with_faults(queue, "failure not counted"))

    def test_failed_request_taken_for_a_complete_one(self):
        for queue in FAILING:
            self.expect_found("no data", with_faults(queue, "failure counted as done"))

    # Orders, in weak memory.

    def test_cqe_not_acquired(self):
        for queue in (WEAK_COLLAPSED, WEAK_RING):
            self.expect_found("data late", with_faults(queue, "cqe not acquired"))

    def test_done_moved_without_a_release(self):
        for queue in (WEAK_COLLAPSED, WEAK_RING):
            self.expect_found("data late", with_faults(queue, "moved without a release"))

    def test_wait_that_ends_without_an_acquire(self):
        for queue in (WEAK_COLLAPSED, WEAK_RING):
            self.expect_found("data late", with_faults(queue, "wait not acquired"))

    def test_cqe_older_than_done(self):
        self.expect_found("too far", with_faults(WEAK_COLLAPSED, "first load not acquired"))

    def test_cqe_of_the_lap_before_the_last(self):
        self.expect_found("too far", with_faults(WEAK_RING, "first load not acquired"))

    def test_cqe_that_overtakes_data(self):  # a NIC that needs kNicFlushReads
        for queue in (WEAK_COLLAPSED, WEAK_RING):
            self.expect_found("data late", with_faults(queue, "cqe overtakes data"))


class Soak(unittest.TestCase):
    def test_three_pollers(self):
        # A 3-bit index: with 4 bits three pollers have more states than a test may visit.
        for queue in (COLLAPSED, RING):
            small = queue._replace(pollers=3, wrap=8, depth=3, cqes=4 if queue.ring else 1, total=11)
            self.assertEqual(check(small)[0], "")

    def test_three_pollers_in_weak_memory(self):
        for queue in (WEAK_COLLAPSED, WEAK_RING):
            self.assertEqual(check(queue._replace(pollers=3, total=3))[0], "")


if __name__ == "__main__":
    soak = "--soak" in sys.argv
    arguments = [argument for argument in sys.argv if argument != "--soak"]
    if not soak:
        del Soak
    unittest.main(argv=arguments)
