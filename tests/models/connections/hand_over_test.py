#!/usr/bin/env python3
"""A path that a host hands over to kernels, over all interleavings: README.md. `--soak` adds the larger searches."""

import sys
import unittest

from connections.hand_over import check
from connections.hand_over_state import Job


class Protocol(unittest.TestCase):
    def expect_right(self, **job):
        wrong, states = check(Job(**job))
        print(f"{self.id().split('.')[-1]}: {states} states")
        self.assertEqual(wrong, "")

    def test_threads_that_touch_one_peer(self):
        self.expect_right(peers=(0,))
        self.expect_right(peers=(0, 0))
        self.expect_right(peers=(0, 0, 0), is_weak=False)

    def test_threads_that_touch_two_peers(self):
        self.expect_right(peers=(0, 1))
        self.expect_right(peers=(0, 0, 1), is_weak=False)

    def test_an_answer_that_no_thread_has_asked_for(self):
        self.expect_right(peers=(0, 0), unasked=True)

    def test_a_refusal_and_threads_that_give_up(self):
        self.expect_right(may_refuse=True, give_up=True, unasked=True)

    def test_an_answer_that_names_channels_of_many(self):
        self.expect_right(peers=(0, 0), may_share=True, unasked=True)
        self.expect_right(peers=(0, 1), may_share=True, may_refuse=True)
        self.expect_right(peers=(0, 0, 0), may_share=True, is_weak=False)

    def test_a_watch_and_a_quiet_of_other_threads(self):
        self.expect_right(watchers=1)
        self.expect_right(peers=(0,), watchers=1, syncs=True, unasked=True)


class PlantedFaults(unittest.TestCase):
    def expect_found(self, what, fault, **job):
        self.assertEqual(check(Job(faults=frozenset({fault}), **job))[0], what)

    def expect_orders_needed(self, what, *orders, **job):
        for order in orders:
            self.expect_found(what, f"{order} relaxed", **job)

    # ---- Asking

    def test_counted_before_the_bit(self):
        self.expect_found("waits for ever", "counted before the bit")

    def test_an_initiator_that_ends_before_it_counts(self):
        self.expect_found("waits for ever", "ends before it counts")

    def test_a_count_that_is_seen_behind_the_bits(self):
        self.expect_found("waits for ever", "counts after the bits", peers=(0, 1))

    def test_the_order_of_asking(self):
        self.expect_orders_needed("waits for ever", "asked's release", "asked's acquire")

    # ---- The answer, and what it leads to

    def test_an_answer_before_the_entry(self):
        self.expect_found("read before it is filled", "answer before the entry", is_weak=False)

    def test_the_order_of_the_answer(self):
        self.expect_orders_needed("read before it is filled", "answer's release", "answer's acquire")

    def test_a_route_before_the_channels(self):
        self.expect_found("read before it is filled", "route before the channels", is_weak=False)

    def test_the_order_of_the_route(self):
        self.expect_orders_needed("read before it is filled", "route's release", "route's acquire")

    def test_an_answer_that_no_thread_claims(self):
        self.expect_found("carried over twice", "no claim", is_weak=False)

    def test_channels_of_many_that_are_claimed(self):
        self.expect_found("read before it is filled", "shared channels are claimed", may_share=True, is_weak=False)

    def test_a_claim_that_is_not_kept(self):
        self.expect_found("waits for ever", "ends before it has carried over")

    # ---- Threads that look for touched channels

    def test_the_order_of_touched_bits(self):
        self.expect_orders_needed("read before it is filled", "touch's release", "touched bits' acquire", peers=(0,),
                                  watchers=1)

    def test_a_quiet_of_a_thread_that_does_not_acquire_the_post(self):
        self.expect_orders_needed("a touched channel is missed", "sync's release", "sync's acquire", peers=(0,), syncs=True)


class Soak(unittest.TestCase):
    def expect_right(self, **job):
        self.assertEqual(check(Job(**job))[0], "")

    def test_three_threads(self):
        self.expect_right(peers=(0, 0, 0))
        self.expect_right(peers=(0, 0, 1))

    def test_a_watch_and_a_quiet(self):
        self.expect_right(watchers=1, syncs=True, unasked=True)
        self.expect_right(peers=(0, 1), watchers=1, syncs=True)

    def test_three_peers(self):
        self.expect_right(peers=(0, 1, 2), unasked=True, is_weak=False)


if __name__ == "__main__":
    soak = "--soak" in sys.argv
    arguments = [argument for argument in sys.argv if argument != "--soak"]
    if not soak:
        del Soak
    unittest.main(argv=arguments)
