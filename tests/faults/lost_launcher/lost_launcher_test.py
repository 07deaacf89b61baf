"""Kills the launcher of a real job: lost_launcher_test.py <victim> <chime-run> <lost_launcher> <where the PEs are>.

<victim>: mpirun, chime-run (the process that the user started) or chime-run-launcher (its child, the PEs' parent).

Passes if all PEs end within 10 s, if a remaining process reports the reason (under mpirun each PE, on its own stderr;
chime-run kills its PEs, and its other process reports it), and if nothing of the job is left in /dev/shm.
Exit code 77: the launcher is not installed."""
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import uuid

PES = 3
READY_S = 60       # until all PEs are in their wait
ALLOWED_S = 10     # from the kill to the end of the last PE
HEAD_START_S = 0.3  # from "ready" into the wait
SETTLE_S = 40      # the test's own limit after the kill: it separates slow ends from no end

victim, chime_run, program, where = sys.argv[1:]
mark = uuid.uuid4().hex
environment = dict(os.environ, CHIME_TEST_MARK=mark)
folder = tempfile.mkdtemp(prefix="chime-lost-launcher-")


def command():
    if victim != "mpirun":
        return [chime_run, "-n", str(PES), program, where, folder]
    if not shutil.which("mpirun"):
        print("skipped: mpirun is not installed (Debian: openmpi-bin)")
        sys.exit(77)
    return ["mpirun", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "-n", str(PES), program, where, folder]


def processes_of_job():
    """All processes of the job: pid -> command line."""
    found = {}
    for pid in map(int, filter(str.isdigit, os.listdir("/proc"))):
        try:
            with open(f"/proc/{pid}/environ", "rb") as file:
                if mark.encode() not in file.read():
                    continue
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                if words := file.read().replace(b"\0", b" ").decode().strip():  # zombies have none
                    found[pid] = words
        except OSError:
            pass
    return found


def pes():
    return {pid for pid, words in processes_of_job().items() if words.split()[0] == program}


def wait_until(condition, seconds):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


def all_ready():
    return all(os.path.exists(f"{folder}/ready.{pe}") for pe in range(PES))


def child_of(pid):
    with open(f"/proc/{pid}/task/{pid}/children") as file:
        children = file.read().split()
    if len(children) != 1:
        sys.exit(f"chime-run has the children {children}, not one launcher")
    return int(children[0])


def text_of(path):
    with open(path) as file:
        return file.read()


def check_words():
    if victim == "mpirun":
        for pe in range(PES):
            words = text_of(f"{folder}/err.{pe}")
            if not re.search(r"launcher .*(gone|cannot be reached|does not answer)", words):
                sys.exit(f"PE {pe} did not say that its launcher is gone; it said: {words!r}")
    elif not re.search(r"chime-run: its (launcher|first) process was killed", text_of(f"{folder}/launcher")):
        sys.exit("what was left of chime-run did not say why the job has ended")


def run():
    with open(f"{folder}/launcher", "w") as output:
        job = subprocess.Popen(command(), env=environment, stdin=subprocess.DEVNULL, stdout=output, stderr=output)
    if not wait_until(all_ready, READY_S):
        sys.exit("the PEs did not come to where they wait")
    time.sleep(HEAD_START_S)
    os.kill(child_of(job.pid) if victim == "chime-run-launcher" else job.pid, signal.SIGKILL)
    killed_at = time.monotonic()
    if not wait_until(lambda: not pes(), SETTLE_S):
        sys.exit(f"processes outlived their launcher: {processes_of_job()}")
    ended_after = time.monotonic() - killed_at
    job.wait(SETTLE_S)
    if not wait_until(lambda: not processes_of_job(), SETTLE_S):
        sys.exit(f"processes are left: {processes_of_job()}")
    print(f"the PEs ended {ended_after:.2f} s after their launcher")
    if ended_after > ALLOWED_S:
        sys.exit(f"it took more than {ALLOWED_S} s")
    check_words()
    if left := [name for name in os.listdir("/dev/shm") if "chime" in name]:
        sys.exit(f"left in /dev/shm: {left}")


try:
    run()
finally:
    for pid in processes_of_job():
        os.kill(pid, signal.SIGKILL)
    for name in sorted(os.listdir(folder)):
        if not name.startswith("ready"):
            print(f"-- {name}\n{text_of(f'{folder}/{name}')}", end="")
    shutil.rmtree(folder)
