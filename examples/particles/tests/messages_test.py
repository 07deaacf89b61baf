"""Wrong input is named: with file and line, or with the numbers. Each case also ends with a failure status."""

import gzip
import pathlib

from harness import Checks, Runner, parse_arguments


def edited(run, data, name, edit):
    """A copy of the 256 atoms' file with its lines edited."""
    lines = (data / "data.lj.256.step0").read_text().split("\n")
    path = pathlib.Path(run.folder.name) / name
    path.write_text("\n".join(edit(lines)))
    return path


def with_line(number, text):
    return lambda lines: lines[:number - 1] + [text] + lines[number:]


def without_line(number):
    return lambda lines: lines[:number - 1] + lines[number:]


def one_atom(lines):
    atoms, velocities = lines.index("Atoms # atomic") if "Atoms # atomic" in lines else next(
        i for i, line in enumerate(lines) if line.startswith("Atoms")), lines.index("Velocities")
    head = [line if "atoms" not in line else "1 atoms" for line in lines[:atoms]]
    return head + lines[atoms:atoms + 3] + [""] + lines[velocities:velocities + 3]


def binary_cases(run, cases, small):
    """A file that is not text is reported as such, for every option; so is text that breaks off."""
    png = b"\x89PNG\r\n\x1a\n" + bytes(range(256))
    for name, content, words in [
        ("empty", b"", ["is empty"]),
        ("empty.gz", gzip.compress(b""), ["is empty"]),
        ("picture.png", png, ["is no text: byte 0x1a at offset 6", "image"]),
        ("picture.gz", gzip.compress(png), ["is no text: byte 0x1a at offset 6"]),
        ("twice.gz", gzip.compress(gzip.compress(b"text")), ["is no text: byte 0x1f at offset 0", "compressed"]),
    ]:
        path = pathlib.Path(run.folder.name) / name
        path.write_bytes(content)
        cases.append((f"{name} as data", 2, ["--data", path], [f"{name}: {words[0]}", *words]))
        cases.append((f"{name} to validate", 1, ["--data", small, "--validate", path], [f"{name}: {words[0]}", *words]))
    late = pathlib.Path(run.folder.name) / "late"
    text = small.read_bytes() + b"\n" * 200000  # several pieces of what is read at once
    late.write_bytes(text + b"\0\0" + text)
    cases.append(("late", 1, ["--data", late], [f"late: is no text: byte 0x00 at offset {len(text)}"]))
    torn = pathlib.Path(run.folder.name) / "torn.gz"
    torn.write_bytes(gzip.compress(small.read_bytes())[:3000])
    cases.append(("torn", 1, ["--data", torn], ["torn.gz:", "cannot be read", "unexpected end of file"]))


def main():
    args = parse_arguments()
    run, checks = Runner(args), Checks()
    small = args.data / "data.lj.256.step0"
    first_velocity = small.read_text().split("\n").index("Velocities") + 3

    def file_case(name, edit, *words):
        path = edited(run, args.data, name, edit)
        cases.append((name, 2, ["--data", path], [name, *words]))

    def system_case(name, edit, *words):
        cases.append((name, 2, ["--data", edited(run, args.data, name, edit)], words))

    frame = (args.data / "dump.lj.256.exact.xvf").read_text().split("ITEM: TIMESTEP\n")[-1].split("\n", 1)[1]
    late, early, other = (pathlib.Path(run.folder.name) / name for name in ("dump.late", "dump.early", "dump.other"))
    late.write_text(f"ITEM: TIMESTEP\n100\n{frame}")
    early.write_text(f"ITEM: TIMESTEP\n-5\n{frame}")
    other.write_text(f"ITEM: TIMESTEP\n0\n{frame}".replace("\n256 ", "\n999 "))
    cases = [
        ("another atom", 2, ["--data", small, "--validate", other], ["dump.other", "atom 999", "atom 256"]),
        ("no file", 1, ["--data", "nowhere"], ["nowhere", "cannot be opened"]),
        ("no system", 1, [], ["--data", "--lattice"]),
        ("two systems", 1, ["--data", small, "--lattice", 4], ["--data", "--lattice"]),
        ("unknown potential", 1, ["--lattice", 4, "--potential", "soft"], ["--potential", "soft"]),
        ("bad grid", 2, ["--lattice", 4, "--grid", "2y1x1"], ["--grid", "2y1x1"]),
        ("grid of 4", 2, ["--lattice", 4, "--grid", "2x2x1"], ["2x2x1", "4 boxes", "2 PEs"]),
        ("256 atoms on 3 PEs", 3, ["--data", small], ["2.23946", "cutoff + skin = 2.8", "1x1x3"]),
        ("grid of 2^32", 2, ["--lattice", 4, "--grid", "65536x65536x1"], ["4294967296 boxes", "2 PEs"]),
        ("negative steps", 1, ["--lattice", 4, "--steps", "-1"], ["--steps", "'-1'", "from 0 to 1000000000000"]),
        ("too many steps", 1, ["--lattice", 4, "--steps", "99999999999999999999"], ["--steps", "1000000000000"]),
        ("infinite cutoff", 1, ["--lattice", 4, "--cutoff", "inf"], ["--cutoff", "'inf'", "finite"]),
        ("json nowhere", 2, ["--lattice", 4, "--json", "/nowhere/json"], ["/nowhere/json", "cannot be written"]),
        ("plot nowhere", 1, ["--lattice", 4, "--plot", "/nowhere/plot.png"], ["/nowhere/plot.png", "cannot be written"]),
        ("nothing to validate", 2, ["--data", small, "--steps", 50, "--validate", late],
         ["dump.late", "none of its steps (100)", "0..50"]),
        ("validate a negative step", 1, ["--data", small, "--steps", 50, "--validate", early], ["(-5)", "0..50"]),
        ("long cutoff", 1, ["--lattice", 4, "--cutoff", 7], ["6.71838", "7.3"]),
        ("no dump", 1, ["--lattice", 4, "--validate", small], ["data.lj.256.step0:1", "ITEM: TIMESTEP"]),
        ("other atoms", 2, ["--lattice", 5, "--steps", 0, "--validate", args.data / "dump.lj.256.exact.xvf"],
         ["256", "500"]),
        ("too many blocks", 2, ["--lattice", 4, "--threads", 1024, "--blocks", 300],
         ["a kernel of 300 blocks of 1024 threads failed", "can be resident"]),
        ("dump nowhere", 2, ["--lattice", 4, "--dump", "/nowhere/dump"], ["/nowhere/dump", "cannot be written"]),
    ]
    file_case("header", with_line(3, "256 atomz"), ":3:", "atomz")
    file_case("types", with_line(4, "2 atom types"), ":4:", "one atom type")
    file_case("no_bounds", without_line(7), "ylo yhi")
    file_case("word", with_line(18, "3 1 0.8 zero 0.8 0 0 0"), ":18:", "'zero' is not a number")
    file_case("outside", with_line(18, "3 1 7.5 0 0.8 0 0 0"), ":18:", "atom 3 lies outside the box", "x = 7.5")
    file_case("twice", with_line(18, "2 1 0.8 0 0.8 0 0 0"), ":18:", "atom 2 is listed twice")
    file_case("one_less", without_line(18), "no")
    file_case("other_style", with_line(14, "Atoms # charge"), ":14:", "style charge")
    file_case("no_types", without_line(4), "lacks the line '1 atom types'")
    file_case("velocities_first", lambda lines: lines[:13] + lines[first_velocity - 3:], "section Velocities stands before section Atoms")
    file_case("no_velocity", without_line(first_velocity), "has no velocity")
    file_case("no_velocities", lambda lines: lines[:first_velocity - 3], "has no velocity")
    file_case("image", with_line(18, "3 1 0.8 0 0.8 0 99999999999 0"), ":18:", "99999999999", "image count")
    file_case("long_box", lambda lines: [line if "xlo" not in line else "-1e308 1e308 xlo xhi" for line in lines],
              "not a finite number")
    system_case("huge_box", lambda lines: [line if "hi" not in line else f"0 1e5 {line.split(' ', 2)[2]}" for line in lines],
              "cells")
    system_case("one_atom", one_atom, "1 atom:", "at least 2")
    file_case("on_each_other", with_line(18, "3 1 0 0 0 0 0 0"), "atoms 1 and 3 are 0 sigma apart")
    file_case("near_each_other", with_line(18, "3 1 0.3 0.399 0 0 0 0"), "atoms 1 and 3 are 0.499 sigma apart")
    # Atom 1 lies at the box's lower corner, so this one is near it through two of the box's faces.
    file_case("near_beyond_the_edge", with_line(18, "3 1 6.6183 6.6183 0 0 0 0"), "atoms 1 and 3 are 0.142 sigma apart")
    file_case("pairs", lambda lines: lines[:13] + ["Pair Coeffs # lj/cut", "", "1 1 1.5", ""] + lines[13:],
              "epsilon and sigma 1, the file says 1 and 1.5")
    file_case("section", lambda lines: lines + ["Bonds", "", "1 1 2"], "'Bonds'")

    binary_cases(run, cases, small)

    for name, pes, options, words in cases:
        done = run.start(pes, *options, "--steps", 1) if "--steps" not in options else run.start(pes, *options)
        checks.true(done.returncode != 0, f"{name}: it ended with success")
        for word in words:
            checks.true(word in done.stderr, f"{name}: '{word}' is not in:\n{done.stderr}")

    for name, options, sentence in [
        ("halo", ["--lattice", 4, "--halo", "foo"], "--halo: 'foo' is none of device, host, stream"),
        ("precision", ["--lattice", 4, "--precision", "half"], "--precision: 'half' is none of double, single"),
        ("digits", ["--lattice", 4, "--digits", 40], "--digits: '40' is not a whole number from 1 to 17"),
        ("lattice", ["--lattice", 0], "--lattice: '0' is not a whole number from 1 to 1000"),
        ("seed", ["--lattice", 4, "--seed", "x"], "--seed: 'x' is not a whole number from 0 to 9223372036854775807"),
        ("grid", ["--lattice", 4, "--grid", "2y1x1"], "--grid: '2y1x1' is not like 2x2x1"),
        ("no value", ["--lattice", 4, "--halo"], "--halo takes one value, once"),
        ("twice", ["--lattice", 4, "--halo", "host", "--halo", "device"], "--halo takes one value, once"),
        ("unknown", ["--lattice", 4, "--hallo", "host"], "'--hallo' is no option of this program"),
        ("picture", ["--lattice", 4, "--plot", "a.gif"], "--plot: 'a.gif' ends in none of .png, .pdf, .svg"),
        ("no extension", ["--lattice", 4, "--plot", "png"], "--plot: 'png' ends in none of .png, .pdf, .svg"),
        ("every without dump", ["--lattice", 4, "--dump-every", 5], "--dump-every means nothing without --dump"),
        ("seed of a file", ["--data", small, "--seed", 5], "--seed means nothing without --lattice"),
        ("position tolerance", ["--lattice", 4, "--position-tolerance", 1],
         "--position-tolerance means nothing without --validate"),
        ("force tolerance", ["--lattice", 4, "--force-tolerance", 1],
         "--force-tolerance means nothing without --validate"),
        ("no atoms", [], "where the atoms come from is said by either --data FILE or --lattice N"),
    ]:
        for pes in (1, 2):
            done = run.start(pes, *options)
            checks.true(done.returncode == 2, f"{name}: it ended with {done.returncode}")
            reported = [line for line in done.stderr.split("\n") if line and "chime-run:" not in line]
            checks.true(len(reported) == 1 and reported[0].endswith(f"particles: {sentence}; --help lists all options"),
                        f"{name}: the only line is not '{sentence}':\n{done.stderr}")

    beyond = run.start(1, "--data", small, "--steps", 100, "--dt", 0.004, "--validate",
                       args.data / "dump.lj.256.exact.xvf")
    checks.true(beyond.returncode == 1 and "differs from" in beyond.stderr, f"another dt differs:\n{beyond.stderr}")
    exploding = run.start(2, "--lattice", 4, "--dt", 10, "--steps", 20)
    checks.true(exploding.returncode != 0 and "come apart" in exploding.stderr, f"exploding:\n{exploding.stderr}")
    plotless = run.start(1, "--lattice", 4, "--steps", 1, "--plot", "x.png", environment={"PATH": "/nowhere"})
    checks.true(plotless.returncode != 0 and "gnuplot-nox" in plotless.stderr, f"no gnuplot:\n{plotless.stderr}")
    checks.finish()


main()
