"""Collective host calls: how long chime_malloc and chime_free take, by the number of PEs and by the kind of their meeting.
`collective_calls --help` has the options.

Each figure is of a job of its own that makes --calls calls: the mean of the first tenth and of the last. Mapped: the PEs see
each other's memory. Unmapped: they do not (CHIME_P2P=off), as on machines apart."""
import argparse
import json
import os
import re
import shutil
import subprocess
import sys

LIMIT_S = 120  # of a job
COLUMNS = [(launcher, path) for launcher in ("chime-run", "mpirun") for path in ("mapped", "unmapped")]


def command(options, launcher, np):
    if launcher == "chime-run":
        start = [options.chime_run, "-n", str(np), "--timeout", str(LIMIT_S)]
    else:
        start = ["mpirun", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "--timeout", str(LIMIT_S),
                 "-n", str(np)]
    return start + [options.program, str(options.calls)]


def measure(options, launcher, path, np):
    """(first, last) in ms, the job's best by its last."""
    environment = dict(os.environ, CHIME_P2P="off" if path == "unmapped" else "auto", CHIME_NIC="none",
                       CHIME_SYMMETRIC_SIZE="1M")
    runs = []
    for _ in range(options.repeats):
        done = subprocess.run(command(options, launcher, np), env=environment, stdin=subprocess.DEVNULL, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        found = re.search(r"ms a call: (\S+) (\S+)", done.stdout)
        if done.returncode or not found:
            sys.exit(f"collective_calls: {launcher}, {np} PEs, {path}: ended with {done.returncode}:\n{done.stdout}")
        runs.append(tuple(map(float, found.groups())))
    return min(runs, key=lambda run: run[1])


def main():
    parser = argparse.ArgumentParser(prog="collective_calls", description=__doc__.splitlines()[0])
    parser.add_argument("--np", type=int, nargs="+", default=[2, 4, 8, 16, 32, 64], help="numbers of PEs")
    parser.add_argument("--calls", type=int, default=1000, help="calls a job makes (default 1000)")
    parser.add_argument("--repeats", type=int, default=3, help="jobs for each figure, the best counts (default 3)")
    parser.add_argument("--quick", action="store_true", help="one job of 2 PEs and 20 calls each: shows that it runs")
    parser.add_argument("--json", metavar="FILE", help="write the table as JSON, too")
    parser.add_argument("--chime-run", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--program", required=True, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.quick:
        options.np, options.calls, options.repeats = [2], 20, 1
    columns = [column for column in COLUMNS if column[0] != "mpirun" or shutil.which("mpirun")]
    notes = [f"ms a call (chime_malloc and chime_free in turns), mean of the first and of the last tenth of {options.calls} calls",
             f"best of {options.repeats} jobs; {os.cpu_count()} cores; load average at start: "
             + " ".join(f"{load:.2f}" for load in os.getloadavg())]
    print("# Chime collective host calls")
    for note in notes:
        print("#", note)
    names = [f"{launcher}, {path}" for launcher, path in columns]
    print("# " + f"{'PEs':<6}" + "".join(f"{name:>24}" for name in names), flush=True)
    rows = []
    for np in options.np:
        figures = [measure(options, launcher, path, np) for launcher, path in columns]
        print(f"{np:<8}" + "".join(f"{first:>15.3f} {last:>8.3f}" for first, last in figures), flush=True)
        rows.append({"PEs": np, **{f"{name}, {part}": value for name, figure in zip(names, figures)
                                   for part, value in zip(("first", "last"), figure)}})
    if options.json:
        with open(options.json, "w") as file:
            json.dump({"title": "collective host calls", "notes": notes, "key": "PEs", "rows": rows}, file, indent=1)


if __name__ == "__main__":
    main()
