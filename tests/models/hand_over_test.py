#!/usr/bin/env python3
"""A freshly connected peer, over all interleavings: README.md. `--soak` adds the larger searches."""

import sys
import unittest

from hand_over import Job, check


class Protocol(unittest.TestCase):
    def expect_right(self, job):
        wrong, states = check(job)
        print(f"{self.id().split('.')[-1]}: {states} states")
        self.assertEqual(wrong, "")

    def test_one_side_asks(self):
        self.expect_right(Job(threads=(2, 0)))

    def test_both_sides_ask(self):
        self.expect_right(Job(threads=(2, 1)))

    def test_who_gives_up_leaves_nobody_behind(self):
        self.expect_right(Job(threads=(2, 1), give_up=True))


class PlantedFaults(unittest.TestCase):
    def expect_found(self, what, fault, threads=(2, 1)):
        self.assertEqual(check(Job(threads=threads, faults=frozenset({fault})))[0], what)

    def test_published_before_it_is_filled(self):
        self.expect_found("entry not filled", "published before filled")

    def test_sending_before_the_peer_can_receive(self):
        self.expect_found("peer cannot receive", "does not wait for the peer", threads=(1, 0))

    def test_a_summary_told_before_the_flag(self):
        self.expect_found("waits for ever", "summary before flag", threads=(2, 0))

    def test_a_second_queue_pair_where_both_ask(self):
        self.expect_found("made twice", "begins again")


class Soak(unittest.TestCase):
    def test_two_threads_on_both_sides(self):
        self.assertEqual(check(Job(threads=(2, 2), give_up=True))[0], "")

    def test_three_threads(self):
        self.assertEqual(check(Job(threads=(3, 1)))[0], "")


if __name__ == "__main__":
    soak = "--soak" in sys.argv
    arguments = [argument for argument in sys.argv if argument != "--soak"]
    if not soak:
        del Soak
    unittest.main(argv=arguments)
