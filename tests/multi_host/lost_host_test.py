"""A host that vanishes while all PEs wait and nothing is in flight: each PE names it, under each launcher."""
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

from hosts_of_a_test import HOSTS, PATIENCE_S, SHELL, processes, skip, start_shells, words_of

CHIME_RUN = os.environ["TESTED_CHIME_RUN"]
PE = os.environ["TESTED_PE"]
SILENCE_S = 4  # CHIME_FABRIC_TIMEOUT
IN_TIME_S = SILENCE_S + 2
BUSY_S = 15  # more, on a busy machine

# PEs by host. Node 3 is below node 1, and that below node 0.
PES = {"host0": [0], "host1": [1], "host2": [2], "host3": [3, 4]}
N = 5

LAUNCHERS = {
    "mpirun": ["mpirun", "--mca", "plm_rsh_agent", HOSTS, "--bind-to", "none", "--timeout", str(2 * PATIENCE_S), "-H",
               "host0:1,host1:1,host2:1,host3:2", "-n", str(N)],
    "srun": ["srun", "--mpi=pmix", "--unbuffered", "-N", "4", "-n", str(N), "--distribution=arbitrary"],
    "chime_run": [CHIME_RUN, "--agent-command", SHELL, "--hosts", "host0:1,host1:1,host2:1,host3:2", "-n", str(N)],
}


def cut(host):
    subprocess.run([HOSTS, "cut", host], check=True)
    return time.monotonic()


class OnHosts(unittest.TestCase):
    def start(self, launcher, **variables):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        environment = dict(os.environ, CHIME_FABRIC_TIMEOUT=str(SILENCE_S), OMPI_ALLOW_RUN_AS_ROOT="1",
                           OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", SLURM_HOSTFILE=f"{self.folder}/hosts", **variables)
        with open(f"{self.folder}/hosts", "w") as hosts:
            hosts.writelines(f"{host}\n" for host, pes in PES.items() for _ in pes)
        command = list(LAUNCHERS[launcher])
        if launcher == "chime_run":
            start_shells(PES)
            if "CHIME_ON_PEER_FAILURE" in variables:
                command.append("--keep-going")
        if launcher == "mpirun":
            for name in ["CHIME_FABRIC_TIMEOUT", *variables]:
                command += ["-x", name]
        job = subprocess.Popen([*command, PE, "listens", self.folder], env=environment, stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.assertTrue(self.comes(lambda: all("ready" in self.said(pe) for pe in range(N)), PATIENCE_S))
        time.sleep(2)  # the PEs have found each other long before
        return job

    def said(self, pe):
        try:
            with open(f"{self.folder}/{pe}") as file:
                return file.read()
        except FileNotFoundError:
            return ""

    def named(self, pe):
        """The PEs whose hosts PE `pe` has reported lost: by their silence, or by TCP's, which may be noticed first."""
        reasons = r"its host host\d has given no sign|its connection to the job's hub ended: its host does not answer any more"
        return {int(gone) for gone in re.findall(rf"PE (\d+) \([^)]*\) is gone: (?:{reasons})", self.said(pe))}

    def comes(self, condition, limit_s):
        end = time.monotonic() + limit_s
        while not condition():
            if time.monotonic() > end:
                return False
            time.sleep(0.02)
        return True

    def all_name(self, lost_hosts, cut_at, limit_s=IN_TIME_S):
        """The living PEs name all PEs of these hosts, and no other."""
        lost = {pe for host in lost_hosts for pe in PES[host]}
        living = [pe for pe in range(N) if pe not in lost]
        busy = os.getloadavg()[0] > os.cpu_count()
        came = self.comes(lambda: all(self.named(pe) >= lost for pe in living), limit_s + (BUSY_S if busy else 0))
        print(f"named {time.monotonic() - cut_at:.1f} s after the cut, of {limit_s} s", flush=True)
        self.assertTrue(came, {pe: self.said(pe) for pe in range(N)})
        for pe in living:
            self.assertEqual(self.named(pe), lost)

    def pes_that_run(self):
        return [pid for pid in processes() if words_of(pid, "cmdline")[:2] == [PE, "listens"]]

    def process_of(self, pe):
        [found] = [pid for pid in self.pes_that_run()
                   if {f"PMIX_RANK={pe}", f"CHIME_RUN_PE={pe}"} & set(words_of(pid, "environ"))]
        return found

    # Facts

    def names_one(self, launcher):
        self.start(launcher, CHIME_ON_PEER_FAILURE="report")
        cut_at = cut("host1")
        self.all_name(["host1"], cut_at)
        self.assertTrue(self.comes(lambda: self.named(1), BUSY_S), "the host that is cut off has noticed nothing")

    def names_a_second_one(self, launcher):
        self.start(launcher, CHIME_ON_PEER_FAILURE="report")
        cut("host1")
        time.sleep(1)
        self.all_name(["host1", "host3"], cut("host3"), 2 * IN_TIME_S)

    def ends_everywhere(self, launcher):
        job = self.start(launcher)
        cut("host1")
        self.assertTrue(self.comes(lambda: any(self.named(pe) for pe in [0, 2, 3, 4]), IN_TIME_S + BUSY_S))
        self.assertTrue(self.comes(lambda: not self.pes_that_run(), IN_TIME_S + BUSY_S), "PEs run on")
        if launcher == "chime_run":  # other launchers wait for their daemons there
            self.assertNotEqual(job.wait(PATIENCE_S), 0)

    def stopped_is_not_lost(self, launcher):
        self.start(launcher, CHIME_ON_PEER_FAILURE="report")
        stopped = [self.process_of(1), self.process_of(3)]
        for pid in stopped:
            os.kill(pid, signal.SIGSTOP)
        time.sleep(3 * SILENCE_S)
        self.assertEqual([self.named(pe) for pe in range(N)], [set()] * N)
        for pid in stopped:
            os.kill(pid, signal.SIGCONT)
        self.all_name(["host1"], cut("host1"))

    def test_mpirun_names_a_host_that_is_cut_off(self):
        self.names_one("mpirun")

    def test_mpirun_names_a_second_host_that_is_cut_off_meanwhile(self):
        self.names_a_second_one("mpirun")

    def test_mpirun_ends_a_job_on_both_sides(self):
        self.ends_everywhere("mpirun")

    def test_mpirun_has_stopped_processes_that_are_not_lost(self):
        self.stopped_is_not_lost("mpirun")

    def test_srun_names_a_host_that_is_cut_off(self):
        self.names_one("srun")

    def test_srun_names_a_second_host_that_is_cut_off_meanwhile(self):
        self.names_a_second_one("srun")

    def test_srun_ends_a_job_on_both_sides(self):
        self.ends_everywhere("srun")

    def test_chime_run_names_a_host_that_is_cut_off(self):
        self.names_one("chime_run")

    def test_chime_run_names_a_second_host_that_is_cut_off_meanwhile(self):
        self.names_a_second_one("chime_run")

    def test_chime_run_ends_a_job_on_both_sides(self):
        self.ends_everywhere("chime_run")

    def test_chime_run_has_a_successor_for_a_leader_that_was_killed(self):
        self.start("chime_run", CHIME_ON_PEER_FAILURE="report")
        os.kill(self.process_of(3), signal.SIGKILL)  # PE 4 remains there
        self.assertTrue(self.comes(lambda: all("PE 3" in self.said(pe) for pe in [0, 1, 2, 4]), PATIENCE_S))
        time.sleep(1)
        cut_at = cut("host3")
        came = self.comes(lambda: all(4 in self.named(pe) for pe in [0, 1, 2]), IN_TIME_S + BUSY_S)
        print(f"named {time.monotonic() - cut_at:.1f} s after the cut", flush=True)
        self.assertTrue(came, {pe: self.said(pe) for pe in range(N)})


if __name__ == "__main__":
    if "mpirun" in sys.argv[1] and not shutil.which("mpirun"):
        skip("mpirun is not installed (Debian: openmpi-bin)")
    unittest.main(verbosity=2)
