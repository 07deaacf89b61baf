#!/usr/bin/env python3
"""start_traffic_test.py <chime-run> <pe program> <most PEs> promised|not_yet [variable=value...]

A PE's start has no traffic that grows with the job: over the connections to the launcher's hub and to other PEs' side
channels, at 2 to 32 PEs, it is the same number of messages, and the same bytes except for the numbers of its node's
PEs (4 bytes each), which here are all.

promised: fails if that does not hold. not_yet: it is known not to hold; fails once it does, so that the entry is
changed."""

import re
import subprocess
import sys
import tempfile

NODE_PE_BYTES = 4
# A PE number in words, lengths of texts: they grow with the job by a digit at most.
SLACK_MESSAGES, SLACK_BYTES = 2, 64
# The PE with its node's hub, and PE 0, send more answers: so the PE with the most traffic of each job counts.
SAID = re.compile(r"started: pe (\d+) hub (\d+) (\d+) mesh (\d+) (\d+)")


def start(chime_run, program, n, environment):
    command = [chime_run, "-n", str(n), "--timeout", "100"]
    with tempfile.TemporaryDirectory() as folder:
        command += ["env", *environment, program, folder]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    said = [tuple(map(int, match)) for match in SAID.findall(done.stdout)]
    if done.returncode != 0 or len(said) != n:
        sys.exit(f"{n} PEs did not start (exit {done.returncode}), {len(said)} said so:\n{done.stdout}{done.stderr}")
    messages = max(hub + mesh for _, hub, _, mesh, _ in said)
    size = max(hub + mesh for _, _, hub, _, mesh in said)
    return messages, size - NODE_PE_BYTES * n


def main():
    chime_run, program, most, status, *environment = sys.argv[1:]
    counts = {n: start(chime_run, program, n, environment) for n in (2, 4, 8, 16, 32) if n <= int(most)}
    print("PEs  messages  bytes (the most of any PE, without the numbers of its node's PEs)")
    for n, (messages, size) in counts.items():
        print(f"{n:3}  {messages:8}  {size:5}")
    first, last = counts[2], counts[max(counts)]
    holds = last[0] <= first[0] + SLACK_MESSAGES and last[1] <= first[1] + SLACK_BYTES
    if status == "promised" and not holds:
        sys.exit("a PE's start grows with the number of PEs")
    if status == "not_yet" and holds:
        sys.exit("a PE's start does not grow with the number of PEs any more: promise it (CMakeLists.txt)")
    print("the same for any number of PEs" if holds else "NOT REACHED YET: it grows with the number of PEs")


main()
