#!/usr/bin/env python3
"""misses.py <criterion> <command>...: whether the command fails because this criterion of mixed_traffic is missed, and no other."""
import re
import subprocess
import sys

criterion, command = sys.argv[1], sys.argv[2:]
run = subprocess.run(command, stdout=subprocess.PIPE, text=True)
print(run.stdout)
lines = re.sub(r"^\[0\] ", "", run.stdout, flags=re.MULTILINE)  # chime-run names the PE
last_try = lines.rpartition("# Chime mixed traffic")[2]
verdicts = {name: verdict for verdict, name in re.findall(r"^# (ok|-|MISSED) +(\S+(?: \S+)*)  ", last_try, re.MULTILINE)}
missed = [name for name, verdict in verdicts.items() if verdict == "MISSED"]
if len(verdicts) != 11 or missed != [criterion] or run.returncode != 1:
    sys.exit(f"status {run.returncode}, {len(verdicts)} criteria, missed: {missed}; expected: status 1, 11, ['{criterion}']")
