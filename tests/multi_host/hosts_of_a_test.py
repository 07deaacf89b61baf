"""What tests on several hosts share: run inside of `tests/support/hosts/hosts run`, with one Python test program on host0."""
import atexit
import os
import re
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.realpath(__file__))
HOSTS = os.path.join(HERE, "..", "support", "hosts", "hosts")
SHELL = f"{sys.executable} {HERE}/remote_shell.py"
PATIENCE_S = 60  # for what should take milliseconds, on a busy machine


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
    """What PEs said of their places, by PE: "1:0/2" is the first of two on host1."""
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
