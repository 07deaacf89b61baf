"""A picture is of the kind that its name says, and says what it shows, with units, in words beside the curves."""

import pathlib
import re
import shutil
import sys

from harness import Checks, Runner, parse_arguments

BEGINNINGS = {"png": b"\x89PNG\r\n", "pdf": b"%PDF-", "svg": b"<?xml", "PNG": b"\x89PNG\r\n"}


def words_of(svg):
    """The texts of a picture: gnuplot writes each as <text> of one or more <tspan>."""
    texts = re.findall(r"<text>(.*?)</text>", svg, re.DOTALL)
    return [re.sub(r"<[^>]*>", "", text).strip() for text in texts]


def main():
    args = parse_arguments()
    if not shutil.which("gnuplot"):
        print("skipped: there is no gnuplot (Debian: gnuplot-nox)")
        sys.exit(77)
    run, checks = Runner(args), Checks()
    for extension, beginning in BEGINNINGS.items():
        path = pathlib.Path(run.folder.name) / f"it's a.{extension}"
        done = run.start(2, "--lattice", 5, "--steps", 20, "--dt", 0.002, "--plot", path, environment={"LC_ALL": "C"})
        checks.true(done.returncode == 0, f"{extension}: it ended with {done.returncode}:\n{done.stderr}")
        checks.true("warning" not in done.stdout + done.stderr, f"{extension}: gnuplot warns: {done.stdout}{done.stderr}")
        content = path.read_bytes() if path.exists() else b""
        checks.true(content.startswith(beginning), f"{extension}: it begins with {content[:8]!r}")
        if extension == "svg":
            words = words_of(content.decode(errors="replace"))
    for text in ["500 atoms on 2 PEs, potential lj, cutoff 2.5 σ, time step 0.002 τ", "Energy", "Temperature",
                 "Pair distribution at the end", "time (τ)", "energy per atom (ε)", "temperature (ε/kB)",
                 "distance r (σ)", "pair energy", "total energy"]:
        checks.true(text in words, f"'{text}' is not in the picture: {words}")
    # Time and not steps: 20 steps of 0.002 tau.
    checks.true("0.04" in words and "20" not in words, f"the axis ends at 0.04 tau: {words}")
    checks.finish()


main()
