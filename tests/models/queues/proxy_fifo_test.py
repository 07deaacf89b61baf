#!/usr/bin/env python3
"""The proxy's FIFO: README.md. `--soak` adds the larger searches."""

import sys
import unittest

from queues.proxy_fifo import Fifo, check

SHORT = Fifo(answers=2)                  # the only slot is used again and again
SHARED = Fifo(words=1)                   # so is the only answer
LONG = Fifo(requests=1, depth=2, answers=2)  # no slot and no answer is used twice
SILENT = Fifo(answers=2, silent=0, words=1, requests=3)
MIXED = Fifo(depth=2, answers=2)


class Protocol(unittest.TestCase):
    def expect_right(self, fifo):
        wrong, states = check(fifo)
        print(f"{self.id().split('.')[-1]}: {states} states")
        self.assertEqual(wrong, "")

    def test_slots_used_again(self):
        self.expect_right(SHORT._replace(threads=1, requests=3))
        self.expect_right(SHORT._replace(requests=1))

    def test_answers_used_again(self):
        self.expect_right(SHARED)

    def test_slots_used_once(self):
        self.expect_right(LONG)

    def test_a_request_that_does_not_end_holds_up_no_other(self):
        self.expect_right(SILENT)


class PlantedFaults(unittest.TestCase):
    def expect_found(self, what, *faults, fifo=SHORT):
        self.assertEqual(check(fifo._replace(faults=frozenset(faults)))[0], what)

    def expect_one_of(self, what, *faults, fifo=SHORT):
        self.assertIn(check(fifo._replace(faults=frozenset(faults)))[0], what)

    def test_data_not_released(self):
        self.expect_found("data late", "no fence before the request", fifo=LONG)

    def test_words_not_acquired(self):
        self.expect_found("data late", "no fence behind the words", fifo=LONG)

    def test_one_lap_bit_a_slot(self):  # the second word is from the lap before
        self.expect_found("torn", "one lap bit a slot")

    def test_no_lap_bit(self):
        self.expect_found("old request", "no lap bit", fifo=SHORT._replace(words=1))

    def test_room_not_waited_for(self):
        self.expect_one_of(("torn", "old request", "deadlock"), "no room wait")

    def test_ended_before_it_is_done(self):
        self.expect_one_of(("data changed", "value late"), "ended before it is done")

    def test_end_stored_relaxed(self):
        self.expect_found("value late", "end stored relaxed", fifo=LONG)

    def test_end_not_acquired(self):
        self.expect_found("value late", "end not acquired", fifo=LONG)

    def test_end_of_another_lap_believed(self):
        self.expect_one_of(("value late", "value changed"), "any end believed", fifo=SHARED)

    def test_answer_freed_before_it_is_read(self):
        self.expect_one_of(("value late", "value changed"), "freed before it is read", fifo=SHARED)

    def test_by_the_letter_room_is_acquired(self):
        self.assertNotEqual(check(SHORT._replace(by_the_letter=True))[0], "")


class Soak(unittest.TestCase):
    def test_slots_used_again_by_two(self):
        self.assertEqual(check(SHORT)[0], "")

    def test_slots_used_again_by_the_letter(self):
        self.assertEqual(check(SHORT._replace(by_the_letter=True, acquires_room=True))[0], "")

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
