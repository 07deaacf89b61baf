"""Runs a bootstrap body under a launcher: run_body.py chime-run|mpirun <chime-run> <bootstrap_pe> <body>.

Fails when a PE prints FAILED, when PEs that should live do not exit with 0, or when the launcher's own exit code is
not the one for this body. Exit code 77: the launcher is not installed."""
import shutil
import subprocess
import sys

PES = 3
LIMIT_S = 60
kind, chime_run, program, body = sys.argv[1:]
has_victim = body.startswith("a_killed_pe")
# Its launcher takes an end without a goodbye for a failure.
ends_unreported = body == "a_stopped_launcher_keeps_nobody_who_publishes_or_ends"

if kind == "mpirun":
    if not shutil.which("mpirun"):
        print("skipped: mpirun is not installed (Debian: openmpi-bin)")
        sys.exit(77)
    # mpirun limits itself: if killed from outside it would leave its processes behind.
    launcher = ["mpirun", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none",
                "--timeout", str(LIMIT_S), "--enable-recovery", "-n", str(PES)]
else:
    launcher = [chime_run, "-n", str(PES), "--keep-going", "--timeout", str(LIMIT_S)]

done = subprocess.run(launcher + [program, body], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                      stderr=subprocess.STDOUT, text=True, timeout=LIMIT_S + 20)
print(done.stdout)
expected = 128 + 9 if has_victim else 0
if "FAILED" in done.stdout:
    sys.exit("a PE says that the body does not hold")
if ends_unreported:
    sys.exit("the PE has ended without its launcher" not in done.stdout)
# With --enable-recovery mpirun may end with 0 although a PE was killed.
if done.returncode != expected and not (kind == "mpirun" and has_victim and done.returncode == 0):
    sys.exit(f"the launcher ended with {done.returncode}, not {expected}")
