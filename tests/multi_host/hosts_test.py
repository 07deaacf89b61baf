"""tests/support/hosts leaves nothing, however it ends: no process, no namespace, no file."""
import os
import shutil
import signal
import subprocess
import sys
import time
import unittest

from hosts_of_a_test import HOSTS, PATIENCE_S, wait_until

KINDS = "net", "uts", "ipc", "mnt", "pid"
# Prints the namespaces of all hosts and of the switch, and the folder. Then runs the command that start() adds.
SCRIPT = f"""for one in "$CHIME_TEST_HOSTS"/host? "$CHIME_TEST_HOSTS"/switch; do
  for kind in {' '.join(KINDS)}; do readlink /proc/$(cat "$one")/ns/$kind; done
done
echo "$CHIME_TEST_HOSTS"; touch "$TMPDIR/left" /dev/shm/left; echo ready; """


def namespaces_in_use():
    """The namespaces of all processes that this user can inspect."""
    used = set()
    for pid in filter(str.isdigit, os.listdir("/proc")):
        for kind in KINDS:
            try:
                used.add(os.readlink(f"/proc/{pid}/ns/{kind}"))
            except OSError:
                pass
    return used


class Hosts(unittest.TestCase):
    def start(self, then):
        job = subprocess.Popen([HOSTS, "run", "2", "sh", "-c", SCRIPT + then], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               text=True)
        self.addCleanup(job.stdout.close)
        said = list(iter(job.stdout.readline, "ready\n"))
        self.folder = said.pop().strip()
        self.namespaces = {line.strip() for line in said} - {os.readlink(f"/proc/self/ns/{kind}") for kind in KINDS}
        self.assertEqual(len(self.namespaces), 2 * 4 + 1 + 2, said)  # the pid namespace is one; the switch has a network, and
        return job                                                   # the mounts of the first process

    def nothing_is_left(self):
        self.assertTrue(wait_until(lambda: not self.namespaces & namespaces_in_use()))
        self.assertTrue(wait_until(lambda: not os.path.exists(self.folder)), self.folder)

    def test_nothing_is_left_of_a_command_that_ends_as_it_ends(self):
        for code in 0, 5:
            job = self.start(f"exit {code}")
            self.assertEqual(job.wait(PATIENCE_S), code)
            self.assertFalse(os.path.exists(self.folder))
            self.nothing_is_left()

    def test_nothing_is_left_of_what_the_command_leaves_behind(self):
        job = self.start(f"setsid sleep 1000 & {HOSTS} on host1 setsid sleep 1000 & exit 0")
        self.assertEqual(job.wait(PATIENCE_S), 0)
        self.nothing_is_left()

    def test_nothing_is_left_when_it_is_ended_or_killed(self):
        for number in signal.SIGTERM, signal.SIGKILL:
            job = self.start("sleep 1000")
            job.send_signal(number)
            job.wait(PATIENCE_S)
            self.nothing_is_left()

    def test_nothing_is_left_when_all_of_it_is_killed_at_once(self):
        job = self.start("sleep 1000")
        for pid in [job.pid, *children_of(job.pid)]:
            os.kill(pid, signal.SIGKILL)
        job.wait(PATIENCE_S)
        self.nothing_is_left()


def children_of(pid):
    with open(f"/proc/{pid}/task/{pid}/children") as children:
        return [int(child) for child in children.read().split()]


if __name__ == "__main__":
    if (can := subprocess.run([HOSTS, "can"])).returncode:
        sys.exit(can.returncode)
    unittest.main(verbosity=2)
