#!/usr/bin/env python3
"""Plants the faults of mutants.toml and shows which oracle kills each. See README.md."""

import argparse
import concurrent.futures
import os
import pathlib
import random
import sys
import tomllib

from build_folder import Broken, Build
from copies import copies_of
from deadlines import Deadline, exit_status, seconds_to_begin
from faults import Fault, SeenKilled


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--source", type=pathlib.Path, required=True)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--kind", choices=["cpu", "tsan", "cuda", "softgpu"], required=True)
    parser.add_argument("--changed", action="store_true", help="only faults that were not killed with exactly these files")
    parser.add_argument("--seconds", type=int, default=0,
                        help="for rows that were never killed here: begin none after a quarter of these; 0: run all")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--nvcc", default="", help="for mutants of kind cuda")
    parser.add_argument("--include-paths", default="", help="of device code, with : between")
    arguments = parser.parse_args()
    arguments.source, arguments.build = arguments.source.resolve(), arguments.build.resolve()
    return arguments


def does_not_fit(fault):
    """Returns why the row no longer fits the code, without running it; or None."""
    try:
        fault.text()
    except Broken as problem:
        return f"{fault.name}: {problem}"


def main():
    arguments = parse_arguments()
    rows = tomllib.loads((arguments.source / "tests/mutants/mutants.toml").read_text())["mutant"]
    wanted = os.environ.get("CHIME_TEST_MUTANTS", "")
    faults = [fault for fault in (Fault(row, arguments.source) for row in rows) if fault.kind == arguments.kind and wanted in fault.name]
    if not faults:
        print(f"no mutant of kind {arguments.kind} has '{wanted}' in its name")
        return 77 if not wanted else 1
    if arguments.kind == "cuda" and not arguments.nvcc:
        print("no mutant of kind cuda can run: this build has no nvcc")
        return 77
    seen = SeenKilled()
    if arguments.changed:
        unchanged = [fault for fault in faults if seen.has(fault)]
        faults = [fault for fault in faults if fault not in unchanged]
        print(f"{len(unchanged)} mutants were killed with exactly these files ({seen.path}), {len(faults)} were not")
        if not faults:
            return 0

    misfits = [problem for problem in map(does_not_fit, faults) if problem]
    if misfits:
        print("\n".join(misfits))
        return 1

    build = Build(arguments.build, arguments.nvcc, arguments.include_paths)
    copies = copies_of(faults, arguments.source, build, arguments.build / "mutants")
    deadlines = {changed: Deadline(seconds_to_begin(arguments.seconds, changed)) for changed in (True, False)}
    is_changed = {copy: any(map(seen.has_another, copy.faults)) for copy in copies}
    if arguments.seconds:  # so that successive runs reach all rows
        random.shuffle(copies)
        copies.sort(key=is_changed.get, reverse=True)
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        found = pool.map(lambda copy: copy.verdicts(deadlines[is_changed[copy]]), copies)
        verdicts = [verdict for verdicts in found for verdict in verdicts]

    print(f"{'mutant':44} {'oracle':30} {'s':>5} killed by")
    for fault, killed, words, seconds in sorted(verdicts, key=lambda verdict: faults.index(verdict[0])):
        print(f"{fault.name:44} {fault.oracle:30} {seconds:5.1f} {words if killed else '-- NOT KILLED: ' + words}")
    killed = [fault for fault, is_killed, _, _ in verdicts if is_killed]
    for fault in killed:
        seen.add(fault)
    print(f"{len(killed)} of {len(verdicts)} mutants killed")
    if len(verdicts) < len(faults):
        print(f"{len(faults) - len(verdicts)} were not run in time: the next run continues, "
              "scripts/soak runs all")
    if not verdicts:
        print("no row ran, so nothing is proved: the machine is too slow, or --seconds too small")
    return exit_status(len(faults), len(verdicts), len(killed))


if __name__ == "__main__":
    sys.exit(main())
