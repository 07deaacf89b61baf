#!/usr/bin/env python3
"""Paths that hosts open on demand, over all interleavings: README.md. `--soak` adds the larger searches."""

import sys
import unittest

from connections.opening import check
from connections.opening_state import Job

ONE, BOTH = ((0, 1),), ((0, 1), (1, 0))
RING = ((0, 1), (1, 2), (2, 0))     # each waits for the next
EACH = tuple((pe, peer) for pe in range(3) for peer in range(3) if pe != peer)


def some(*of):
    return frozenset(of)


EVERYBODY = some(0, 1)


class Protocol(unittest.TestCase):
    def expect_right(self, **job):
        wrong, states = check(Job(**job))
        print(f"{self.id().split('.')[-1]}: {states} states")
        self.assertEqual(wrong, "")

    def expect_right_whoever_asks(self, **job):
        for wants in (ONE, BOTH):
            self.expect_right(wants=wants, **job)

    def test_one_asks_or_both(self):
        self.expect_right_whoever_asks()

    def test_more_places_than_peers_change_nothing(self):
        self.expect_right_whoever_asks(places=(2, 2))

    def test_no_place_at_one_or_at_both(self):
        for places in ((1, 0), (0, 1), (0, 0)):
            self.expect_right_whoever_asks(places=places)

    def test_they_do_not_fit_together(self):
        for misfits in ((0, 1),), ((1, 0),), BOTH:
            self.expect_right_whoever_asks(misfits=frozenset(misfits))

    def test_connecting_fails_halfway(self):
        for breaks in ((0, 1),), ((1, 0),), BOTH:
            self.expect_right_whoever_asks(breaks=frozenset(breaks))

    def test_a_pe_dies_in_each_state(self):
        for is_watched in (False, True):
            self.expect_right_whoever_asks(mortal=EVERYBODY, is_watched=is_watched)
            self.expect_right_whoever_asks(mortal=EVERYBODY, is_watched=is_watched, places=(1, 0))
            self.expect_right_whoever_asks(mortal=EVERYBODY, is_watched=is_watched, misfits=some((0, 1)))

    def test_a_pe_leaves_in_each_state(self):
        self.expect_right_whoever_asks(leavers=EVERYBODY)

    def test_two_that_live_lose_each_other(self):
        self.expect_right_whoever_asks(cuts=frozenset(BOTH))
        self.expect_right_whoever_asks(cuts=frozenset(BOTH), misfits=some((0, 1)))

    def test_three_in_a_ring_with_a_place_each(self):
        self.expect_right(wants=RING, places=(1, 1, 1))

    def test_three_want_each_other_with_a_place_each(self):
        self.expect_right(wants=EACH, places=(1, 1, 1))

    def test_three_with_places_for_all(self):
        self.expect_right(wants=(*RING, (1, 0)), places=(2, 2, 2))

    def test_one_of_three_dies(self):
        self.expect_right(wants=RING, places=(1, 1, 1), mortal=some(0), is_watched=True)
        self.expect_right(wants=RING, places=(1, 2, 1), mortal=some(1))


class PlantedFaults(unittest.TestCase):
    def expect_found(self, what, fault, wants=BOTH, **job):
        self.assertEqual(check(Job(wants, faults=some(fault), **job))[0], what)

    # ---- Posts

    def test_a_receipt_before_it_accepts(self):
        self.expect_found("a post to a queue pair that is not ready", "a receipt before it accepts")

    def test_usable_when_it_has_accepted(self):
        self.expect_found("a post to a queue pair that is not ready", "usable when it has accepted", wants=ONE)

    def test_a_receipt_that_opens_what_is_refused(self):
        self.expect_found("answered twice", "a late receipt opens", misfits=some((0, 1)))

    # ---- Places

    def test_a_second_place_for_crossing_offers(self):
        self.expect_found("two places for one peer", "a second place for crossing offers", places=(2, 2))

    def test_a_place_that_is_not_freed(self):
        self.expect_found("a place is lost", "a place is not freed", wants=ONE, places=(1, 0))

    def test_a_connected_place_that_is_freed(self):
        fault = "connected places are freed"
        self.expect_found("a live queue pair is closed", fault, wants=ONE, mortal=EVERYBODY)
        self.expect_found("a live queue pair is closed", fault, wants=ONE, breaks=some((1, 0)))

    def test_an_initiator_that_waits_for_a_place(self):
        self.expect_found("waits for ever", "waits for a place", wants=RING, places=(1, 1, 1))

    # ---- Answers

    def test_an_offer_that_an_initiator_ignores(self):
        self.expect_found("a receipt for nothing", "an initiator ignores an offer")

    def test_an_offer_to_a_pe_that_has_refused(self):
        self.expect_found("waits for ever", "an offer after a refusal is ignored", places=(1, 0))

    def test_an_offer_to_a_pe_that_has_no_place(self):
        self.expect_found("waits for ever", "no refusal where there is no place", wants=ONE, places=(1, 0))

    def test_a_misfit_that_is_not_reported(self):
        self.expect_found("waits for ever", "a misfit is not reported", wants=ONE, misfits=some((1, 0)))

    def test_a_refusal_that_is_answered(self):
        self.expect_found("messages without end", "a refusal is answered", wants=ONE, places=(1, 0))

    def test_a_receipt_that_overtakes_the_offer(self):
        self.expect_found("a receipt for nothing", "the receipt comes first", wants=ONE)
        self.expect_found("a receipt for nothing", "an offer outside the lock")

    # ---- PEs that die or leave

    def test_a_loss_that_is_nothing(self):
        for state in ("asked", "connecting"):
            self.expect_found("waits for ever", f"a loss is nothing when {state}", mortal=EVERYBODY)

    def test_a_death_that_others_have_found(self):
        self.expect_found("waits for ever", "no answer for a dead peer", wants=ONE, mortal=EVERYBODY,
                          is_watched=True)

    def test_a_goodbye(self):
        self.expect_found("waits for ever", "a goodbye is not reported", wants=ONE, leavers=EVERYBODY)

    def test_a_loss_that_is_kept_to_oneself(self):
        self.expect_found("waits for ever", "a loss is kept to oneself", wants=ONE, cuts=some((1, 0)))


class Soak(unittest.TestCase):
    def expect_right(self, **job):
        self.assertEqual(check(Job(**job))[0], "")

    def test_each_wants_each_other(self):
        for places in (2, 2, 2), (1, 2, 1), (2, 1, 0):
            self.expect_right(wants=EACH, places=places)

    def test_each_wants_each_other_and_one_dies(self):
        self.expect_right(wants=EACH, places=(1, 1, 1), mortal=some(0, 1, 2), is_watched=True)

    def test_two_die(self):
        self.expect_right(wants=RING, places=(1, 1, 1), mortal=some(0, 1), deaths=2)

    def test_each_wants_each_other_and_two_lose_each_other(self):
        self.expect_right(wants=EACH, places=(1, 1, 1), cuts=some((0, 1), (2, 0)), misfits=some((1, 2)))


if __name__ == "__main__":
    soak = "--soak" in sys.argv
    arguments = [argument for argument in sys.argv if argument != "--soak"]
    if not soak:
        del Soak
    unittest.main(argv=arguments)
