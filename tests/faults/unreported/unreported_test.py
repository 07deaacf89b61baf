"""A failure is reported while a kernel still waits: unreported_test.py <chime-run> <unreported> <case>. Passes if PE 0 reports the failure
once during its wait, PE 1's word ends the wait without an error all the same, and the next call fails with the same error."""
import re
import subprocess
import sys

PES = {"nic": 2, "fabric": 3, "argument": 2}
WORDS = {
    "nic": r"in thread 0 .*: an operation on heap \+ \d+ of PE 1 failed: .*the peer's NIC may not use that memory",
    "fabric": r"in thread 0 .*: an operation on heap \+ \d+ of PE 2 failed: .*PE 2 has shown no sign of life",
    "argument": r"chime_put.* in thread 0 of block 0 of a kernel: .*heap",
}
STATUS = {"nic": 12, "fabric": 12, "argument": 1}
chime_run, program, case = sys.argv[1:]
done = subprocess.run([chime_run, "-n", str(PES[case]), "--timeout", "60", program, case], stdin=subprocess.DEVNULL,
                      stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=80, check=False)
print(done.stdout)
lines = done.stdout.splitlines()


def where(pattern):
    return [i for i, line in enumerate(lines) if re.search(pattern, line)]


said = where(rf"^\[0\] chime: PE 0: {WORDS[case]}.*\(reported now because no host call has asked")
over = where(r"^\[0\] the wait is over$")  # lines of one PE are in order, those of two PEs are not
wrong = []
if len(said) != 1:
    wrong.append(f"PE 0 said it {len(said)} times")
if len(where(rf"^\[0\] chime: .*{WORDS[case]}")) > 1:
    wrong.append("the call that failed by it said it again")
if len(over) != 1:
    wrong.append("the wait did not end by its word")
elif said and said[0] > over[0]:
    wrong.append("PE 0 said it when the wait was over")
if not where(rf"^\[0\] status {STATUS[case]}$"):
    wrong.append("the next call did not fail by it")
if done.returncode != 0:
    wrong.append(f"chime-run ended with {done.returncode}")
sys.exit("\n".join(wrong) if wrong else 0)
