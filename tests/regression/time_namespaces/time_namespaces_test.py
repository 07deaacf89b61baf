"""PEs in time namespaces of their own: time_namespaces_test.py chime-run|mpirun <chime-run> <setup_pe>.

The kernel adds the reader's time namespace to the start times that it shows. PEs compared theirs with the times that their peers
had read, and each reported that the other's process "has ended". Exit code 77: no such namespace can be made here, or no mpirun."""
import os
import re
import shutil
import subprocess
import sys

kind, chime_run, program = sys.argv[1:]
LIMIT_S = 60
# Seconds by which each PE's clocks are moved.
MOVED = {"the first": {0: 1000}, "the second": {1: 1000}, "both": {0: 86400, 1: 7}}
SEEN_BY_THE_WATCH = "has ended (process watch)"
UNSHARE = "unshare --time --boottime {0} --monotonic {0}"


def skip(why):
    print("skipped:", why)
    sys.exit(77)


def run(command):
    return subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          timeout=LIMIT_S + 20, env=dict(os.environ, CHIME_P2P="auto"))


def job(moved, body):
    if kind == "mpirun":
        launcher = ["mpirun", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "--timeout", str(LIMIT_S)]
    else:
        launcher = [chime_run, "--keep-going", "--timeout", str(LIMIT_S)]
    cases = " ".join(f'{pe}) exec {UNSHARE.format(seconds)} "$@" ;;' for pe, seconds in moved.items())
    script = f'case ${{CHIME_RUN_PE:-$PMIX_RANK}} in {cases} *) exec "$@" ;; esac'
    done = run(launcher + ["-n", "2", "sh", "-c", script, "sh", program, body])
    print(done.stdout)
    return done


probe = run(UNSHARE.format(1).split() + ["true"])
if probe.returncode != 0:
    skip("time namespaces take root, Linux 5.6 and util-linux 2.36: " + probe.stdout.strip())
if kind == "mpirun" and not shutil.which("mpirun"):
    skip("mpirun is not installed (Debian: openmpi-bin)")

for who, moved in MOVED.items():
    done = job(moved, "exchanges_words")
    assert done.returncode == 0, f"{who} in a time namespace: the job ended with {done.returncode}"
    for pe in (0, 1):
        assert f"PE {pe} says sees 1 2 at" in done.stdout, f"{who} in a time namespace: PE {pe} does not have both words"
    # mpirun ends the survivor before it can report anything.
    if kind == "chime-run":
        # The job's hub notices the closed connection, too. Only the first of the two is reported.
        for _ in range(20):
            done = job(moved, "is_killed")
            assert re.search(r"PE 0: PE 1 .*is gone", done.stdout), f"{who}: a death was not reported"
            if SEEN_BY_THE_WATCH in done.stdout:
                break
        assert SEEN_BY_THE_WATCH in done.stdout, f"{who}: the process watch has not seen a death in 20 jobs"
