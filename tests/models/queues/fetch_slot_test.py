#!/usr/bin/env python3
"""Results in the queue's own memory: README.md. `--soak` adds the larger searches."""

import sys
import unittest

from queues.fetch_slot import Slot, check

BUSY = Slot()
LAPS = Slot(counts_laps=True)


class Protocol(unittest.TestCase):
    def expect_right(self, slot):
        wrong, states = check(slot)
        print(f"{self.id().split('.')[-1]}: {states} states")
        self.assertEqual(wrong, "")

    def test_busy_word(self):
        self.expect_right(BUSY)

    def test_busy_word_by_the_letter(self):
        self.expect_right(BUSY._replace(by_the_letter=True))

    def test_a_word_that_counts_laps_needs_no_acquire(self):
        self.expect_right(LAPS)


class PlantedFaults(unittest.TestCase):
    def expect_found(self, what, *faults, slot=BUSY):
        self.assertEqual(check(slot._replace(faults=frozenset(faults)))[0], what)

    def test_room_not_acquired(self):  # an old 0 of the busy word is found
        self.expect_found("result overwritten", "no fence at the room")

    def test_busy_word_set_behind_the_request(self):
        self.expect_found("result overwritten", "no fence at the turn")

    def test_result_not_acquired(self):
        for slot in (BUSY, LAPS):
            self.expect_found("result late", "no fence at the result", slot=slot)

    def test_freed_before_the_result_is_read(self):
        for slot in (BUSY, LAPS):
            self.expect_found("result overwritten", "freed relaxed", slot=slot)


class Soak(unittest.TestCase):
    def test_three_threads(self):
        for slot in (BUSY, LAPS):
            self.assertEqual(check(slot._replace(threads=3))[0], "")


if __name__ == "__main__":
    soak = "--soak" in sys.argv
    arguments = [argument for argument in sys.argv if argument != "--soak"]
    if not soak:
        del Soak
    unittest.main(argv=arguments)
