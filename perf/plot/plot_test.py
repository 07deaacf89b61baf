"""plot_test.py: every committed result gives a picture whose curves have points, forms are read as they are printed, and mistakes are
told. 77: gnuplot is not there."""
import os
import pathlib
import re
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


def rows_belong_to_the_last_header_that_fits(folder):
    (folder / "a.txt").write_text("# Size    a (us)    b (us)\n8 B    1    2\n# Size    c (us)    d (us)\n8 B    3    4\n")
    assert [table.rows for table in tables.read(folder / "a.txt")] == [[("8 B", [1, 2])], [("8 B", [3, 4])]]


def counted_instructions_give_a_bar_for_each_library():
    rows = [("put  block  Chime", [None, None, 200]), ("put  block  rival", [None, None, 300]), ("get  block  Chime", [None, None, 100])]
    found, = panels.of([tables.Table(["mode", "library", "instr"], rows, "operation")])
    assert found.bars == {"Chime": {"put, block": 200, "get, block": 100}, "rival": {"put, block": 300}}, found


def a_rivals_curves_stand_in_the_panel_of_their_unit():
    def table(column, *figures, key="size"):
        return tables.Table([column], [(f"{8 << i} B", [figure]) for i, figure in enumerate(figures)], key)

    ours = table("ours (us)", 1, 2)
    assert len(panels.of([ours, table("rival (us)", 3, 4)])) == 1
    for other in (table("ratio", 3, 4), table("rival (us)", 3, 4, key="PEs"), table("ours (us)", 3, 4)):
        first, second = panels.of([ours, other])
        assert first.curves == {"ours": {8: 1, 16: 2}}, first
        assert list(second.curves.values()) == [{8: 3, 16: 4}] and second.unit == panels.unit_of(other.columns[0], ""), second
    mixed = tables.Table(["ours (us)", "ratio"], [("8 B", [0, 2]), ("16 B", [1, 3])], "size")
    times, ratios = panels.of([mixed])
    assert (times.curves, ratios.curves) == ({"ours": {16: 1}}, {"ratio": {8: 2, 16: 3}}), "an axis that is logarithmic has no 0"


def gnuplot_reads_all_points_in_order():
    curves = panels.Panel("us", {"a": {65536: 3, 1000: 1}, "b": {1 << i: i + 1 for i in range(20)}}, {})
    bars = panels.Panel("ratio", {}, {"all": {"x": 1}, "made": {"x": 2, "y": 3}})
    words = panels.script([curves, bars], "title", "a.png")
    assert "\n1000 1\n65536 3\ne\n" in words, words
    low, high = map(float, re.search(r"set xrange \[([\d.]+):([\d.]+)\]", words).groups())
    assert 0 < low < 1 and 1 << 19 < high < 1 << 20, (low, high)
    ticks = re.search(r"set xtics norotate \((.*)\)", words)[1].split(", ")
    assert 5 <= len(ticks) <= 8 and ticks[0] == '"1" 1', ticks
    assert [panels.in_words(value) for value in (3 << 20, 64 << 10, 1000, 1536)] == ["3 Mi", "64 Ki", "1000", "1536"]
    assert float(ticks[-1].split()[-1]) >= 1 << 16, ticks
    assert words.count('set ylabel "us"') == words.count('set ylabel "ratio"') == 1, words
    assert '"x" 1\n"y" nan\ne\n"x" 2\n"y" 3\ne\n' in words, words


def gnuplots_failure_is_told_and_leaves_what_was_there(folder):
    programs, drawn = folder / "programs", folder / "drawn"
    programs.mkdir()
    drawn.mkdir()
    (folder / "a.txt").write_text(TABLE)
    picture = drawn / "a.png"
    for number, (code, wanted) in enumerate(((3, {}), (0, {"a.png": "1\n"}), (3, {"a.png": "1\n"}), (0, {"a.png": "3\n"}))):
        (programs / "gnuplot").write_text(
            f"""#!/bin/sh\necho {number} >"$(sed -n 's/^set output "\\(.*\\)"/\\1/p')"; echo its words >&2; exit {code}\n""")
        (programs / "gnuplot").chmod(0o700)
        said = plot(folder / "a.txt", "-o", drawn, code=1 if code else 0, PATH=f"{programs}:{os.environ['PATH']}")
        assert said.strip() == (f"plot: {folder / 'a.txt'}: gnuplot ended with code 3: its words" if code else str(picture)), said
        there = {file.name: file.read_text() for file in drawn.iterdir()}
        assert there == wanted, (number, there)


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
        rows_belong_to_the_last_header_that_fits(folder)
        counted_instructions_give_a_bar_for_each_library()
        a_rivals_curves_stand_in_the_panel_of_their_unit()
        gnuplot_reads_all_points_in_order()
        gnuplots_failure_is_told_and_leaves_what_was_there(folder)
        every_committed_result_has_points()
        mistakes_are_told(folder)
        if not shutil.which("gnuplot"):
            print("gnuplot is not there: no picture was drawn")
            return 77
        every_committed_result_gives_a_picture(folder)
    return 0


sys.exit(main())
