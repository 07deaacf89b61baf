"""How long a run may begin rows, and its exit status."""

import time

from build_folder import BUILD_SECONDS
from faults import RUN_SECONDS

TEST_SECONDS = 1500  # after which CTest ends a run: CMakeLists.txt
LONG_SECONDS = TEST_SECONDS - BUILD_SECONDS - RUN_SECONDS  # a row that begins then still ends in time


class NoTimeLeft(Exception):
    """The row was not run: the seconds of the caller are over."""


class Deadline:
    """0 seconds: there is none."""

    def __init__(self, seconds):
        self.seconds = seconds
        self.at = time.monotonic() + seconds if seconds else None

    def check(self):
        if self.at and time.monotonic() > self.at:
            raise NoTimeLeft


def seconds_to_begin(seconds, is_changed):
    """For how long rows are begun, of the caller's `seconds`; 0: without limit. A changed row, which was killed with other files, has as
    long as the test may take: a change that weakens a test must not pass. Others wait for a later run."""
    if not seconds:
        return 0
    return max(seconds, LONG_SECONDS) if is_changed else seconds / 4


def exit_status(wanted, run, killed):
    """For a run of `wanted` rows, at least one, that ran `run` of them and killed `killed`: a run of none proves nothing."""
    return 0 if wanted and run and killed == run else 1
