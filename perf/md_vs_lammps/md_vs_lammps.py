"""Molecular dynamics beside LAMMPS: time of the same Lennard-Jones steps. `md_vs_lammps --help` has the options.

Same crystal, temperature, potential, time step and skin. LAMMPS runs its stock benchmark (lists every 20 steps, unchecked:
it loses pairs) and with the policy of particles (lists when an atom has moved half the skin: it loses none). All run in
turns, so that they meet the same machine, and the best of each is compared. CPU columns are processor seconds of the
whole job, start included: where they exceed or fall short of PEs x wall, something else ran."""
import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
LIMIT_S = 600
SILENCE_S = 5
POLICIES = {"lammps": "every 20 check no", "lammps exact": "every 1 check yes"}
PROGRAMS = [*POLICIES, "particles", "particles single"]


def run(command, folder):
    """Output and processor seconds of a job."""
    before = os.times()
    done = subprocess.run(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, timeout=LIMIT_S)
    after = os.times()
    if done.returncode:
        sys.exit(f"md_vs_lammps: {' '.join(command)} ended with {done.returncode}:\n{done.stdout}")
    spent = after.children_user + after.children_system - before.children_user - before.children_system
    return done.stdout, spent


def under_mpirun(options, pes, command):
    if pes == 1:
        return command
    return ["mpirun", "--allow-run-as-root", "--oversubscribe", "--timeout", str(LIMIT_S), "-n", str(pes), *command]


def run_lammps(options, pes, policy, folder):
    command = [options.lammps, "-in", str(HERE / "in.lj"), "-log", "none", "-var", "cells", str(options.cells),
               "-var", "nsteps", str(options.steps), "-var", "policy", policy]
    text, cpu = run(under_mpirun(options, pes, command), folder)
    return float(re.search(r"Loop time of ([0-9.e+-]+)", text).group(1)), cpu


def run_particles(options, pes, precision, folder):
    result = pathlib.Path(folder) / "particles.json"
    command = [options.particles, "--lattice", str(options.cells), "--steps", str(options.steps), "--thermo", "0",
               "--precision", precision, "--json", str(result)]
    _, cpu = run([options.chime_run, "-n", str(pes), *command], folder)
    return json.loads(result.read_text())["seconds"], cpu


class Pace:
    """Reports on standard error how long it takes, from the first turn of all programs, and how far it is."""

    def __init__(self, options):
        self.jobs = len(options.np) * options.repeats * len(PROGRAMS)
        self.done = 0
        self.start = self.reported = time.monotonic()

    def job_ended(self):
        self.done += 1
        now = time.monotonic()
        is_first_turn_over = self.done == len(PROGRAMS)
        left = (now - self.start) / self.done * (self.jobs - self.done)
        if left > SILENCE_S and (is_first_turn_over or now - self.reported > SILENCE_S):
            hint = "; with --quick a few seconds, to see that it runs" if is_first_turn_over else ""
            print(f"md_vs_lammps: run {self.done} of {self.jobs}, about {left:.0f} s left{hint}", file=sys.stderr, flush=True)
            self.reported = now


def measure(options, pes, folder, pace):
    """Program -> (best wall seconds, its processor seconds), by turns."""
    best = {}
    for _ in range(options.repeats):
        for program in PROGRAMS:
            if program in POLICIES:
                seen = run_lammps(options, pes, POLICIES[program], folder)
            else:
                seen = run_particles(options, pes, "single" if program.endswith("single") else "double", folder)
            best[program] = min(best.get(program, seen), seen)
            pace.job_ended()
    return best


def rows_of(options):
    rows = []
    pace = Pace(options)
    with tempfile.TemporaryDirectory(prefix="md_vs_lammps-") as folder:
        for pes in options.np:
            best = measure(options, pes, folder, pace)
            first = rows[0]["particles"] * rows[0]["pes"] if rows else best["particles"][0] * pes
            rows.append({"pes": pes, **{program: wall for program, (wall, _) in best.items()},
                         **{f"{program} cpu": cpu for program, (_, cpu) in best.items()},
                         "ratio": best["particles"][0] / best["lammps"][0],
                         "ratio exact": best["particles"][0] / best["lammps exact"][0],
                         "speedup": first / best["particles"][0]})
    return rows


def show(options, rows, load):
    atoms = 4 * options.cells**3
    print(f"# Chime molecular dynamics beside LAMMPS lj/cut, {atoms} atoms x {options.steps} steps")
    print(f"# Seconds of the step loop, best of {options.repeats} in turns; load average before {load[0]:.2f}, "
          f"after {os.getloadavg()[0]:.2f}")
    print("# Ratio: particles / lammps, particles / lammps exact; Speed-up: of particles over its first row")
    columns = ["lammps", "lammps exact", "particles", "particles single", "lammps cpu", "particles cpu", "ratio",
               "ratio exact", "speedup"]
    print("# PEs" + "".join(f"{name:>18}" for name in columns))
    for row in rows:
        print(f"{row['pes']:<5}" + "".join(f"{row[name]:>18.3f}" for name in columns))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--particles", required=True, help="the program of this build")
    parser.add_argument("--chime-run", required=True)
    parser.add_argument("--lammps", default="lmp")
    parser.add_argument("--np", type=int, nargs="+", default=[1, 2], help="PEs (default 1 2)")
    parser.add_argument("--cells", type=int, default=20, help="N^3 cells of 4 atoms (default 20: 32000 atoms)")
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--quick", action="store_true", help="500 atoms, 10 steps, once: shows that it runs, not how fast")
    parser.add_argument("--json", type=pathlib.Path)
    options = parser.parse_args()
    if options.quick:
        options.cells, options.steps, options.repeats = 5, 10, 1
    if not shutil.which(options.lammps):
        print(f"md_vs_lammps: skipped: there is no '{options.lammps}' (Debian: apt-get install lammps)")
        sys.exit(77)
    load = os.getloadavg()
    rows = rows_of(options)
    show(options, rows, load)
    if options.json:
        options.json.write_text(json.dumps({"cells": options.cells, "steps": options.steps, "load": load,
                                            "rows": rows}, indent=2) + "\n")


main()
