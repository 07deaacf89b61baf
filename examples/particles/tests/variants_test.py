"""The sender of the halo, the number of threads and their order do not change a bit of the result.

Warps (32 threads and more) read interleaved rows, whose terms the compiler may add in another order: there the lines
agree as they do with LAMMPS.
"""

from harness import Checks, Runner, parse_arguments

VARIANTS = {
    "stream": (["--halo", "stream"], {}),
    "host": (["--halo", "host"], {}),
    "two blocks": (["--blocks", 2], {}),
    "8 threads": (["--threads", 8], {}),
    "weak memory": (["--blocks", 2, "--threads", 4], {"CHIME_SIMT_WEAK": "1", "CHIME_SIMT_SEED": "7"}),
    "another schedule": (["--blocks", 2, "--threads", 4], {"CHIME_SIMT_SEED": "11"}),
    "stream, weak memory": (["--halo", "stream", "--threads", 4], {"CHIME_SIMT_WEAK": "1", "CHIME_SIMT_SEED": "3"}),
}

WARPS = ["--blocks", 3, "--threads", 40]


def check_close(checks, seen, expected, what):
    for mine, theirs in zip(seen, expected, strict=True):
        for name, value in theirs.items():
            if name != "step":
                checks.relative(mine[name], value, 2e-12, f"{what}, step {theirs['step']} {name}")


def main():
    args = parse_arguments()
    run, checks = Runner(args), Checks()
    for system in (["--data", args.data / "data.lj.256.step0", "--steps", 50],
                   ["--lattice", 5, "--steps", 40, "--potential", "lj-force-shift"]):
        for pes in (1, 4):
            expected = run.json(pes, *system)
            checks.true(run.json(pes, *system)["thermo"] == expected["thermo"], f"{pes} PEs: the run repeats")
            for name, (options, environment) in VARIANTS.items():
                result = run.json(pes, *system, *options, environment=environment)
                checks.true(result["thermo"] == expected["thermo"], f"{pes} PEs, {name}: same lines")
                checks.true(result["rebuilds"] == expected["rebuilds"], f"{pes} PEs, {name}: same rebuilds")
            check_close(checks, run.json(pes, *system, *WARPS)["thermo"], expected["thermo"], f"{pes} PEs, warps")
    expected_syncs = expected["rebuilds"] + expected["outputs"]
    checks.true(expected["host_syncs"] == expected_syncs, "device halo: the host waits at rebuilds and outputs only")
    checks.finish()


main()
