"""Kills a PE of a real job: dead_pe_test.py chime-run|mpirun <chime-run> <dead_pe> <activity of the others>.

Passes if each survivor reports on its own stderr, within 10 s, which PE is gone and how this was found (the launcher's
messages do not count), if the survivors then end by themselves, and if nothing of the job is left.
Exit code 77: the launcher is not installed."""
import os
import re
import shutil
import subprocess
import sys
import time
import uuid

PES, VICTIM = 3, 1
LIMIT_S = 40       # of the launcher: far beyond ALLOWED_S, and less than ctest's
ALLOWED_S = 10
PATHS = r"process watch|reported by chime-run|the PMIx launcher says|connection to the job's hub"

kind, chime_run, program, where = sys.argv[1:]
environment = dict(os.environ, CHIME_TEST_MARK=uuid.uuid4().hex)


def launcher():
    if kind == "chime-run":
        return [chime_run, "-n", str(PES), "--keep-going", "--timeout", str(LIMIT_S)]
    if not shutil.which("mpirun"):
        print("skipped: mpirun is not installed (Debian: openmpi-bin)")
        sys.exit(77)
    return ["mpirun", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "--tag-output",
            "--enable-recovery", "--timeout", str(LIMIT_S), "-n", str(PES)]


def is_of(line, pe):
    """Whether a PE itself wrote `line`: the launcher's prefix says so."""
    return re.match(rf"\[{pe}\] |\[1,{pe}\]<", line)


def left_over():
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/environ", "rb") as file:
                if environment["CHIME_TEST_MARK"].encode() in file.read():
                    found.append(int(name))
        except OSError:
            pass
    return found


job = subprocess.Popen(launcher() + [program, where], env=environment, stdin=subprocess.DEVNULL, text=True,
                       stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
died_at = None
named_after = {}
for line in job.stdout:
    print(line, end="")
    if dies := re.search(r"dies (\d+\.\d+)", line):
        died_at = float(dies[1])
    for pe in set(range(PES)) - {VICTIM}:
        if is_of(line, pe) and f"PE {VICTIM} " in line and re.search(PATHS, line):
            named_after.setdefault(pe, time.time() - died_at)
    if f" for PE {VICTIM} at" in line:
        sys.exit("the dead PE is named as the PE that a wait was for; it is only to blame")
    if "noticed nothing" in line:
        sys.exit("a PE went on as if nothing had happened")
code = job.wait()
ended_after = time.time() - died_at

print(f"named after {named_after}, job ended after {ended_after:.2f} s with {code}")
silent = set(range(PES)) - {VICTIM} - set(named_after)
if silent:
    sys.exit(f"PEs {sorted(silent)} did not say that PE {VICTIM} is gone and how they know")
if max(named_after.values()) > ALLOWED_S or ended_after > ALLOWED_S:
    sys.exit(f"it took more than {ALLOWED_S} s")
# With --enable-recovery mpirun may end with 0 although PEs were killed and failed.
if kind == "chime-run" and code != 128 + 9:
    sys.exit(f"chime-run ended with {code}, not that of the killed PE")
if left := left_over():
    sys.exit(f"processes are left: {left}")
if left := [name for name in os.listdir("/dev/shm") if "chime" in name]:
    sys.exit(f"left in /dev/shm: {left}")
