"""A host that is cut off sends nothing more, and its connections do not end: the PEs that need its PEs must find out by themselves."""
import os
import subprocess
import tempfile
import time
import unittest

from hosts_of_a_test import HOSTS, PATIENCE_S, SHELL, start_shells

CHIME_RUN = os.environ["TESTED_CHIME_RUN"]
PE = os.environ["TESTED_PE"]


class OnHosts(unittest.TestCase):
    def start(self, command, **variables):
        process = subprocess.Popen(command, env=dict(os.environ, **variables), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.stdout.close)  # processes that still run end with the hosts
        self.addCleanup(process.stderr.close)
        return process

    def cut_off_host_1(self):
        time.sleep(3)  # the kernel would resend unacknowledged data for a quarter of an hour: CHIME_TIMEOUT is less
        subprocess.run([HOSTS, "cut", "host1"], check=True)

    def test_pes_of_a_unique_id_end_on_both_sides(self):
        with tempfile.TemporaryDirectory() as folder:
            pes = [self.start([HOSTS, "on", f"host{host}", PE, "waits", folder, str(pe), "3"]) for pe, host in enumerate([0, 0, 1])]
            self.assertEqual([pe.stdout.readline() for pe in pes], ["ready\n"] * 3)
        self.cut_off_host_1()
        # PE 0 sleeps. PE 1 waits for all, on the host of PE 0; PE 2 does so alone on its host.
        self.assertEqual(pes[1].wait(PATIENCE_S), 1)
        self.assertRegex(pes[1].stderr.readline(), "PE 1: .*PE 2.* its host (does not answer any more|host[01] has given no sign of life)")
        self.assertEqual(pes[2].wait(PATIENCE_S), 1)
        self.assertRegex(pes[2].stderr.readline(), "PE 2: .*PE 0.* its host (does not answer any more|host[01] has given no sign of life)")

    def test_a_job_of_chime_run_ends_on_both_sides(self):
        start_shells(["host0", "host1"])
        job = self.start([CHIME_RUN, "--agent-command", SHELL, "--hosts", "host0:2,host1", "-n", "3", PE, "waits"])
        self.assertEqual(sorted(job.stdout.readline() for _ in range(3)), [f"[{pe}] ready\n" for pe in range(3)])
        self.cut_off_host_1()
        self.assertEqual(job.wait(PATIENCE_S), 1)
        self.assertRegex(job.stderr.read(), "PE [01]: .*PE 2")
        # The PE there has lost its hub.
        for _ in range(PATIENCE_S):
            if subprocess.run(["pgrep", "-f", f"^{PE} waits"], stdout=subprocess.DEVNULL).returncode:
                return
            subprocess.run(["sleep", "1"])
        self.fail("the PE of the host that was cut off runs on")


if __name__ == "__main__":
    unittest.main(verbosity=2)
