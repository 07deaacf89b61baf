"""NVE for 10 000 steps from the melt: energy does not drift and no momentum appears. Long: a soak test."""

from harness import Checks, Runner, parse_arguments

STEPS, DT = 10000, 0.005


def slope(points):
    """Least squares: the rise of y per unit of x."""
    n = len(points)
    mean_x, mean_y = sum(x for x, _ in points) / n, sum(y for _, y in points) / n
    return (sum((x - mean_x) * (y - mean_y) for x, y in points) / sum((x - mean_x) ** 2 for x, _ in points))


def main():
    args = parse_arguments()
    run, checks = Runner(args), Checks()
    system = ["--data", args.data / "data.lj.4k.melt.check.gz", "--steps", STEPS, "--dt", DT]

    shifted = run.json(2, *system, "--potential", "lj-force-shift", limit=3000)
    drift = slope([(line["step"] * DT, line["total_energy"]) for line in shifted["thermo"]])
    print(f"force-shifted: energy per atom rises by {drift:.2e} per tau")
    checks.at_most(abs(drift), 1e-7, "drift of the force-shifted energy per tau")

    plain = run.json(2, *system, limit=3000)
    count = len(plain["thermo"])
    mean = {name: sum(line[name] for line in plain["thermo"]) / count for name in ("temperature", "pressure",
                                                                                  "total_energy")}
    print(f"lj: means {mean}")
    checks.at_most(abs(mean["temperature"] - 0.69779), 0.003, "mean temperature")
    checks.at_most(abs(mean["pressure"] - 0.7451), 0.02, "mean pressure")
    for name, result in (("lj-force-shift", shifted), ("lj", plain)):
        checks.at_most(result["largest_momentum"], 1e-10, f"{name}: momentum")
    checks.finish()


main()
