"""Survivors of PE 1, which is killed, go on: survivors_test.py <chime-run> <program> <case> [<PEs> <seconds>]. Passes if each prints
that it survived, and reports once, on its own stderr, which PE is gone and that it goes on."""
import re
import subprocess
import sys

chime_run, program, case, *numbers = sys.argv[1:]
pes, limit_s = map(int, numbers or (3, 90))
done = subprocess.run([chime_run, "-n", str(pes), "--keep-going", "--timeout", str(limit_s), program, case], stdin=subprocess.DEVNULL,
                      stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=limit_s + 20)
print(done.stdout)
wrong = []
for pe in (pe for pe in range(pes) if pe != 1):
    if f"[{pe}] PE {pe} survived\n" not in done.stdout:
        wrong.append(f"PE {pe} did not survive")
    told = re.findall(rf"\[{pe}\] chime: PE {pe}: PE 1 \(.*\) is gone: .*; going on without it", done.stdout)
    if len(told) != 1:
        wrong.append(f"PE {pe} reported {len(told)} times that it goes on")
if done.returncode != 128 + 9:
    wrong.append(f"chime-run ended with {done.returncode}, not that of the killed PE")
sys.exit("\n".join(wrong) if wrong else 0)
