#!/usr/bin/env python3
"""Teams of members that live, over all interleavings: README.md. `--soak` adds the larger searches."""

import sys
import unittest

from meetings.shrink import Job, check


def all_of(pes):
    return frozenset(range(pes))


class Shrink(unittest.TestCase):
    def expect_right(self, **job):
        wrong, states = check(Job(**job))
        print(f"{self.id().split('.')[-1]}: {states} states")
        self.assertEqual(wrong, "")

    def test_all_come(self):
        self.expect_right(pes=4)

    def test_each_ones_time_may_be_over(self):
        self.expect_right(pes=3, impatient=all_of(3))

    def test_the_deciding_member_dies(self):
        self.expect_right(pes=3, mortal=frozenset({0}))

    def test_any_member_dies_and_times_are_over(self):
        self.expect_right(pes=3, mortal=all_of(3), impatient=all_of(3))

    def test_two_die(self):
        self.expect_right(pes=3, mortal=all_of(3), deaths=2)


class Faults(unittest.TestCase):
    def expect_found(self, what, fault, **job):
        self.assertEqual(check(Job(faults=frozenset({fault}), **job))[0], what)

    def test_one_that_gives_up_just_as_the_last_comes(self):
        self.expect_found("members differ", "decides without a proposal", impatient=frozenset({1}))

    def test_a_decision_that_not_all_have_accepted(self):
        self.expect_found("members differ", "does not wait until all have accepted", impatient=frozenset({2}))

    def test_a_member_that_gives_up_what_it_has_accepted(self):
        self.expect_found("members differ", "gives up what it has accepted", impatient=frozenset({1}))

    def test_one_that_gives_up_when_the_member_dies_that_proposed(self):
        self.expect_found("members differ", "forgets what it has accepted", mortal=frozenset({0}), impatient=frozenset({2}))

    def test_a_decision_of_one_that_was_passed_over(self):
        self.expect_found("members differ", "asks the dead", pes=4, mortal=frozenset({0, 1}), deaths=2)

    def test_one_that_dies_after_it_has_given_up(self):
        # Not mended: the deciding member leaves it out, and dies; the next ones find that it gave up.
        wrong, _ = check(Job(pes=4, mortal=frozenset({0, 1}), impatient=frozenset({1}), deaths=2))
        self.assertEqual(wrong, "members differ")


class Soak(unittest.TestCase):
    def test_four_members(self):
        self.assertEqual(check(Job(pes=4, mortal=all_of(4), impatient=all_of(4)))[0], "")

    def test_four_members_of_which_two_die(self):
        self.assertEqual(check(Job(pes=4, mortal=all_of(4), deaths=2))[0], "")


if __name__ == "__main__":
    soak = "--soak" in sys.argv
    arguments = [argument for argument in sys.argv if argument != "--soak"]
    if not soak:
        del Soak
    unittest.main(argv=arguments)
