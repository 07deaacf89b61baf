"""The common parts of the scripts here: arguments, running particles on n PEs, and checks that print what they saw."""

import argparse
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

# Seconds that one run may take.
LIMIT = int(os.environ.get("CHIME_TEST_LIMIT", 100))


def parse_arguments(*extra):
    parser = argparse.ArgumentParser()
    parser.add_argument("--particles", required=True)
    parser.add_argument("--chime-run", required=True)
    parser.add_argument("--data", type=pathlib.Path, required=True)
    parser.add_argument("--launcher", type=shlex.split, help="in place of chime-run; -n and the PEs come behind its words")
    for name, kind in extra:
        parser.add_argument(name, type=kind, required=True)
    return parser.parse_args()


class Runner:
    """Runs particles and returns what it wrote as JSON."""

    def __init__(self, args):
        self.args = args
        self.folder = tempfile.TemporaryDirectory(prefix="particles-")

    def start(self, pes, *options, environment=None, limit=LIMIT):
        launcher = self.args.launcher or [self.args.chime_run]
        command = [*launcher, "-n", str(pes), self.args.particles, *map(str, options)]
        return self.execute(command, environment, limit)

    def execute(self, command, environment=None, limit=LIMIT):
        return subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=limit,
                              env={**os.environ, **(environment or {})}, check=False)

    def json(self, pes, *options, environment=None, limit=LIMIT):
        path = pathlib.Path(self.folder.name) / "result.json"
        path.unlink(missing_ok=True)
        done = self.start(pes, *options, "--json", path, environment=environment, limit=limit)
        if done.returncode != 0:
            sys.exit(f"particles {' '.join(map(str, options))} on {pes} PEs ended with {done.returncode}:\n"
                     f"{done.stdout}{done.stderr}")
        return json.loads(path.read_text())


class Checks:
    """Collects failures so that one run shows all of them."""

    def __init__(self):
        self.failures = []
        self.count = 0

    def true(self, fact, what):
        self.count += 1
        if not fact:
            self.failures.append(what)

    def relative(self, seen, expected, tolerance, what):
        difference = abs(seen - expected) / abs(expected)
        self.true(difference <= tolerance, f"{what}: {seen!r}, expected {expected!r}: relative {difference:.2e}")

    def at_most(self, seen, limit, what):
        self.true(seen <= limit, f"{what}: {seen!r} exceeds {limit!r}")

    def finish(self):
        for failure in self.failures:
            print("FAILED", failure)
        print(f"{self.count - len(self.failures)} of {self.count} checks hold")
        sys.exit(1 if self.failures or not self.count else 0)


def read_log(path):
    """The thermo table of a LAMMPS log: step -> {temperature, pair_energy, total_energy, pressure}."""
    table = {}
    columns = None
    for line in path.read_text().splitlines():
        words = line.split()
        if words[:2] == ["Step", "Temp"]:
            columns = words
        elif columns and re.fullmatch(r"\d+", words[0] if words else ""):
            row = dict(zip(columns, map(float, words)))
            table[int(row["Step"])] = {"temperature": row["Temp"], "pair_energy": row["PotEng"],
                                       "total_energy": row["TotEng"], "pressure": row["Press"]}
        elif columns:
            break
    return table
