"""The requests of PEs to a PMIx launcher, counted by a library in libpmix's place (pmix_counter.cpp)."""
import ctypes
import os
import re
import time
from dataclasses import dataclass

LINE = re.compile(r"PE (\d+) counted (\d+) puts of (\d+) keys, (\d+) commits, (\d+) queries, joined after (\S+) of (\S+) s, gets:(.*)")
# Time between two attempts of one request (bootstrap/pmix/pmix_asker.cpp): 1, 2, 4 to 32 ms, then 50.
SHORT_PAUSES, PAUSE_S = 6, 0.05
# Seconds after joining without queries for lost PEs, and between two such queries later (bootstrap/pmix/pmix_client.cpp).
JOINING_S, QUERY_PAUSE_S = 1, 0.04


@dataclass
class Counts:
    puts: int
    keys: int
    commits: int
    queries: int
    joined_s: float  # when this PE had the endpoint infos of its whole host
    seconds: float
    gets: dict  # (key, PE): how often it was sent

    def questions(self, *keys):
        """The (key, PE) pairs of the requests for these keys; sorted."""
        return sorted((key, pe) for key, pe in self.gets if key in keys)

    def most_gets_a_question(self):
        """The largest possible number of requests in that time."""
        return 1 + SHORT_PAUSES + self.seconds / PAUSE_S

    def most_queries(self):
        return 0 if self.joined_s < JOINING_S else self.joined_s / QUERY_PAUSE_S


def path_of_libpmix():
    ctypes.CDLL("libpmix.so.2")
    with open("/proc/self/maps") as maps:
        return next(found[0] for line in maps if (found := re.search(r"/\S*libpmix\.so\S*", line)))


def counting(folder):
    """The words before a PE's command; `folder` has the library."""
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
    """The errors of chime_init on `job`'s stderr, by PE, for each of `pes` PEs; and the seconds until all had one. Launchers
    that let the others live when a PE dies may not end by themselves, so `job` is ended here."""
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
