"""A kernel's wait that CHIME_TIMEOUT ends is reported in full: late_test.py <chime-run> <late>. Passes if PE 0 reports once the PE,
the seconds, the address, the value that it waited for and the last value seen, and the job ends with an error."""
import os
import re
import subprocess
import sys

TIMEOUT_S = 2
chime_run, program = sys.argv[1:]
done = subprocess.run([chime_run, "-n", "2", "--timeout", "60", program], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                      stderr=subprocess.STDOUT, text=True, timeout=80, check=False,
                      env=dict(os.environ, CHIME_TIMEOUT=str(TIMEOUT_S)))
print(done.stdout)
told = re.findall(r"^\[0\] chime: PE 0: (?:\w+: )?chime_barrier_all in thread 0 of block 0 of a kernel: the wait for PE 1 ended after "
                  r"([\d.]+) s, at heap \+ \d+, which is Chime's own \(it waited for (\d+), and last saw (\d+)\): its time is over "
                  r"\(CHIME_TIMEOUT bounds Chime's waits\)", done.stdout, re.MULTILINE)
wrong = []
if len(told) != 1:
    wrong.append(f"the wait was reported {len(told)} times")
for seconds, awaited, seen in told:
    if not TIMEOUT_S <= float(seconds) < 20 * TIMEOUT_S:
        wrong.append(f"it took {seconds} s and not {TIMEOUT_S}")
    if int(seen) != int(awaited) - 1:
        wrong.append(f"PE 1 has met once: {seen} is not one less than {awaited}")
if done.returncode in (0, 124):
    wrong.append(f"the job ended with {done.returncode}")
sys.exit("\n".join(wrong) if wrong else 0)
