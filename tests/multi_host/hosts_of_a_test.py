"""Shared code of tests on several hosts: run inside of `tests/support/hosts/hosts run`, with one Python test program on host0."""
import atexit
import os
import re
import subprocess
import sys
import time
import unittest

HERE = os.path.dirname(os.path.realpath(__file__))
HOSTS = os.path.join(HERE, "..", "support", "hosts", "hosts")
SHELL = f"{sys.executable} {HERE}/remote_shell.py"
PATIENCE_S = 60  # for actions that should take milliseconds, on a busy machine


def skip(why):
    """Ends this test program, which cannot run here. With CHIME_TEST_HOSTS_MUST=1 that is a failure."""
    print(why)
    sys.exit(1 if os.environ.get("CHIME_TEST_HOSTS_MUST") == "1" else 77)


shells = {}  # by host


def start_shells(hosts):
    """A remote shell on each of them, until this process ends."""
    new = [host for host in hosts if host not in shells]
    for host in new:
        shells[host] = subprocess.Popen([HOSTS, "on", host, sys.executable, f"{HERE}/remote_shell.py", "serve"],
                                        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
        atexit.register(shells[host].kill)
    for host in new:
        assert shells[host].stdout.readline() == "listening\n"


def places_of(output):
    """The places that PEs printed, by PE: "1:0/2" is the first of two on host1."""
    said = re.findall(r"PE (\d+) of \d+ on host(\d), (\d+) of (\d+) there", output)
    return [f"{host}:{mine}/{all_of_it}" for _, host, mine, all_of_it in sorted(said)]


def processes():
    """Ids of all living processes of all hosts."""
    found = set()
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/stat") as stat:
                if stat.read().rpartition(")")[2].split()[0] not in "ZX":
                    found.add(int(name))
        except (FileNotFoundError, ProcessLookupError):
            pass
    return found


def names_on(host):
    """Named objects of a host's processes that others could find: shared memory, unix sockets, TCP ports that listen."""
    script = "ls /dev/shm; echo ==; cat /proc/sysvipc/shm; echo ==; cat /proc/net/unix; echo ==; cat /proc/net/tcp /proc/net/tcp6"
    said = subprocess.run([HOSTS, "on", host, "sh", "-c", script], capture_output=True, text=True).stdout.split("==\n")
    files, segments, unix, tcp = (part.splitlines() for part in said)
    listening = "0A"
    return ({f"{host}: /dev/shm/{name}" for name in files} |
            {f"{host}: segment {line.split()[1]}" for line in segments[1:]} |
            {f"{host}: unix socket {line.split()[7]}" for line in unix[1:] if len(line.split()) > 7} |
            {f"{host}: port {line.split()[1]}" for line in tcp if line.split()[3] == listening})


def traces(hosts):
    """All that a job may leave on hosts: living processes, and their named objects."""
    return processes().union(*map(names_on, hosts))


def describe(traces):
    return [words_of(trace, "cmdline") if isinstance(trace, int) else trace for trace in traces]


class LeavesNothing(unittest.TestCase):
    """When a test has ended, nothing of its jobs is left on `hosts`, however they ended."""
    hosts = ["host0", "host1"]

    def setUp(self):
        self.before = traces(self.hosts)

    def tearDown(self):
        self.assertTrue(wait_until(lambda: traces(self.hosts) <= self.before), describe(traces(self.hosts) - self.before))


def words_of(pid, what):
    """Its `cmdline` or `environ`, as a list."""
    try:
        with open(f"/proc/{pid}/{what}", "rb") as file:
            return file.read().decode(errors="replace").split("\0")
    except (FileNotFoundError, ProcessLookupError, PermissionError):
        return []


def wait_until(condition):
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.01)
    return False
