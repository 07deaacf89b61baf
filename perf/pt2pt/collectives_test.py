"""collectives_test.py CHIME_RUN COLL_LAT COLL_BW: each form of call runs, tables of the public layouts can be read by their columns' names,
and the bandwidths are those that nccl-tests would give for the times beside them."""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

CHIME_RUN, COLL_LAT, COLL_BW = sys.argv[1:4]
PES = 3  # with two a reduce has the factor of a broadcast
SIZES = {COLL_LAT: [8, 64, 512], COLL_BW: [8, 32, 128, 512]}
KINDS = ["reduce", "reducescatter", "broadcast", "fcollect", "alltoall", "inscan", "exscan", "collect", "alltoalls", "alltoallv"]
IN_PLACE = ["reduce", "inscan", "exscan"]
BUS_FACTOR = {"reduce": 2 * (PES - 1) / PES, "broadcast": 1, "inscan": 1, "exscan": 1}
OF_BLOCKS = (PES - 1) / PES
WHOLE = ["reduce", "broadcast", "inscan", "exscan"]  # the size of the others counts a block of each PE


def output_of(program, *options):
    step = ["--min", str(SIZES[program][0]), "--max", str(SIZES[program][-1]), "--quick", "--repeats", "2"]
    job = [CHIME_RUN, "-n", str(PES), "--timeout", "250", "--no-prefix", program]
    done = subprocess.run([*job, *step, *options], text=True, capture_output=True, check=False)
    assert done.returncode == 0, f"{program} {options}: {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout


def tables_of(text):
    """{kind: lines} where each table begins with '# Chime KIND ...'."""
    tables = {}
    for line in text.splitlines():
        if line.startswith("# Chime "):
            lines = tables.setdefault(line.split()[2], [])
        elif line.strip():
            lines.append(line)
    return tables


def rows_of(lines):
    return [line.split() for line in lines if not line.startswith("#")]


class Collectives(unittest.TestCase):
    def test_every_form_measures_every_kind(self):
        for form in ["host", "stream", "thread", "warp", "block"]:
            with self.subTest(form), tempfile.TemporaryDirectory() as folder:
                path = pathlib.Path(folder) / "table.json"
                output_of(COLL_LAT, "--form", form, "--json", str(path))
                rows = json.loads(path.read_text())["rows"]
                self.assertEqual([row["size"] for row in rows], SIZES[COLL_LAT])
                for kind in ["barrier", *KINDS]:
                    self.assertGreater(rows[0][f"{kind} (us)"], 0, kind)

    def test_osu_latency_is_ordered_and_the_last_pe_counts(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "table.json"
            tables = tables_of(output_of(COLL_LAT, "--format", "osu", "--json", str(path)))
            figures = json.loads(path.read_text())["rows"]
        self.assertEqual(list(tables), KINDS)
        for kind, lines in tables.items():
            self.assertEqual(lines[-len(SIZES[COLL_LAT]) - 1].split("  ")[0], "# Size")
            self.assertEqual(lines[-len(SIZES[COLL_LAT]) - 1].split()[2:], "Avg Latency(us) Min Latency(us) Max Latency(us) Iterations".split())
            self.assertEqual([int(row[0]) for row in rows_of(lines)], SIZES[COLL_LAT])
            self.assertEqual([row[3] for row in rows_of(lines)], [f"{row[f'{kind} (us)']:.2f}" for row in figures])
            for _, mean, least, most, iterations in rows_of(lines):
                self.assertTrue(float(least) <= float(mean) <= float(most), f"{kind}: {least} {mean} {most}")
                self.assertGreater(int(iterations), 0)

    def test_osu_bandwidth_is_by_columns(self):
        tables = tables_of(output_of(COLL_BW, "--format", "osu", "--form", "host"))
        self.assertEqual(list(tables), KINDS)
        for lines in tables.values():
            self.assertIn("# Size", lines[-len(SIZES[COLL_BW]) - 1])
            self.assertIn("Bandwidth (MB/s)", lines[-len(SIZES[COLL_BW]) - 1])
            self.assertEqual([int(row[0]) for row in rows_of(lines)], SIZES[COLL_BW])

    def test_nccl_columns_agree(self):
        tables = tables_of(output_of(COLL_BW, "--format", "nccl"))
        self.assertEqual(list(tables), KINDS)
        names = "size count type redop root time algbw busbw #wrong time algbw busbw #wrong".split()
        for kind, lines in tables.items():
            self.assertIn(names, [line.lstrip("# ").split() for line in lines])
            self.assertTrue(lines[-1].startswith("# Avg bus bandwidth"), lines)
            rows = rows_of(lines)
            self.assertEqual([int(row[0]) for row in rows], [size if kind in WHOLE else PES * size for size in SIZES[COLL_BW]], kind)
            self.assertEqual([int(row[1]) for row in rows], [size // 4 for size in SIZES[COLL_BW]], kind)
            for row in rows:
                self.assertAlmostEqual(float(row[7]), float(row[6]) * BUS_FACTOR.get(kind, OF_BLOCKS), delta=0.02, msg=kind)
                self.assertEqual(row[9] == "N/A", kind not in IN_PLACE, kind)

    def test_bandwidths_are_those_of_nccl_tests(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "table.json"
            output_of(COLL_BW, "--form", "warp", "--json", str(path))
            rows = json.loads(path.read_text())["rows"]
        self.assertEqual([row["size"] for row in rows], SIZES[COLL_BW])
        for row in rows:
            for name in [*KINDS, *(f"{kind} in place" for kind in IN_PLACE)]:
                kind = name.split()[0]
                alg = row["size"] * (1 if kind in WHOLE else PES) / row[f"{name} (us)"] / 1000
                self.assertAlmostEqual(row[f"{name} algbw (GB/s)"] / alg, 1, places=9, msg=name)
                self.assertAlmostEqual(row[f"{name} (GB/s)"] / alg, BUS_FACTOR.get(kind, OF_BLOCKS), places=9, msg=name)

    def test_the_table_shows_what_json_has(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "table.json"
            text = output_of(COLL_BW, "--json", str(path))
            rows = json.loads(path.read_text())["rows"]
        shown = rows_of(text.splitlines())
        self.assertEqual(len(shown), 2 * len(SIZES[COLL_BW]), text)  # bus bandwidth, then algorithm bandwidth
        columns = ["reduce (GB/s)"] * len(rows) + ["reduce algbw (GB/s)"] * len(rows)
        for line, row, column in zip(shown, rows + rows, columns):
            self.assertEqual(f"{row[column]:.3f}", line[2])  # behind "8 B"


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]], verbosity=2)
