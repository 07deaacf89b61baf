"""Jobs of mpirun on several hosts, which it reaches by tests/support/hosts in place of ssh."""
import os
import shutil
import signal
import subprocess
import tempfile
import unittest

from asked_of_pmix import AsksOnceAHost, counted, dies
from counting_pmix import why_init_fails
from hosts_of_a_test import HOSTS, PATIENCE_S, LeavesNothing, places_of, processes, skip, words_of

PE = os.environ["TESTED_PE"]
JOINING_S = 10


class OnHosts(LeavesNothing, AsksOnceAHost):
    def setUp(self):
        super().setUp()
        self.renew_folder()

    def renew_folder(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def start(self, *arguments):
        # --timeout below ctest's: a killed mpirun leaves its processes behind.
        return subprocess.Popen(["mpirun", "--mca", "plm_rsh_agent", HOSTS, "--bind-to", "none", "--timeout", str(PATIENCE_S),
                                 *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                env=dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1"))

    def meet(self, *arguments):
        job = self.start(*arguments, PE, "meets", self.folder)
        out, err = job.communicate(timeout=2 * PATIENCE_S)
        self.assertEqual(job.returncode, 0, out + err)
        return places_of(out)

    def test_pes_meet_and_know_their_local_peers(self):
        self.assertEqual(self.meet("-H", "host0:2,host1:2", "-n", "4"), ["0:0/2", "0:1/2", "1:0/2", "1:1/2"])

    def test_hosts_may_have_unequal_numbers_of_pes(self):
        self.assertEqual(self.meet("-H", "host0:3,host1:1", "-n", "4"), ["0:0/3", "0:1/3", "0:2/3", "1:0/1"])

    def test_pes_may_go_by_turns_to_the_hosts(self):
        self.assertEqual(self.meet("-H", "host0:3,host1:2", "-n", "5", "--map-by", "node"),
                         ["0:0/3", "1:0/2", "0:1/3", "1:1/2", "0:2/3"])

    def test_the_lowest_pe_of_a_host_asks_for_it(self):
        for of_each in (2, 4):
            job = self.start("-H", f"host0:{of_each},host1:{of_each}", "-n", str(2 * of_each), *counted(), PE, "meets", self.folder)
            out, err = job.communicate(timeout=2 * PATIENCE_S)
            self.assertEqual(job.returncode, 0, out + err)
            self.assert_asked_once_a_host(err, [range(of_each), range(of_each, 2 * of_each)])
            self.renew_folder()

    # The PEs of its host name it as soon as they notice; those of another host have only the time limit of joining.
    def leader_that_dies(self, lost, key):
        job = self.start("--enable-recovery", "-x", f"CHIME_INIT_TIMEOUT={JOINING_S}", "-H", "host0:2,host1:2", "-n", "4",
                         *dies(lost, key), PE, "meets", self.folder)
        said, took = why_init_fails(job, 3, 2 * PATIENCE_S)
        self.assertEqual(sorted(said), [pe for pe in range(4) if pe != lost])
        self.assertRegex(said[lost + 1], f"PE {lost} is gone")
        for why in said.values():
            self.assertRegex(why, rf"PE {lost}\b")
        self.assertLess(took, JOINING_S + 10)

    def test_the_first_hosts_leader_is_named_if_it_dies_before_it_names_its_pes(self):
        self.leader_that_dies(0, "host")

    def test_the_second_hosts_leader_is_named_if_it_dies_before_it_names_its_pes(self):
        self.leader_that_dies(2, "host")

    def test_the_second_hosts_leader_is_named_if_it_dies_before_it_has_said_where_it_is(self):
        self.leader_that_dies(2, "node")

    def test_the_second_hosts_leader_is_named_if_it_dies_before_it_has_passed_on_what_pe_0_says(self):
        self.leader_that_dies(2, "first.chime.settings")

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
