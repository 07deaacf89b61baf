#!/usr/bin/env python3
"""The send queue's orders, in weak memory: README.md has the argument. `--soak` adds the larger searches."""

import itertools
import sys
import unittest

from queues.send_queue import check
from queues.send_queue_state import QUIET, Op, Queue

PLAIN, WAITS, MORE, PAIR = Op(1), Op(1, wait=True), Op(1, more=True), Op(2)

# No edge; one edge; a ring that is used again. depth >= batch - 1 + the largest submission.
WIDE = Queue(depth=4, batch=4, is_weak=True)
SMALL = Queue(depth=4, batch=3, is_weak=True)
TIGHT = Queue(depth=2, batch=2, is_weak=True)

THREE = ((PLAIN,), (PLAIN,), (PLAIN,))
TWO_OF_TWO = ((PLAIN, PLAIN), (PLAIN, PLAIN))
WITH_MORE = ((MORE, PLAIN), (PLAIN, PLAIN))
THREE_AND_ONE = ((PLAIN, PLAIN), (PLAIN,), (PLAIN,))


class Orders(unittest.TestCase):
    def expect_right(self, queue, *programs):
        for mix in programs:
            wrong, states = check(queue, mix)
            print(f"{self.id().split('.')[-1]}: {states} states", flush=True)
            self.assertEqual(wrong, "")

    def test_no_doorbell_but_the_last(self):
        self.expect_right(WIDE, THREE, TWO_OF_TWO, WITH_MORE, THREE_AND_ONE)

    def test_a_doorbell_at_an_edge(self):
        self.expect_right(SMALL, THREE, TWO_OF_TWO, WITH_MORE)

    def test_wqebbs_used_again(self):
        self.expect_right(TIGHT, THREE, TWO_OF_TWO, WITH_MORE, THREE_AND_ONE)

    def test_two_wqebbs_and_waiting(self):
        self.expect_right(SMALL, ((PAIR,), (WAITS, PLAIN)), ((PAIR, QUIET), (PLAIN,)))

    def test_by_the_letter_no_other_wait_needs_it(self):
        # No WQEBB is used again here.
        relaxed = WIDE._replace(by_the_letter=True, faults=frozenset({"no acquire at the room"}))
        self.expect_right(relaxed, THREE, TWO_OF_TWO, WITH_MORE)


class PlantedFaults(unittest.TestCase):
    def expect_found(self, what, *faults, queue=WIDE, programs=THREE):
        queue = queue._replace(faults=frozenset(faults))
        for kind in (queue, queue._replace(by_the_letter=True)):
            self.assertEqual(check(kind, programs)[0], what)

    # The turn has come at once, and another poster waits behind.

    def test_passed_on_without_a_release(self):
        self.expect_found("request not whole", "no release before passing on")

    # The poster waits for its turn.

    def test_requests_not_released_before_the_wait(self):
        self.expect_found("request not whole", "no release before the wait")

    # The poster that posts the doorbell.

    def test_no_fence_before_the_record(self):
        self.expect_found("request not whole", "no acquire before the record",
                          "no release before the record", programs=TWO_OF_TWO)

    def test_record_without_an_acquire(self):
        self.expect_found("request not whole", "no acquire before the record")

    def test_record_that_covers_own_requests_alone(self):
        # A NIC that still has the doorbell before this one reads this record too.
        self.expect_found("request not whole", "no release before the record")

    # Steps 8 and 9, with a doorbell.

    def test_doorbell_before_the_record_is_visible(self):
        self.expect_found("record behind its doorbell", "no release before the doorbell")

    def test_record_after_the_doorbell(self):
        self.expect_found("record behind its doorbell", "record after the doorbell")

    def test_published_before_the_doorbell(self):
        self.expect_found("doorbell goes back", "published before the doorbell", queue=TIGHT)

    def test_published_relaxed(self):
        self.expect_found("doorbell goes back", "published relaxed", queue=TIGHT)

    # Step 9, without a doorbell.

    def test_passed_on_by_a_store(self):
        self.expect_found("request not whole", "passed on by a store")

    # Step 3.

    def test_room_by_the_letter(self):
        self.expect_found("request not whole", "no acquire at the room", programs=TWO_OF_TWO,
                          queue=TIGHT._replace(by_the_letter=True))

    def test_slot_reused_before_completion(self):
        self.expect_found("overwrite", "no slot wait", queue=TIGHT, programs=TWO_OF_TWO)

    # What the model assumes of the NIC.

    def test_nic_that_reads_before_the_doorbell(self):
        self.expect_found("request not whole", "nic reads early")


class Soak(unittest.TestCase):
    def test_a_nic_that_stops_at_the_doorbell_needs_no_release_before_the_record(self):
        # The fence behind the record releases the requests, too.
        for queue in (WIDE, SMALL, TIGHT):
            kind = queue._replace(looks_ahead=False, faults=frozenset({"no release before the record"}))
            for mix in THREE, TWO_OF_TWO:
                self.assertEqual(check(kind, mix)[0], "")

    def test_by_the_letter_if_the_wait_for_room_acquires(self):
        for queue in (WIDE, SMALL, TIGHT):
            for mix in THREE, TWO_OF_TWO, WITH_MORE:
                self.assertEqual(check(queue._replace(by_the_letter=True), mix)[0], "")

    def test_three_threads_of_two_submissions(self):
        self.assertEqual(check(TIGHT, ((PLAIN, PLAIN),) * 3)[0], "")

    def test_all_mixes_of_two_threads(self):
        whole = [p for p in itertools.product((PLAIN, WAITS, MORE, PAIR), repeat=2) if not p[-1].more]
        for mix in itertools.combinations_with_replacement(whole, 2):
            self.assertEqual(check(SMALL, mix)[0], "", mix)


if __name__ == "__main__":
    soak = "--soak" in sys.argv
    arguments = [argument for argument in sys.argv if argument != "--soak"]
    if not soak:
        del Soak
    unittest.main(argv=arguments)
