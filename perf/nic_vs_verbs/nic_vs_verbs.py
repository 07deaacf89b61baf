"""Puts through the emulated NIC beside the same writes posted by libmlx5. `nic_vs_verbs --help` has the options.

Both go from one process to another through the softnic, one at a time: a write from its post to its completion (softnic_perf,
column Write) and a put with the quiet after it (put_lat with no PE mapped). What Chime adds is the difference. The target
sleeps. All run in turns, so that they meet the same machine, and the best of each is compared."""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

LIMIT_S = 250
COLUMNS = ["verbs (us)", "Host (us)", "Thread (us)", "Host/verbs", "Thread/verbs"]


def figures_of(command, folder, environment):
    """The only row of a benchmark's table."""
    result = pathlib.Path(folder) / "table.json"
    done = subprocess.run([*command, "--json", str(result)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, timeout=LIMIT_S, env=dict(os.environ, **environment))
    if done.returncode:
        sys.exit(f"nic_vs_verbs: {' '.join(command)} ended with {done.returncode}:\n{done.stdout}")
    return json.loads(result.read_text())["rows"][0]


def measure(options, size, folder):
    common = ["--min", str(size), "--max", str(size), "--repeats", "1"] + (["--quick"] if options.quick else [])
    unmapped = {"CHIME_NIC": "soft", "CHIME_P2P": "off", "CHIME_NIC_BACKEND": options.backend}
    best = dict.fromkeys(COLUMNS[:3], float("inf"))
    for _ in range(options.repeats):
        verbs = figures_of([options.softnic_run, options.softnic_perf, *common], folder, {})
        best["verbs (us)"] = min(best["verbs (us)"], verbs["Write (us)"])
        chime = figures_of([options.chime_run, "-n", "2", options.put_lat, *common], folder, unmapped)
        for name in ["Host (us)", "Thread (us)"]:
            best[name] = min(best[name], chime[name])
    return best | {f"{name}/verbs": best[f"{name} (us)"] / best["verbs (us)"] for name in ["Host", "Thread"]}


def main():
    parser = argparse.ArgumentParser(prog="nic_vs_verbs", description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=[8, 64, 4096, 65536], help="bytes of a put, 8 at least")
    parser.add_argument("--backend", choices=["verbs", "devx"], default="verbs", help="how Chime makes its queue pairs")
    parser.add_argument("--repeats", type=int, default=7, help="runs of each, the best counts (default 7)")
    parser.add_argument("--quick", action="store_true", help="few iterations: shows that it runs, not how fast")
    parser.add_argument("--json", metavar="FILE", help="write the table as JSON, too")
    for program in ["chime-run", "put-lat", "softnic-run", "softnic-perf"]:
        parser.add_argument(f"--{program}", required=True, help=argparse.SUPPRESS)
    options = parser.parse_args()

    notes = ["verbs: one write from its post to its completion. Host, Thread: put + quiet of a host thread, of a kernel",
             f"no PE is mapped; back end {options.backend}; best of {options.repeats} runs, in turns",
             "load average at start: " + " ".join(f"{load:.2f}" for load in os.getloadavg())]
    print("# Chime puts through the softnic")
    for note in notes:
        print("#", note)
    print("# " + f"{'Size':<8}" + "".join(f"{name:>16}" for name in COLUMNS), flush=True)
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for size in options.sizes:
            row = measure(options, size, folder)
            print(f"{size:<10}" + "".join(f"{row[name]:>16.3f}" for name in COLUMNS), flush=True)
            rows.append({"Size": size, **row})
    if options.json:
        with open(options.json, "w") as file:
            json.dump({"title": "puts through the softnic", "notes": notes, "key": "Size", "rows": rows}, file, indent=1)


if __name__ == "__main__":
    main()
