"""Double precision agrees with LAMMPS, and at step 0 with lattice sums: README.md, "How well it must agree"."""

from harness import Checks, Runner, parse_arguments, read_log

THERMO_TOLERANCE = 2e-12

# Sums over the perfect lattice and T = 1.44, by hand: LAMMPS's own first line is up to 6e-12 off, because it adds
# without compensation.
AT_STEP_0 = {
    "256": {"temperature": 1.44, "pair_energy": -6.77336805325296, "total_energy": -4.62180555325295,
            "pressure": -5.02441789508558},
    "4k": {"temperature": 1.44, "pair_energy": -6.77336805325296, "total_energy": -4.61390805325296,
           "pressure": -5.01997318208558},
}


def check_trajectory(args, run, checks):
    data, log = next(args.data.glob(f"data.lj.{args.system}.step0*")), args.data / f"log.lj.{args.system}.exact.np1"
    dump = next(args.data.glob(f"dump.lj.{args.system}.exact.xvf*"))
    result = run.json(args.pes, "--data", data, "--steps", 100, "--thermo", 10, "--validate", dump)
    expected = {**read_log(log), 0: AT_STEP_0[args.system]}
    checks.true([line["step"] for line in result["thermo"]] == list(range(0, 101, 10)), "a line every 10 steps")
    for line in result["thermo"]:
        for name, value in expected[line["step"]].items():
            checks.relative(line[name], value, THERMO_TOLERANCE, f"step {line['step']} {name}")
    last = result["validate"][-1]
    checks.true(last["step"] == 100, "the dump is compared at step 100")
    checks.at_most(last["position"]["max"], 1e-12, "position at step 100")


def check_static_forces(args, run, checks):
    result = run.json(args.pes, "--data", args.data / "data.lj.4k.melt.check.gz", "--steps", 0,
                      "--validate", args.data / "dump.lj.4k.melt.run0.xvf.gz")
    checks.at_most(result["validate"][0]["force"]["max"], 1e-10, "force on an atom of the melt")
    checks.relative(result["thermo"][0]["pair_energy"], -5.67247923279889, THERMO_TOLERANCE, "melt's pair energy")
    checks.relative(result["thermo"][0]["pressure"], 0.726712635331812, THERMO_TOLERANCE, "melt's pressure")


def main():
    args = parse_arguments(("--system", str), ("--pes", int))
    run, checks = Runner(args), Checks()
    check_trajectory(args, run, checks)
    if args.system == "4k":
        check_static_forces(args, run, checks)
    checks.finish()


main()
