"""device_cost of Chime alone: the table has every row of rules/chime.toml for an architecture, and no field is empty.

    table_test.py sm_90|sm_80 [nvcc] [nvdisasm, or a folder that has it]"""
import json
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(HERE))
import rules  # noqa: E402
import table  # noqa: E402


def run(arch, arguments, json_file):
    command = [sys.executable, HERE / "device_cost", "--json", json_file, "--arch", arch.removeprefix("sm_")]
    for option, value in zip(("--nvcc", "--nvdisasm"), arguments):
        command += [option, value] if value else []
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)


def faults_of(rows, arch, printed):
    wanted = rules.load(HERE / "rules" / "chime.toml")
    expected = {(arch, row.operation, row.mode) for row in wanted}
    found = {(row["arch"], row["operation"], row["mode"]) for row in rows}
    yield from (f"no row {row}" for row in expected - found)
    for row in rows:
        yield from (f"{row['operation']} {row['mode']}: {column} is empty"
                    for column, word in zip(table.COLUMNS, table.cells(row)) if not word.strip())
        counted = row["counts"]
        is_post = row["operation"] != "quiet"
        if is_post and counted["mmio"] != 1:
            yield f"{row['operation']} {row['mode']}: {counted['mmio']} doorbells"
        if row["registers"] < 8 or counted["instructions"] < 20:
            yield f"{row['operation']} {row['mode']}: {row['registers']} registers, {counted['instructions']} instructions"
        if f"{row['operation']}  " not in printed:
            yield f"{row['operation']} is not in what was printed"


def main():
    arch, *programs = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        json_file = pathlib.Path(folder) / "table.json"
        done = run(arch, programs, json_file)
        print(done.stdout)
        if done.returncode:
            return done.returncode
        rows = json.loads(json_file.read_text())["rows"]
    faults = list(faults_of(rows, arch, done.stdout))
    print(f"{len(rows)} rows", *faults, sep="\n")
    return 1 if faults or not rows else 0


if __name__ == "__main__":
    sys.exit(main())
