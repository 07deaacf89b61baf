"""A PE whose NIC vanishes reports its own NIC, in whatever call it is: own_device_test.py <chime-run> <own_device> <case>. Passes
if PE 1 reports it long before CHIME_TIMEOUT, and the job ends with it."""
import re
import subprocess
import sys
import time

LIMIT_S, AT_ONCE_S = 90, 30  # 4 s of these until it vanishes; CHIME_TIMEOUT is 60
chime_run, program, case = sys.argv[1:]
begun = time.monotonic()
done = subprocess.run([chime_run, "-n", "2", "--timeout", str(LIMIT_S), program, case], stdin=subprocess.DEVNULL,
                      stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=LIMIT_S + 20, check=False)
seconds = time.monotonic() - begun
print(done.stdout)
wrong = []
if not re.search(r"^\[1\] chime: PE 1: .*PE 1 reaches no peer any more: its own NIC \S+ is gone", done.stdout, re.MULTILINE):
    wrong.append("PE 1 did not say that it is its own NIC")
if re.search(r"came to the end of its call", done.stdout):
    wrong.append("PE 1 went on")
if done.returncode in (0, 3):
    wrong.append(f"chime-run ended with {done.returncode}")
if seconds > AT_ONCE_S:
    wrong.append(f"it took {seconds:.0f} s")
sys.exit("\n".join(wrong) if wrong else 0)
