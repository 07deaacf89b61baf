#!/usr/bin/env python3
"""The proxy's FIFO: README.md. `--soak` adds the larger searches."""

import sys
import unittest

from proxy_fifo import Fifo, check

SHORT = Fifo()                           # each slot is used again and again
LONG = Fifo(requests=1, depth=2)         # none is
MIXED = Fifo(depth=2, requests=2)


class Protocol(unittest.TestCase):
    def expect_right(self, fifo):
        wrong, states = check(fifo)
        print(f"{self.id().split('.')[-1]}: {states} states")
        self.assertEqual(wrong, "")

    def test_slots_used_again(self):
        self.expect_right(SHORT)

    def test_slots_used_once(self):
        self.expect_right(LONG)

    def test_slots_used_again_by_the_letter(self):
        self.expect_right(SHORT._replace(by_the_letter=True, acquires_room=True))


class PlantedFaults(unittest.TestCase):
    def expect_found(self, what, *faults, fifo=SHORT):
        self.assertEqual(check(fifo._replace(faults=frozenset(faults)))[0], what)

    def test_data_not_released(self):
        self.expect_found("data late", "no fence before the request", fifo=LONG)

    def test_words_not_acquired(self):
        self.expect_found("data late", "no fence behind the words", fifo=LONG)

    def test_one_lap_bit_a_slot(self):  # the second word is the one of the lap before
        self.expect_found("torn", "one lap bit a slot")

    def test_no_lap_bit(self):
        self.expect_found("old request", "no lap bit", fifo=SHORT._replace(words=1))

    def test_room_not_waited_for(self):
        self.assertIn(check(SHORT._replace(faults=frozenset({"no room wait"})))[0], ("torn", "old request", "deadlock"))

    def test_told_before_it_is_done(self):
        self.assertIn(check(SHORT._replace(faults=frozenset({"told before it is done"})))[0],
                      ("data changed", "result late"))

    def test_done_told_relaxed(self):
        self.expect_found("result late", "done told relaxed", fifo=LONG)

    def test_done_not_acquired(self):
        self.expect_found("result late", "done not acquired", fifo=LONG)

    def test_seen_told_relaxed(self):
        self.expect_found("result late", "seen told relaxed", fifo=LONG)

    def test_result_not_acquired(self):
        self.expect_found("result late", "no fence at the result", fifo=LONG)

    def test_by_the_letter_room_is_acquired(self):
        self.assertNotEqual(check(SHORT._replace(by_the_letter=True))[0], "")


class Soak(unittest.TestCase):
    def test_two_slots_used_again(self):
        self.assertEqual(check(MIXED)[0], "")

    def test_three_threads(self):
        self.assertEqual(check(SHORT._replace(threads=3, requests=1))[0], "")


if __name__ == "__main__":
    soak = "--soak" in sys.argv
    arguments = [argument for argument in sys.argv if argument != "--soak"]
    if not soak:
        del Soak
    unittest.main(argv=arguments)
