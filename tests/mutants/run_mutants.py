#!/usr/bin/env python3
"""Plants the faults of mutants.toml one by one and shows which oracle kills each. See README.md."""

import argparse
import concurrent.futures
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tomllib

RUN_SECONDS = 300
BUILD_SECONDS = 400


class Broken(Exception):
    """The mutant proves nothing: its row does not fit the code."""


class Build:
    """The commands of a Ninja build folder."""

    def __init__(self, folder, nvcc, include_paths):
        self.folder, self.nvcc, self.include_paths = folder, nvcc, include_paths

    def commands(self, target):
        done = subprocess.run(["ninja", "-t", "commands", target], cwd=self.folder, text=True,
                              capture_output=True)
        if done.returncode:
            raise Broken(f"no target {target} in this build: {done.stderr.strip()}")
        return done.stdout.splitlines()

    def compile_command(self, target, source):
        """The words that compile `source` for `target`."""
        for line in self.commands(target):
            words = shlex.split(line)
            if "-c" in words and words[words.index("-c") + 1] == str(source):
                return words
        raise Broken(f"{target} does not compile {source}")

    def link_command(self, target):
        """The words that link `target`; what its build does before and after is left out."""
        output = str(target).rpartition("/")[2]
        for part in self.commands(target)[-1].split(" && "):
            words = shlex.split(part)
            if "-o" in words and pathlib.Path(words[words.index("-o") + 1]).name == output:
                return words
        raise Broken(f"{target} is not linked by its last command")


class Mutant:
    """A row of the table: a fault, and how it must be seen."""

    def __init__(self, row, source, build, scratch):
        self.name, self.file = row["name"], row["file"]
        self.search, self.replace = row["search"], row["replace"]
        self.program, self.compiles = row.get("program"), row.get("compiles", row["file"])
        self.codegen = row.get("codegen")
        self.arguments, self.environment = row.get("arguments", []), row.get("environment", {})
        self.oracle, self.says = row["oracle"], row["says"]
        self.source, self.build = source, build
        words = f"{row['kind']} {self.name}"
        self.folder = scratch / re.sub(r"[^a-z0-9]+", "_", words.lower()).strip("_")

    def plant(self):
        """A copy of the changed file, where the compiler finds it before the original."""
        text = (self.source / self.file).read_text()
        if text.count(self.search) != 1:
            raise Broken(f"{self.file} has the text to replace {text.count(self.search)} times")
        folder = pathlib.Path(self.file).parts[0]
        if folder == "device":  # included as chime/device/...: the whole folder goes in front
            root = self.folder / "include" / "chime" / "device"
            self.link_tree(self.source / "device", root)
            planted = root / pathlib.Path(self.file).relative_to("device")
        else:
            planted = self.folder / pathlib.Path(self.file).name
            planted.parent.mkdir(parents=True, exist_ok=True)
        planted.unlink(missing_ok=True)
        planted.write_text(text.replace(self.search, self.replace))
        return planted

    @staticmethod
    def link_tree(original, copy):
        for path in original.rglob("*"):
            target = copy / path.relative_to(original)
            if path.is_dir():
                continue
            target.parent.mkdir(parents=True, exist_ok=True)
            target.unlink(missing_ok=True)
            target.symlink_to(path)

    def compile(self, planted):
        original = self.source / self.compiles
        words = self.build.compile_command(self.program, original)
        output, changed = self.folder / "mutant.o", original
        if self.compiles == self.file:
            changed = planted
        place = {"-o": output, "-MF": self.folder / "mutant.d", "-MT": output, "-c": changed}
        for option, value in place.items():
            if option in words:
                words[words.index(option) + 1] = str(value)
        first_flag = next(i for i, word in enumerate(words) if word.startswith("-"))
        words[first_flag:first_flag] = ["-I", str(self.folder / "include")]
        self.must_work(words, "compile")
        return output

    def link(self, compiled):
        words = self.build.link_command(self.program)
        program = self.folder / pathlib.Path(self.program).name
        words[words.index("-o") + 1] = str(program)
        # In front of the original: an archive's member is then not taken, an object is left out.
        objects = [i for i, word in enumerate(words) if word.endswith(".o")]
        stem = pathlib.Path(self.compiles).name + ".o"
        place = next((i for i in objects if pathlib.Path(words[i]).name == stem), None)
        if place is None:
            words.insert(objects[0], str(compiled))
        else:
            words[place] = str(compiled)
        self.must_work(words, "link")
        return program

    def must_work(self, words, what):
        done = subprocess.run(words, cwd=self.build.folder, text=True, capture_output=True,
                              timeout=BUILD_SECONDS)
        if done.returncode:
            raise Broken(f"does not {what}: {done.stdout[-1500:]}{done.stderr[-1500:]}")

    def oracle_command(self):
        """The words that run the oracle on the planted fault."""
        planted = self.plant()
        if self.codegen:
            includes = f"{self.folder / 'include'}:{self.build.include_paths}"
            check = self.source / "tests/codegen/check_ptx"
            return [check, self.build.nvcc, "90", self.source / self.codegen, includes]
        return [self.link(self.compile(planted)), *self.arguments]

    def run(self):
        """How it was killed; raises Broken, or AssertionError if it lives."""
        self.folder.mkdir(parents=True, exist_ok=True)
        try:
            done = subprocess.run(self.oracle_command(), cwd=self.folder, text=True,
                                  env=os.environ | self.environment, timeout=RUN_SECONDS,
                                  errors="replace", stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT)
        except subprocess.TimeoutExpired:
            raise Broken(f"still runs after {RUN_SECONDS} s")
        (self.folder / "output.txt").write_text(done.stdout)
        if done.returncode == 0:
            raise AssertionError("LIVES: the program passed")
        killer = re.search(self.says, done.stdout)
        if not killer:
            raise AssertionError(f"killed, but not by the words /{self.says}/:\n{done.stdout[-1500:]}")
        fact = re.search(r"\[  FAILED  \] (\S+) \(", done.stdout)
        return fact.group(1) if fact else killer.group(0)


def judge(mutant):
    try:
        return True, mutant.run()
    except (Broken, AssertionError, subprocess.TimeoutExpired) as problem:
        return False, str(problem)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--source", type=pathlib.Path, required=True)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--kind", choices=["cpu", "tsan", "cuda"], required=True)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--nvcc", default="", help="for mutants of kind cuda")
    parser.add_argument("--include-paths", default="", help="of device code, with : between")
    arguments = parser.parse_args()
    arguments.source, arguments.build = arguments.source.resolve(), arguments.build.resolve()

    rows = tomllib.loads((arguments.source / "tests/mutants/mutants.toml").read_text())["mutant"]
    wanted = os.environ.get("CHIME_TEST_MUTANTS", "")
    rows = [row for row in rows if row["kind"] == arguments.kind and wanted in row["name"]]
    if not rows:
        print(f"no mutant of kind {arguments.kind} has '{wanted}' in its name")
        return 77 if not wanted else 1
    build = Build(arguments.build, arguments.nvcc, arguments.include_paths)
    mutants = [Mutant(row, arguments.source, build, arguments.build / "mutants") for row in rows]
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        verdicts = list(pool.map(judge, mutants))

    print(f"{'mutant':44} {'oracle':30} killed by")
    for mutant, (killed, words) in zip(mutants, verdicts):
        print(f"{mutant.name:44} {mutant.oracle:30} {words if killed else '-- NOT KILLED: ' + words}")
    alive = sum(not killed for killed, _ in verdicts)
    print(f"{len(mutants) - alive} of {len(mutants)} mutants killed")
    return 1 if alive else 0


if __name__ == "__main__":
    sys.exit(main())
