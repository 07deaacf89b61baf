"""What PEs ask of a PMIx launcher, counted by a library in libpmix's place (pmix_counter.cpp)."""
import ctypes
import os
import re
import time
from dataclasses import dataclass

LINE = re.compile(r"PE (\d+) counted (\d+) puts of (\d+) keys, (\d+) commits, (\d+) queries, joined after (\S+) of (\S+) s, gets:(.*)")
# Between two askings of one question (bootstrap/pmix/pmix_asker.cpp): 1, 2, 4 to 32 ms, then 50.
SHORT_PAUSES, PAUSE_S = 6, 0.05
# Seconds after joining in which nobody asks a launcher who is gone, and between two questions later (bootstrap/pmix/pmix_client.cpp).
JOINING_S, QUERY_PAUSE_S = 1, 0.04


@dataclass
class Counts:
    puts: int
    keys: int
    commits: int
    queries: int
    joined_s: float  # when this PE knew all of its host
    seconds: float
    gets: dict  # (key, PE): how often it was sent

    def questions(self, *keys):
        """Of which PE was asked what, of these keys; sorted."""
        return sorted((key, pe) for key, pe in self.gets if key in keys)

    def most_gets_a_question(self):
        """So often it can have been sent at most in that time."""
        return 1 + SHORT_PAUSES + self.seconds / PAUSE_S

    def most_queries(self):
        return 0 if self.joined_s < JOINING_S else self.joined_s / QUERY_PAUSE_S


def path_of_libpmix():
    ctypes.CDLL("libpmix.so.2")
    with open("/proc/self/maps") as maps:
        return next(found[0] for line in maps if (found := re.search(r"/\S*libpmix\.so\S*", line)))


def counting(folder):
    """What stands before a PE's command; `folder` has the library."""
    return ["env", f"LD_LIBRARY_PATH={folder}:{os.environ.get('LD_LIBRARY_PATH', '')}", f"COUNTED_PMIX={path_of_libpmix()}"]


def counts_in(output):
    """By PE."""
    found = {}
    for pe, puts, keys, commits, queries, joined, seconds, gets in LINE.findall(output):
        by_question = {}
        for key, of, times in re.findall(r"chime\.0\.(\S+)@(\d+)=(\d+)", gets):
            by_question[key.removeprefix("chime."), int(of)] = int(times)
        found[int(pe)] = Counts(int(puts), int(keys), int(commits), int(queries), float(joined), float(seconds), by_question)
    return found


def why_init_fails(job, pes, within_s):
    """What each of `pes` PEs says of its chime_init on `job`'s stderr, by PE; and after how many seconds all of them had. Launchers
    that shall let the others live when a PE dies may not end themselves, so `job` is ended here."""
    said, began = {}, time.monotonic()
    for line in job.stderr:
        if found := re.match(r"chime: PE (\d+): chime_init: (.*)", line):
            said[int(found[1])] = found[2]
        if len(said) == pes or time.monotonic() - began > within_s:
            break
    took = time.monotonic() - began
    job.terminate()
    job.communicate()
    return said, took
