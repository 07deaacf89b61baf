"""Kills PE 1 of an example that runs: dead_pe_examples_test.py <chime-run> <program> <argument>...

Passes if the surviving PE reports on its own stderr that PE 1 is gone and how this was found, ends by itself within 10 s,
and neither prints a result that it computed without PE 1 nor blames anything else."""
import os
import re
import signal
import subprocess
import sys
import threading
import time
import uuid

ALLOWED_S = 10
LIMIT_S = 60
PATHS = r"process watch|reported by chime-run|connection to the job's hub"
BLAMES = ["denser", "there should be", "come apart", "single PE has", "bit for bit", "norm of the change"]

chime_run, program, *arguments = sys.argv[1:]
mark = uuid.uuid4().hex


def pid_of_pe(number):
    """The process that is PE `number` of the job, None before there is one."""
    wanted = {f"CHIME_TEST_MARK={mark}".encode(), f"CHIME_RUN_PE={number}".encode()}
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/environ", "rb") as file:
                if not wanted <= set(file.read().split(b"\0")):
                    continue
            if os.path.samefile(f"/proc/{name}/exe", program):
                return int(name)
        except OSError:
            pass
    return None


def has_mapped_the_heap(pid):
    with open(f"/proc/{pid}/maps", encoding="utf-8", errors="replace") as file:
        return "chime" in "".join(line for line in file if "/dev/shm" in line or "memfd" in line)


job = subprocess.Popen([chime_run, "-n", "2", "--keep-going", "--timeout", str(LIMIT_S), program, *arguments],
                       env=dict(os.environ, CHIME_TEST_MARK=mark), stdin=subprocess.DEVNULL, text=True,
                       stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
lines = []
reader = threading.Thread(target=lambda: lines.extend(job.stdout))
reader.start()
while (victim := pid_of_pe(1)) is None and job.poll() is None:
    time.sleep(0.05)
while job.poll() is None and not has_mapped_the_heap(victim):
    time.sleep(0.05)
time.sleep(1.5)  # most likely its kernels run now; the test holds without that, too
if job.poll() is not None:
    sys.exit(f"the job ended with {job.returncode} before PE 1 was killed:\n{''.join(lines)}")
os.kill(victim, signal.SIGKILL)
died_at = time.time()
code = job.wait()
ended_after = time.time() - died_at
reader.join()

said = [line for line in lines if line.startswith("[0] ")]
words = "".join(said)
shown = "".join(lines[:5] + ["...\n"] + lines[-30:])
named = [line for line in said if "PE 1 " in line and re.search(PATHS, line)]
steps = re.findall(r"^\[0\] +(\d+) +[-\d.]+ +[-\d.]+ +[-\d.]+", words, re.MULTILINE)
faults = []
if not named:
    faults.append("PE 0 did not say that PE 1 is gone and how it knows")
if ended_after > ALLOWED_S:
    faults.append(f"the job ended {ended_after:.1f} s after the kill, allowed are {ALLOWED_S}")
if code != 128 + signal.SIGKILL:
    faults.append(f"chime-run ended with {code}, not that of the killed PE")
faults += [f"PE 0 says '{blame}'" for blame in BLAMES if blame in words]
if len(steps) != len(set(steps)):
    faults.append("the same step is printed twice")
print(shown)
print(f"{len(steps)} lines of steps; the job ended {ended_after:.1f} s after the kill with {code}")
sys.exit("\n".join(faults) if faults else 0)
