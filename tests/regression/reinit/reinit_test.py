"""A PE that joins and leaves its job many times does not grow: reinit_test.py <reinit_pe> <chime-run>.

Under PMIx 100 rounds took 10 MB. A round may keep memory: libpmix the endpoint infos that were published and read in it, Chime the
object of a PE that has left, for threads that still hold it."""
import os
import re
import shutil
import subprocess
import sys
import unittest

PE, CHIME_RUN = sys.argv.pop(1), sys.argv.pop(1)
WARM_UP, ROUNDS = 20, 100
MOST_KIB = {"alone": 2 * ROUNDS, "chime-run": 2 * ROUNDS, "mpirun": 12 * ROUNDS}


class Reinit(unittest.TestCase):
    def job(self, launcher, pes, *command):
        done = subprocess.run([*command, PE, str(WARM_UP), str(ROUNDS)], stdin=subprocess.DEVNULL, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=200,
                              env=dict(os.environ, CHIME_ON_ERROR="return"))
        self.assertEqual(done.returncode, 0, done.stdout)
        grown = re.findall(r"grown by (-?\d+) KiB of memory, (-?\d+) KiB of heap, (-?\d+) descriptors, (-?\d+) threads", done.stdout)
        self.assertEqual(len(grown), pes, done.stdout)
        for memory, heap, descriptors, threads in grown:
            self.assertLessEqual(int(memory), MOST_KIB[launcher], done.stdout)
            self.assertLessEqual(int(heap), MOST_KIB[launcher], done.stdout)
            self.assertLessEqual(int(descriptors), 0, done.stdout)
            self.assertLessEqual(int(threads), 0, done.stdout)

    def test_alone(self):
        self.job("alone", 1)

    def test_under_chime_run(self):
        self.job("chime-run", 2, CHIME_RUN, "-n", "2", "--timeout", "180")

    @unittest.skipUnless(shutil.which("mpirun"), "mpirun is not installed (Debian: openmpi-bin)")
    def test_under_pmix(self):
        for pes in (1, 2):
            self.job("mpirun", pes, "mpirun", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "--timeout", "180",
                     "-n", str(pes))


if __name__ == "__main__":
    unittest.main(verbosity=2)
