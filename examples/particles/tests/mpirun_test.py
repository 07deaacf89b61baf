"""mpirun and chime-run start the same job: the lines are equal."""

from harness import Checks, Runner, parse_arguments


def thermo_lines(text):
    """The table, without chime-run's prefix and the figures that time changes."""
    lines = [line.split("] ", 1)[1] if line.startswith("[") else line for line in text.splitlines()]
    return [line for line in lines if line and not line.startswith("#")]


def main():
    args = parse_arguments(("--mpirun", str))
    run, checks = Runner(args), Checks()
    options = ["--data", str(args.data / "data.lj.4k.step0.gz"), "--steps", "30"]
    by_mpirun = run.execute([args.mpirun, "--oversubscribe", "--bind-to", "none", "--timeout", "100", "-n", "4",
                             args.particles, *options],
                            environment={"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"})
    by_chime_run = run.start(4, *options)
    checks.true(by_mpirun.returncode == 0, f"mpirun: {by_mpirun.returncode}\n{by_mpirun.stderr}")
    checks.true(len(thermo_lines(by_chime_run.stdout)) == 5, f"four lines and a header:\n{by_chime_run.stdout}")
    checks.true(thermo_lines(by_mpirun.stdout) == thermo_lines(by_chime_run.stdout), "the same lines")
    checks.finish()


main()
