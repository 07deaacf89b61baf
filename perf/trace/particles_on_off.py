#!/usr/bin/env python3
"""particles_on_off.py <build folder> [runs]: the wall time of particles on 4 PEs, 100 steps, with and without a timeline, in turns.

Prints the best and the median of each, the ratio of the medians, and the timeline's size. Joining the parts is in the time: chime_finalize does it.
"""

import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time


def run_s(command):
    begin = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - begin


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 9
    data = pathlib.Path(__file__).resolve().parents[2] / "examples/particles/data/data.lj.4k.step0.gz"
    launcher = [str(build / "tools/chime-run/chime-run"), "-n", "4"]
    program = [str(build / "examples/particles"), "--data", str(data), "--steps", "100"]
    os.environ.pop("CHIME_TRACE", None)
    with tempfile.TemporaryDirectory() as folder:
        file = f"{folder}/run.json"
        off, on = [], []
        for _ in range(runs):
            off.append(run_s(launcher + program))
            on.append(run_s(launcher + ["--trace", file] + program))
        facts = json.loads(pathlib.Path(file).read_text(encoding="utf-8"))["otherData"]
        size = pathlib.Path(file).stat().st_size
    print(f"particles, 4096 atoms, 4 PEs, 100 steps, {runs} runs of each in turns (s)")
    print(f"{'timeline':10} {'best':>8} {'median':>8}")
    for name, times in (("off", off), ("on", on)):
        print(f"{name:10} {min(times):8.3f} {statistics.median(times):8.3f}")
    print(f"ratio of the medians {statistics.median(on) / statistics.median(off):.2f}; {facts['events']} events, "
          f"{facts['dropped']} without room, {size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
