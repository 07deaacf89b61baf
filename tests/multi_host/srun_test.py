"""Jobs of srun --mpi=pmix on several hosts, each with a slurmd (tests/support/hosts/slurm)."""
import os
import re
import signal
import subprocess
import tempfile
import time
import unittest

from asked_of_pmix import AsksOnceAHost, counted, dies
from hosts_of_a_test import PATIENCE_S, LeavesNothing, places_of, processes, words_of

PE = os.environ["TESTED_PE"]
JOINING_S = 10


class OnHosts(LeavesNothing, AsksOnceAHost):
    def setUp(self):
        super().setUp()
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def start(self, *arguments, **variables):
        return subprocess.Popen(["srun", "--mpi=pmix", "--unbuffered", *arguments], env=dict(os.environ, **variables), text=True,
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def meet(self, *arguments, **variables):
        job = self.start(*arguments, PE, "meets", self.folder, **variables)
        out, err = job.communicate(timeout=PATIENCE_S)
        self.assertEqual(job.returncode, 0, out + err)
        return places_of(out)

    def test_pes_meet_and_know_their_local_peers(self):
        self.assertEqual(self.meet("-N", "2", "-n", "4", "--ntasks-per-node=2", "--distribution=block"),
                         ["0:0/2", "0:1/2", "1:0/2", "1:1/2"])

    def test_pes_may_go_by_turns_to_the_hosts(self):
        self.assertEqual(self.meet("-N", "2", "-n", "4", "--ntasks-per-node=2", "--distribution=cyclic"),
                         ["0:0/2", "1:0/2", "0:1/2", "1:1/2"])

    def test_hosts_may_have_unequal_numbers_of_pes(self):
        with open(f"{self.folder}/hosts", "w") as hosts:
            hosts.write("host0\nhost0\nhost0\nhost1\n")
        self.assertEqual(self.meet("-N", "2", "-n", "4", "--distribution=arbitrary", SLURM_HOSTFILE=f"{self.folder}/hosts"),
                         ["0:0/3", "0:1/3", "0:2/3", "1:0/1"])

    def test_the_lowest_pe_of_a_host_asks_for_it(self):
        job = self.start("-N", "2", "-n", "8", "--ntasks-per-node=4", "--distribution=block", *counted(), PE, "meets", self.folder)
        out, err = job.communicate(timeout=PATIENCE_S)
        self.assertEqual(job.returncode, 0, out + err)
        self.assert_asked_once_a_host(err, [range(4), range(4, 8)])

    # Mostly Slurm ends the job at once. Where it does not, the PEs report which of them is gone.
    def test_a_leader_that_dies_while_its_host_joins_is_named(self):
        for lost in (0, 2):
            began = time.monotonic()
            job = self.start("-N", "2", "-n", "4", "--ntasks-per-node=2", "--distribution=block", *dies(lost, "host"), PE, "meets",
                             self.folder, CHIME_INIT_TIMEOUT=str(JOINING_S))
            _, err = job.communicate(timeout=2 * PATIENCE_S)
            self.assertLess(time.monotonic() - began, JOINING_S + 10)
            self.assertNotEqual(job.returncode, 0)
            self.assertRegex(err, f"task {lost}: Killed")
            for why in re.findall("chime: PE .*: chime_init: (.*)", err):
                self.assertRegex(why, rf"PE {lost}\b")

    def waiting_job(self):
        job = self.start("-N", "2", "-n", "4", "--ntasks-per-node=2", PE, "waits")
        self.addCleanup(job.stdout.close)
        self.addCleanup(job.stderr.close)
        self.assertEqual([job.stdout.readline() for _ in range(4)], ["ready\n"] * 4)
        return job

    def test_a_killed_pe_of_another_host_ends_the_job(self):
        job = self.waiting_job()
        victims = [pid for pid in processes() - self.before
                   if words_of(pid, "cmdline")[0] == PE and "PMIX_RANK=3" in words_of(pid, "environ")]
        self.assertEqual(len(victims), 1)
        os.kill(victims[0], signal.SIGKILL)
        self.assertNotEqual(job.wait(PATIENCE_S), 0)

    def test_pes_end_when_srun_is_killed(self):
        job = self.waiting_job()
        job.kill()
        job.wait(PATIENCE_S)


if __name__ == "__main__":
    unittest.main(verbosity=2)
