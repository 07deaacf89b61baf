"""plot_test.py: every committed result gives a picture whose curves have points, forms are read as they are printed, and mistakes are
told. 77: gnuplot is not there."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import panels
import tables

HERE = pathlib.Path(__file__).resolve().parent
RESULTS = sorted((HERE.parent / "results").glob("*.txt"))
TABLE = """# Chime put latency
# load average at start: 0.50
# Size      raw, 1 thread (us) raw, 2 threads (us)          Thread (us)    Thread/2 threads
8 B                      6.000               8.000               10.000                1.25
64 KiB                  20.000                   -               40.000                2.00
"""


def plot(*arguments, code=0, **environment):
    done = subprocess.run([sys.executable, "-B", HERE / "plot", *arguments], capture_output=True, text=True, env={**os.environ, **environment})
    assert done.returncode == code, f"{arguments}: {done.returncode}, not {code}\n{done.stdout}{done.stderr}"
    return done.stdout if code == 0 else done.stderr


def columns_of_a_unit_share_a_panel(folder):
    (folder / "a.txt").write_text(TABLE)
    times, ratio = panels.of(tables.read(folder / "a.txt"))
    assert times.unit == "us" and ratio.unit == "ratio", (times, ratio)
    assert times.curves == {"raw, 1 thread": {8: 6, 65536: 20}, "raw, 2 threads": {8: 8}, "Thread": {8: 10, 65536: 40}}, times
    assert ratio.curves == {"Thread/2 threads": {8: 1.25, 65536: 2}}, ratio


def runs_give_their_median(folder):
    (folder / "a.txt").write_text(TABLE + TABLE.replace("6.000", "2.000") + TABLE.replace("6.000", "7.000"))
    assert panels.of(tables.read(folder / "a.txt"))[0].curves["raw, 1 thread"][8] == 6


def json_is_read_as_the_text_is(folder):
    (folder / "a.json").write_text('{"title": "t", "notes": [], "key": "Size", "rows": [{"Size": 8, "Host (us)": 3, "memcpy (us)": null},'
                                   '{"Size": 16, "Host (us)": 4, "memcpy (us)": 2}]}')
    found = panels.of(tables.read(folder / "a.json"))
    assert found[0].curves == {"Host": {8: 3, 16: 4}, "memcpy": {16: 2}}, found


def keys_without_numbers_give_bars(folder):
    (folder / "a.txt").write_text("2 PEs      all (us)  made\nmapped        0.1   1.3\nNIC          33.9  74.7\n")
    found = panels.of(tables.read(folder / "a.txt"))
    assert found[0].bars == {"all": {"mapped": 0.1, "NIC": 33.9}, "made": {"mapped": 1.3, "NIC": 74.7}}, found


def every_committed_result_has_points():
    assert len(RESULTS) >= 14, RESULTS
    for result in RESULTS:
        found = panels.of(tables.read(result))
        assert found, f"{result.name}: no panel"
        for panel in found:
            assert panel.curves or panel.bars, f"{result.name}: {panel.unit} is empty"
            for name, points in {**panel.curves, **panel.bars}.items():
                assert points, f"{result.name}: {name} has no points"


def mistakes_are_told(folder):
    (folder / "words.txt").write_text("nothing but words\nand more\n")
    assert "no table with figures" in plot(folder / "words.txt", code=1)
    assert "No such file" in plot(folder / "absent.txt", code=1)
    assert "name results, or --all" in plot(code=2)
    (folder / "a.txt").write_text(TABLE)
    assert "gnuplot is not there" in plot(folder / "a.txt", code=1, PATH=str(folder / "empty"))


def every_committed_result_gives_a_picture(folder):
    plot("--all", folder / "all")
    for result in RESULTS:
        picture = folder / "all" / (result.stem + ".png")
        assert picture.read_bytes()[:8] == b"\x89PNG\r\n\x1a\n", picture


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        columns_of_a_unit_share_a_panel(folder)
        runs_give_their_median(folder)
        json_is_read_as_the_text_is(folder)
        keys_without_numbers_give_bars(folder)
        every_committed_result_has_points()
        mistakes_are_told(folder)
        if not shutil.which("gnuplot"):
            print("gnuplot is not there: no picture was drawn")
            return 77
        every_committed_result_gives_a_picture(folder)
    return 0


sys.exit(main())
