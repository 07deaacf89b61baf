"""Jobs of mpirun on several hosts, which it reaches by tests/support/hosts in place of ssh."""
import os
import shutil
import signal
import subprocess
import tempfile
import unittest

from hosts_of_a_test import HOSTS, PATIENCE_S, LeavesNothing, places_of, processes, skip, words_of

PE = os.environ["TESTED_PE"]


class OnHosts(LeavesNothing):
    def setUp(self):
        super().setUp()
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def start(self, *arguments):
        # --timeout below ctest's: an mpirun that is killed leaves its processes behind.
        return subprocess.Popen(["mpirun", "--mca", "plm_rsh_agent", HOSTS, "--bind-to", "none", "--timeout", str(PATIENCE_S),
                                 *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                env=dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1"))

    def meet(self, *arguments):
        job = self.start(*arguments, PE, "meets", self.folder)
        out, err = job.communicate(timeout=2 * PATIENCE_S)
        self.assertEqual(job.returncode, 0, out + err)
        return places_of(out)

    def test_pes_meet_and_know_their_node_mates(self):
        self.assertEqual(self.meet("-H", "host0:2,host1:2", "-n", "4"), ["0:0/2", "0:1/2", "1:0/2", "1:1/2"])

    def test_hosts_may_have_unequal_numbers_of_pes(self):
        self.assertEqual(self.meet("-H", "host0:3,host1:1", "-n", "4"), ["0:0/3", "0:1/3", "0:2/3", "1:0/1"])

    def test_pes_may_go_by_turns_to_the_hosts(self):
        self.assertEqual(self.meet("-H", "host0:3,host1:2", "-n", "5", "--map-by", "node"),
                         ["0:0/3", "1:0/2", "0:1/3", "1:1/2", "0:2/3"])

    def test_a_killed_pe_of_another_host_ends_the_job(self):
        job = self.start("-H", "host0:2,host1:1", "-n", "3", PE, "waits")
        self.assertEqual([job.stdout.readline() for _ in range(3)], ["ready\n"] * 3)
        victims = [pid for pid in processes() - self.before
                   if words_of(pid, "cmdline")[0] == PE and "PMIX_RANK=2" in words_of(pid, "environ")]
        self.assertEqual(len(victims), 1)
        os.kill(victims[0], signal.SIGKILL)
        job.communicate(timeout=2 * PATIENCE_S)
        self.assertNotEqual(job.returncode, 0)


if __name__ == "__main__":
    if not shutil.which("mpirun"):
        skip("mpirun is not installed (Debian: openmpi-bin)")
    unittest.main(verbosity=2)
