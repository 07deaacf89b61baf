"""Two hosts between which the proxy carries data, and a faulty network or PE."""
import os
import re
import signal
import subprocess
import sys
import time
import unittest

from hosts_of_a_test import HOSTS, PATIENCE_S, SHELL, processes, skip, start_shells, words_of

CHIME_RUN = os.environ["TESTED_CHIME_RUN"]
PE = os.environ["TESTED_PE"]
FOR_EVER, SOME = 100_000_000, 300  # rounds
TOLD_WITHIN_S = 30  # CHIME_FABRIC_TIMEOUT, CHIME_TIMEOUT, and time to end


def on(host, *command):
    return subprocess.run([HOSTS, "on", host, *command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


class OnHosts(unittest.TestCase):
    def start(self, rounds, timeout_s=5):
        start_shells(["host0", "host1"])
        variables = {"CHIME_NIC": "none", "CHIME_FABRIC": "tcp;ofi_rxm", "CHIME_IFACE": "eth0", "CHIME_FABRIC_TIMEOUT": str(timeout_s),
                     "CHIME_TIMEOUT": str(2 * timeout_s)}
        job = subprocess.Popen([CHIME_RUN, "--agent-command", SHELL, "--hosts", "host0,host1", "-n", "2", PE, "sends", str(rounds)],
                               env=dict(os.environ, **variables), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)
        self.addCleanup(job.stdout.close)  # processes that still run end with the hosts
        self.addCleanup(job.stderr.close)
        self.assertEqual(sorted(job.stdout.readline() for _ in range(2)), ["[0] ready\n", "[1] ready\n"])
        return job

    def sends_all(self, job):
        out, err = job.communicate(timeout=2 * PATIENCE_S)
        self.assertEqual((job.returncode, sorted(out.splitlines())), (0, ["[0] sent all", "[1] sent all"]), err)

    def ends_and_names_pe_1(self, job):
        begin = time.monotonic()
        self.assertNotEqual(job.wait(PATIENCE_S), 0)
        self.assertLess(time.monotonic() - begin, TOLD_WITHIN_S)
        self.assertRegex(job.stderr.read(), r"PE 0: .*PE 1")

    def test_a_host_that_is_cut_off_is_named(self):
        job = self.start(FOR_EVER)
        subprocess.run([HOSTS, "cut", "host1"], check=True)
        self.ends_and_names_pe_1(job)
        end = time.monotonic() + PATIENCE_S  # there the PE has lost its peer and its hub
        while time.monotonic() < end and any(words_of(pid, "cmdline")[:2] == [PE, "sends"] for pid in processes()):
            time.sleep(0.1)
        self.assertLess(time.monotonic(), end, "the PE of the host that was cut off runs on")

    def test_a_pe_whose_proxy_stands_still_is_named(self):
        job = self.start(FOR_EVER)
        stopped = [pid for pid in processes() if words_of(pid, "cmdline")[:1] == [PE] and "CHIME_RUN_PE=1" in words_of(pid, "environ")]
        self.assertEqual(len(stopped), 1)
        os.kill(stopped[0], signal.SIGSTOP)
        self.ends_and_names_pe_1(job)

    def test_a_link_that_comes_and_goes_loses_nothing(self):
        job = self.start(SOME, timeout_s=15)  # TCP waits for 6 s after five attempts within a cut
        for _ in range(8):
            subprocess.run([HOSTS, "cut", "host1"], check=True)
            time.sleep(0.3)
            subprocess.run([HOSTS, "heal", "host1"], check=True)
            time.sleep(0.2)
        self.sends_all(job)

    def test_a_slow_and_lossy_link_loses_nothing(self):
        # Not every kernel has netem. A bucket with little room drops packets that come too fast.
        links = ["netem delay 2ms 1ms loss 2%", "tbf rate 20mbit burst 8kb limit 12kb"]
        for link in links:
            slow = on("host1", "tc", "qdisc", "add", "dev", "eth0", "root", *link.split())
            if slow.returncode == 0:
                break
        else:
            self.skipTest("the kernel makes no link slow and lossy: " + re.sub(r"\s+", " ", slow.stdout))
        self.sends_all(self.start(SOME))


if __name__ == "__main__":
    done = unittest.main(verbosity=2, exit=False).result
    if done.wasSuccessful() and done.skipped:
        skip(done.skipped[0][1])
    sys.exit(not done.wasSuccessful())
