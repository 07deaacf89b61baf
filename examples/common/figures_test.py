"""figures_test.py tells|draws CHIME_RUN PLOT PROGRAM [ARGUMENT...]: a program's --json has the figures of its table, and mistakes are told before
anything is measured; its --plot draws a picture, and perf/plot (PLOT) draws its --json and its table. draws: 77 if gnuplot is not there."""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

PNG = b"\x89PNG\r\n\x1a\n"
WHAT, CHIME_RUN, PLOT, *PROGRAM = sys.argv[1:]


def run(*arguments, code=0, **environment):
    done = subprocess.run([CHIME_RUN, "--no-prefix", "-n", "2", *PROGRAM, *arguments], text=True, capture_output=True, env={**os.environ, **environment})
    assert done.returncode == code or code is None and done.returncode, f"{arguments}: {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stderr if code != 0 else done.stdout


def json_has_the_figures_of_the_table():
    table, data = run("--validate"), json.loads(run("--validate", "--json"))
    rows = [line.split() for line in table.splitlines() if not line.startswith("#")]
    assert [row[0] for row in rows] == [str(row[data["key"]]) for row in data["rows"]], (table, data)
    assert all(len(row) == len(of_json) for row, of_json in zip(rows, data["rows"])), (table, data)
    assert data["validated"] is True and data["pes"] == 2, data
    figures = [figure for row in data["rows"] for name, figure in row.items() if name != data["key"] and figure is not None]
    assert figures and all(figure > 0 for figure in figures), data


def mistakes_are_told(folder):
    assert "--plot FILE" in run("--plot", folder / "a.gif", code=2)
    said = run("--plot", folder / "a.png", code=None, PATH="/nowhere")
    assert "install the package gnuplot-nox" in said, said


def a_picture_is_drawn(folder):
    path = folder / "it's a.PNG"
    run("--plot", path)
    assert path.read_bytes().startswith(PNG), path.read_bytes()[:8]


def a_picture_that_cannot_be_written_is_told():
    said = run("--plot", "/nowhere/a.png", code=None)
    assert "/nowhere/a.png: cannot be written: No such file" in said, said


def perf_plot_draws(path, text):
    path.write_text(text)
    subprocess.run([sys.executable, "-B", PLOT, path], check=True)
    assert path.with_suffix(".png").read_bytes().startswith(PNG)


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        if WHAT == "tells":
            json_has_the_figures_of_the_table()
            mistakes_are_told(folder)
            return 0
        if not shutil.which("gnuplot"):
            print("skipped: there is no gnuplot (Debian: gnuplot-nox)")
            return 77
        a_picture_is_drawn(folder)
        a_picture_that_cannot_be_written_is_told()
        perf_plot_draws(folder / "table.txt", run())
        perf_plot_draws(folder / "data.json", run("--json"))
    return 0


sys.exit(main())
