#!/usr/bin/env python3
"""Plants the faults of mutants.toml and shows which oracle kills each. See README.md."""

import argparse
import concurrent.futures
import os
import pathlib
import sys
import tomllib

from build_folder import Build
from copies import Copy, copies_of
from faults import Fault, SeenKilled


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--source", type=pathlib.Path, required=True)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--kind", choices=["cpu", "tsan", "cuda", "softgpu"], required=True)
    parser.add_argument("--changed", action="store_true", help="only faults whose files changed since seen_killed.txt")
    parser.add_argument("--record", action="store_true", help="write into seen_killed.txt which were killed")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--nvcc", default="", help="for mutants of kind cuda")
    parser.add_argument("--include-paths", default="", help="of device code, with : between")
    arguments = parser.parse_args()
    arguments.source, arguments.build = arguments.source.resolve(), arguments.build.resolve()
    return arguments


def main():
    arguments = parse_arguments()
    rows = tomllib.loads((arguments.source / "tests/mutants/mutants.toml").read_text())["mutant"]
    every = [Fault(row, arguments.source) for row in rows]
    wanted = os.environ.get("CHIME_TEST_MUTANTS", "")
    faults = [fault for fault in every if fault.kind == arguments.kind and wanted in fault.name]
    if not faults:
        print(f"no mutant of kind {arguments.kind} has '{wanted}' in its name")
        return 77 if not wanted else 1
    seen = SeenKilled(arguments.source / "tests/mutants/seen_killed.txt")
    if arguments.changed:
        unchanged = [fault for fault in faults if seen.has(fault)]
        faults = [fault for fault in faults if fault not in unchanged]
        print(f"{len(unchanged)} mutants were seen killed with these very files (seen_killed.txt), {len(faults)} are run")
        if not faults:
            return 0

    build = Build(arguments.build, arguments.nvcc, arguments.include_paths)
    build.make(sorted(set().union(*(fault.targets() for fault in faults))))
    copies = copies_of(faults, arguments.source, build, arguments.build / "mutants")
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        verdicts = [verdict for verdicts in pool.map(Copy.verdicts, copies) for verdict in verdicts]

    print(f"{'mutant':44} {'oracle':30} {'s':>5} killed by")
    for fault, killed, words, seconds in sorted(verdicts, key=lambda verdict: faults.index(verdict[0])):
        print(f"{fault.name:44} {fault.oracle:30} {seconds:5.1f} {words if killed else '-- NOT KILLED: ' + words}")
    killed = [fault for fault, is_killed, _, _ in verdicts if is_killed]
    print(f"{len(killed)} of {len(faults)} mutants killed")
    if arguments.record:
        seen.write(killed, every)
    return 0 if len(killed) == len(faults) else 1


if __name__ == "__main__":
    sys.exit(main())
