"""Start-up: wall time of an empty job, with Chime and without. `init_time --help` has the options.

Jobs of both kinds run in turns, so that both meet the same machine, and the best of each is compared: what
disturbs a run only ever adds."""
import argparse
import json
import os
import shutil
import subprocess
import sys
import time

LONG_S = 5  # what takes longer is worth a word
LIMIT_S = 10  # of a job that takes one
FURTHER_TRIES = 3  # where no run of a job counts
MPIRUN_TIMED_OUT = 110
hangs_of_mpirun = 0


def wall_ms(command):
    """The time of one job; infinite if mpirun hung, so the best of many runs ignores it."""
    global hangs_of_mpirun
    begin = time.perf_counter()
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    taken = 1e3 * (time.perf_counter() - begin)
    if done.returncode == MPIRUN_TIMED_OUT:
        # Open MPI 4.1 loses a process that calls PMIx_Init while others are in PMIx_Finalize already. This happens
        # to an empty PMIx job now and then, but not to a Chime job: all its PEs meet in chime_init.
        hangs_of_mpirun += 1
        return float("inf")
    if done.returncode:
        sys.exit(f"init_time: {' '.join(command)} ended with {done.returncode}:\n{done.stdout.decode()}")
    return taken


def under_mpirun(np, program):
    return ["mpirun", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "--timeout", str(LIMIT_S),
            "-n", str(np), program]


def under_chime_run(chime_run, np, program):
    return [chime_run, "-n", str(np), "--timeout", str(LIMIT_S), program]


def jobs_of(options, np):
    """Column -> command; in the order in which they take turns."""
    jobs = {}
    if options.pmix and shutil.which("mpirun"):
        jobs["mpirun, PMIx"] = under_mpirun(np, options.pmix)
        jobs["mpirun, Chime"] = under_mpirun(np, options.chime)
    jobs["chime-run, true"] = under_chime_run(options.chime_run, np, shutil.which("true"))
    jobs["chime-run, Chime"] = under_chime_run(options.chime_run, np, options.chime)
    return jobs


def tell_estimate(options):
    """From one run of each job with the fewest and with the most PEs; between them a job's time is taken to be linear."""
    if options.quick:
        return
    few, many = min(options.np), max(options.np)
    round_s = {np: sum(wall_ms(command) for command in jobs_of(options, np).values()) / 1e3 for np in {few, many}}
    slope = (round_s[many] - round_s[few]) / (many - few or 1)
    seconds = options.repeats * sum(round_s[few] + slope * (np - few) for np in options.np)
    if LONG_S < seconds < float("inf"):
        print(f"init_time: this takes about {seconds:.0f} s; with --quick a few seconds, to see that it runs",
              file=sys.stderr, flush=True)


def measure(options, np):
    jobs = jobs_of(options, np)
    best = dict.fromkeys(jobs, float("inf"))
    for _ in range(options.repeats):
        for name, command in jobs.items():
            best[name] = min(best[name], wall_ms(command))
    for name, command in jobs.items():
        for _ in range(FURTHER_TRIES):
            if best[name] == float("inf"):
                best[name] = wall_ms(command)
        if best[name] == float("inf"):
            sys.exit(f"init_time: no run ended in {LIMIT_S} s: {' '.join(command)}")
    return best


COLUMNS = ["mpirun, PMIx", "mpirun, Chime", "mpirun, added", "chime-run, true", "chime-run, Chime", "chime-run, added"]


def row_of(best):
    row = {name: best.get(name) for name in COLUMNS}
    if row["mpirun, PMIx"] is not None:
        row["mpirun, added"] = row["mpirun, Chime"] - row["mpirun, PMIx"]
    row["chime-run, added"] = row["chime-run, Chime"] - row["chime-run, true"]
    return row


def main():
    parser = argparse.ArgumentParser(prog="init_time", description=__doc__.splitlines()[0])
    parser.add_argument("--np", type=int, nargs="+", default=[1, 2, 4, 8, 16], help="numbers of PEs")
    parser.add_argument("--repeats", type=int, default=11, help="runs of each job, the best counts (default 11)")
    parser.add_argument("--quick", action="store_true", help="one run of each job on 1 and 2 PEs: shows that it runs")
    parser.add_argument("--json", metavar="FILE", help="write the table as JSON, too")
    parser.add_argument("--chime-run", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--chime", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--pmix", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.quick:
        options.repeats, options.np = 1, [1, 2]
    tell_estimate(options)

    notes = [f"wall time of a whole job in ms, best of {options.repeats}; jobs take turns",
             "added: what chime_init and chime_finalize cost, over a job that only starts and ends",
             "load average at start: " + " ".join(f"{load:.2f}" for load in os.getloadavg())]
    if not options.pmix or not shutil.which("mpirun"):
        notes.append("'-': no mpirun here, or Chime was built without PMIx headers")
    print("# Chime start-up time")
    for note in notes:
        print("#", note)
    print("# " + f"{'PEs':<8}" + "".join(f"{name:>20}" for name in COLUMNS), flush=True)
    rows = []
    for np in options.np:
        row = row_of(measure(options, np))
        print(f"{np:<10}" + "".join(f"{'-' if v is None else format(v, '.3f'):>20}" for v in row.values()), flush=True)
        rows.append({"PEs": np, **row})
    if hangs_of_mpirun:
        notes.append(f"{hangs_of_mpirun} runs of mpirun hung in PMIx_Init and do not count")
        print("#", notes[-1])
    if options.json:
        with open(options.json, "w") as file:
            json.dump({"title": "start-up time", "notes": notes, "key": "PEs", "rows": rows}, file, indent=1)


if __name__ == "__main__":
    main()
