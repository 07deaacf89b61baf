"""Single precision agrees with LAMMPS as far as it can: README.md, "How well it must agree"."""

from harness import Checks, Runner, parse_arguments, read_log


def main():
    args = parse_arguments()
    run, checks = Runner(args), Checks()
    log = read_log(args.data / "log.lj.4k.exact.np1")
    for pes in (1, 2):
        result = run.json(pes, "--precision", "single", "--data", args.data / "data.lj.4k.step0.gz", "--steps", 100,
                          "--validate", args.data / "dump.lj.4k.exact.xvf.gz")
        for line in result["thermo"]:
            where = f"{pes} PEs, step {line['step']}"
            expected = log[line["step"]]
            checks.relative(line["temperature"], expected["temperature"], 2e-5, f"{where} temperature")
            checks.relative(line["pair_energy"], expected["pair_energy"], 2e-5, f"{where} pair energy")
            checks.relative(line["pressure"], expected["pressure"], 1e-4, f"{where} pressure")
        checks.relative(result["thermo"][0]["pair_energy"], -6.77336805325296, 1e-7, "lattice energy")
        checks.at_most(result["validate"][-1]["position"]["max"], 2e-4, f"{pes} PEs: position at step 100")
        static = run.json(pes, "--precision", "single", "--data", args.data / "data.lj.4k.melt.check.gz", "--steps", 0,
                          "--validate", args.data / "dump.lj.4k.melt.run0.xvf.gz")
        checks.at_most(static["validate"][0]["force"]["max"], 5e-3, f"{pes} PEs: force on an atom of the melt")
    checks.finish()


main()
