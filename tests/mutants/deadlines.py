"""How long a run may go on to begin rows, and what it is worth."""

import time

from build_folder import BUILD_SECONDS
from faults import RUN_SECONDS

TEST_SECONDS = 1500  # after which CTest ends a run: CMakeLists.txt
LONG_SECONDS = TEST_SECONDS - BUILD_SECONDS - RUN_SECONDS  # what is begun then still ends in time


class NoTimeLeft(Exception):
    """It was not run: the seconds that were given are over."""


class Deadline:
    """0 seconds: there is none."""

    def __init__(self, seconds):
        self.seconds = seconds
        self.at = time.monotonic() + seconds if seconds else None

    def check(self):
        if self.at and time.monotonic() > self.at:
            raise NoTimeLeft


def seconds_to_begin(seconds, is_changed):
    """For how long rows are begun, of `seconds` that the caller gives; 0: for ever. A changed row, which was killed with other files,
    has as long as the test may take: a change that takes a test's teeth must not pass. Others wait for a later run."""
    if not seconds:
        return 0
    return max(seconds, LONG_SECONDS) if is_changed else seconds / 4


def exit_status(wanted, run, killed):
    """Of a run of `wanted` rows, which are some, that ran `run` of them and saw `killed` die: one that ran none proves nothing."""
    return 0 if wanted and run and killed == run else 1
