"""What PEs ask of a PMIx launcher, counted: launcher_test.py <reinit_pe> <folder of the counting libpmix.so.2>.

The launcher keeps each key for as long as it lives: 200 rounds of chime_init and chime_finalize once cost mpirun 60 MB."""
import ctypes
import os
import re
import shutil
import subprocess
import sys
import unittest

PE, COUNTER = sys.argv.pop(1), sys.argv.pop(1)
# Two are each PE's own; PE 0 adds the secret, the settings, and the place to meet again.
MOST_KEYS = 5


def path_of_libpmix():
    ctypes.CDLL("libpmix.so.2")
    with open("/proc/self/maps") as maps:
        return next(found[0] for line in maps if (found := re.search(r"/\S*libpmix\.so\S*", line)))


@unittest.skipUnless(shutil.which("mpirun"), "mpirun is not installed (Debian: openmpi-bin)")
class AskedOfTheLauncher(unittest.TestCase):
    def count(self, pes, rounds):
        """Per PE: puts, keys, commits, gets, queries."""
        done = subprocess.run(["mpirun", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "--timeout", "180", "-n", str(pes),
                               "env", f"LD_LIBRARY_PATH={COUNTER}:{os.environ.get('LD_LIBRARY_PATH', '')}",
                               f"COUNTED_PMIX={path_of_libpmix()}", PE, str(rounds), "0"],
                              stdin=subprocess.DEVNULL, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=200)
        self.assertEqual(done.returncode, 0, done.stdout)
        counts = [tuple(map(int, found)) for found in re.findall(
            r"counted (\d+) puts of (\d+) keys, (\d+) commits, (\d+) gets, (\d+) queries", done.stdout)]
        self.assertEqual(len(counts), pes, done.stdout)
        print(f"{pes} PEs, {rounds} rounds:", *counts)
        return counts

    def test_fifty_rounds_leave_no_more_keys_than_two(self):
        of_two, of_fifty = self.count(2, 2), self.count(2, 50)
        for counts in (of_two, of_fifty):
            for puts, keys, commits, _, _ in counts:
                self.assertEqual((puts, commits), (keys, keys))  # each once
                self.assertLessEqual(keys, MOST_KEYS)
        total = [sum(puts for puts, *_ in counts) for counts in (of_two, of_fifty)]
        self.assertEqual(total[0], total[1])

    def test_one_round_of_four_and_eight(self):
        for pes in (4, 8):
            for puts, *_ in self.count(pes, 1):
                self.assertLessEqual(puts, MOST_KEYS)


if __name__ == "__main__":
    unittest.main(verbosity=2)
