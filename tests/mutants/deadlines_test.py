#!/usr/bin/env python3
"""How long rows are begun, and that a run of no row fails."""

import pathlib
import re
import tempfile
import unittest

import deadlines
from copies import Copy

HERE = pathlib.Path(__file__).resolve().parent


class SlowBuild:
    """The time is over when it has built."""

    def __init__(self, deadline):
        self.deadline = deadline

    def make(self, targets):
        self.deadline.at = 1  # long ago


class Row:
    kind, name = "cpu", "row"

    def targets(self):
        return set()


class OfNoOracle(Copy):
    def oracle(self):
        return []

    def verdict(self, fault, words):
        return fault, True, "words", 0


class Seconds(unittest.TestCase):
    def test_a_changed_row_is_begun_for_as_long_as_the_test_may_take(self):
        self.assertEqual(deadlines.seconds_to_begin(60, is_changed=True), 600)
        self.assertEqual(deadlines.seconds_to_begin(1000, is_changed=True), 1000)

    def test_a_row_without_a_note_is_begun_in_the_first_quarter(self):
        self.assertEqual(deadlines.seconds_to_begin(60, is_changed=False), 15)

    def test_without_a_limit_all_are_begun(self):
        self.assertEqual([deadlines.seconds_to_begin(0, changed) for changed in (True, False)], [0, 0])
        deadlines.Deadline(0).check()

    def test_ctest_waits_for_what_is_begun_last(self):
        limit = int(re.search(r"mutants\.\$\{name\} .* TIMEOUT (\d+)", (HERE / "CMakeLists.txt").read_text()).group(1))
        self.assertEqual(deadlines.TEST_SECONDS, limit)


class RowsThatRun(unittest.TestCase):
    def test_what_is_built_runs_one_row_at_least(self):
        with tempfile.TemporaryDirectory() as folder:
            deadline = deadlines.Deadline(1000)
            copy = OfNoOracle([Row(), Row()], pathlib.Path(folder), SlowBuild(deadline), pathlib.Path(folder))
            self.assertEqual(len(copy.verdicts(deadline)), 1)

    def test_what_is_begun_too_late_is_not_built(self):
        with tempfile.TemporaryDirectory() as folder:
            deadline = deadlines.Deadline(1000)
            deadline.at = 1
            copy = OfNoOracle([Row()], pathlib.Path(folder), None, pathlib.Path(folder))
            self.assertEqual(copy.verdicts(deadline), [])

    def test_a_run_of_no_row_fails(self):
        self.assertNotEqual(deadlines.exit_status(wanted=3, run=0, killed=0), 0)

    def test_a_run_of_some_rows_passes_if_all_of_them_were_killed(self):
        self.assertEqual(deadlines.exit_status(wanted=3, run=2, killed=2), 0)
        self.assertNotEqual(deadlines.exit_status(wanted=3, run=2, killed=1), 0)


if __name__ == "__main__":
    unittest.main()
