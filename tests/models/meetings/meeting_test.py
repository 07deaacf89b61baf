#!/usr/bin/env python3
"""Collective host calls, over all interleavings: README.md. `--soak` adds the larger searches."""

import sys
import unittest

import meetings.meeting_by_messages as messages
import meetings.meeting_by_words as words


def all_of(pes):
    return frozenset(range(pes))


class ByMessages(unittest.TestCase):
    def expect_right(self, **job):
        wrong, states = messages.check(messages.Job(**job))
        print(f"{self.id().split('.')[-1]}: {states} states")
        self.assertEqual(wrong, "")

    def test_all_come(self):
        self.expect_right(pes=5, calls=2)

    def test_each_ones_time_may_be_over(self):
        self.expect_right(pes=3, calls=1, impatient=all_of(3))
        self.expect_right(pes=3, impatient=frozenset({0, 1}))

    def test_the_time_of_one_ends_the_call_for_all(self):
        for pe in range(4):
            self.expect_right(pes=4, calls=1, impatient=frozenset({pe}))

    def test_a_decider_that_is_stopped(self):
        self.expect_right(pes=3, impatient=frozenset({1, 2}), hasty=frozenset({1, 2}))

    def test_a_pe_dies(self):
        self.expect_right(pes=3, mortal=frozenset({1, 2}))
        self.expect_right(pes=4, calls=1, mortal=frozenset({1}))

    def test_a_pe_dies_and_times_are_over(self):
        self.expect_right(pes=3, calls=1, mortal=frozenset({2}), impatient=frozenset({0, 1}))

    def test_the_decider_dies(self):
        self.expect_right(pes=3, mortal=frozenset({0}))


class FaultsOfMessages(unittest.TestCase):
    def expect_found(self, what, fault, **job):
        self.assertEqual(messages.check(messages.Job(faults=frozenset({fault}), **job))[0], what)

    def test_a_pe_that_fails_by_itself(self):
        self.expect_found("met for some only", "fails by itself", impatient=frozenset({1}))

    def test_a_decider_that_decides_twice(self):
        self.expect_found("met for some only", "decides twice", impatient=frozenset({1}))

    def test_a_decision_before_all_have_come(self):
        self.expect_found("met before all have come", "does not wait for those below")

    def test_a_stopped_decider_that_does_not_look_before_it_decides(self):
        self.expect_found("met for some only", "decides before it has read", calls=1, impatient=frozenset({1}),
                          hasty=frozenset({1}))

    def test_a_verdict_that_does_not_tell_which_call_has_met(self):
        # PE 3 asks PE 0 directly about call 1, which has met, and another PE gives up call 2.
        self.expect_found("met for some only", "a verdict of one number", pes=4, impatient=frozenset({(3, 1), (2, 2)}))

    def test_a_verdict_that_others_do_not_get(self):
        self.expect_found("waits for ever", "keeps the verdict from others", impatient=frozenset({1}))

    def test_a_loss_that_is_not_reported(self):
        self.expect_found("waits for ever", "does not hear of a loss", mortal=frozenset({1}))


class ByWords(unittest.TestCase):
    def expect_right(self, **job):
        wrong, states = words.check(words.Job(**job))
        print(f"{self.id().split('.')[-1]}: {states} states")
        self.assertEqual(wrong, "")

    def test_all_come(self):
        self.expect_right(pes=4, calls=3)

    def test_each_ones_time_may_be_over(self):
        self.expect_right(pes=4, calls=2, impatient=all_of(4))


class FaultsOfWords(unittest.TestCase):
    def expect_found(self, what, fault, **job):
        self.assertEqual(words.check(words.Job(faults=frozenset({fault}), **job))[0], what)

    def test_a_pe_that_fails_by_itself(self):
        self.expect_found("met for some only", "fails by itself", calls=1, impatient=frozenset({1}))

    def test_a_verdict_that_is_changed(self):
        self.expect_found("met for some only", "settles twice", impatient=frozenset({1}))

    def test_a_later_verdict_taken_for_the_calls_own(self):
        self.expect_found("met for some only", "takes a later verdict for its own", impatient=frozenset({1}))

    def test_a_counter_that_is_full_too_early(self):
        self.expect_found("met before all have come", "a counter is full too early")


class Soak(unittest.TestCase):
    def test_each_ones_time_in_two_calls(self):
        self.assertEqual(messages.check(messages.Job(pes=3, impatient=all_of(3), hasty=all_of(3)))[0], "")

    def test_a_stopped_decider_of_four(self):
        job = messages.Job(pes=4, calls=1, impatient=frozenset({1, 3}), hasty=frozenset({3}))
        self.assertEqual(messages.check(job)[0], "")

    def test_five_pes_by_messages(self):
        job = messages.Job(pes=5, calls=1, impatient=frozenset({3}))
        self.assertEqual(messages.check(job)[0], "")

    def test_two_deaths(self):
        self.assertEqual(messages.check(messages.Job(pes=4, calls=1, mortal=frozenset({1, 2}), deaths=2))[0], "")

    def test_five_pes_by_words(self):
        self.assertEqual(words.check(words.Job(pes=5, calls=2, impatient=frozenset({0, 4})))[0], "")


if __name__ == "__main__":
    soak = "--soak" in sys.argv
    arguments = [argument for argument in sys.argv if argument != "--soak"]
    if not soak:
        del Soak
    unittest.main(argv=arguments)
