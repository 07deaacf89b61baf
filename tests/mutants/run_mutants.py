#!/usr/bin/env python3
"""Plants the faults of mutants.toml and shows which oracle kills each. See README.md."""

import argparse
import concurrent.futures
import hashlib
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import time
import tomllib

import planting

RUN_SECONDS = 300
BUILD_SECONDS = 600
HERE = pathlib.Path(__file__).resolve().parent


class Broken(Exception):
    """The mutant proves nothing: its row does not fit the code."""


class Build:
    """The commands of a Ninja build folder."""

    def __init__(self, folder, nvcc, include_paths):
        self.folder, self.nvcc, self.include_paths = folder, nvcc, include_paths

    def make(self, targets):
        """Builds what a stage that runs no other test of theirs has left out."""
        if not targets:  # ninja would build everything
            return
        done = subprocess.run(["ninja", *targets], cwd=self.folder, text=True, capture_output=True)
        if done.returncode:
            raise Broken(f"ninja {' '.join(targets)}: {done.stdout[-1500:]}{done.stderr[-1500:]}")

    def commands(self, target):
        done = subprocess.run(["ninja", "-t", "commands", target], cwd=self.folder, text=True, capture_output=True)
        if done.returncode:
            raise Broken(f"no target {target} in this build: {done.stderr.strip()}")
        return done.stdout.splitlines()

    def compile_command(self, target, source):
        """The words that compile `source` for `target`."""
        for line in self.commands(target):
            words = shlex.split(line)
            if "-c" in words and words[words.index("-c") + 1] == str(source):
                return without_precompiled_headers(words)
        raise Broken(f"{target} does not compile {source}")

    def link_command(self, target):
        """The words that link `target`; what its build does before and after is left out."""
        output = str(target).rpartition("/")[2]
        for part in self.commands(target)[-1].split(" && "):
            words = shlex.split(part)
            if "-o" in words and pathlib.Path(words[words.index("-o") + 1]).name == output:
                return words
        raise Broken(f"{target} is not linked by its last command")

    def run(self, words, what):
        done = subprocess.run(words, cwd=self.folder, text=True, capture_output=True, timeout=BUILD_SECONDS)
        if done.returncode:
            raise Broken(f"does not {what}: {done.stdout[-1500:]}{done.stderr[-1500:]}")


def without_precompiled_headers(words):
    """They hold the headers as they were before a fault was planted."""
    left = []
    words = iter(words)
    for word in words:
        if word == "-Xclang" and (option := next(words)) not in ("-include", "-include-pch"):
            left += [word, option]
        elif word == "-Xclang":  # and its argument, which comes by -Xclang, too
            next(words), next(words)
        elif word == "-include":
            next(words)
        elif word != "-Winvalid-pch":
            left.append(word)
    return left


class Fault:
    """A row of the table: what is replaced, and how that must be seen."""

    def __init__(self, row, source):
        self.name, self.kind, self.file = row["name"], row["kind"], row["file"]
        self.search, self.replace = row["search"], row["replace"]
        self.program, self.compiles = row.get("program"), row.get("compiles", row["file"])
        self.codegen = row.get("codegen")
        self.arguments, self.environment = row.get("arguments", []), row.get("environment", {})
        self.oracle, self.says = row["oracle"], row["says"]
        self.source = source
        self.number = 1  # in its copy
        self.row = row

    def text(self):
        text = (self.source / self.file).read_text()
        if text.count(self.search) != 1:
            raise Broken(f"{self.file} has the text to replace {text.count(self.search)} times")
        return text

    def fingerprint(self):
        """Of the row, the file that it changes, the test that sees it, and what runs the test."""
        machinery = [path for folder in ("device/simt", "tests/support") for path in (self.source / folder).glob("*.?pp")]
        machinery += [self.source / "tests/support/CMakeLists.txt", self.source / "CMakePresets.json"]
        files = sorted({self.source / self.file, self.source / (self.codegen or self.compiles), *machinery})
        parts = [repr(sorted(self.row.items())), *(path.read_text() for path in files)]
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]

    def judge(self, words, folder):
        """How the oracle, these words, killed it; raises Broken, or AssertionError if it lives."""
        environment = os.environ | self.environment | {"PLANTED_FAULT": str(self.number)}
        try:
            done = subprocess.run(words, cwd=folder, text=True, env=environment, timeout=RUN_SECONDS,
                                  errors="replace", stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        except subprocess.TimeoutExpired:
            raise Broken(f"still runs after {RUN_SECONDS} s")
        (folder / f"output_{self.number}.txt").write_text(done.stdout)
        if done.returncode == 0:
            raise AssertionError("LIVES: the program passed")
        killer = re.search(self.says, done.stdout)
        if not killer:
            raise AssertionError(f"killed, but not by the words /{self.says}/:\n{done.stdout[-1500:]}")
        fact = re.search(r"\[  FAILED  \] (\S+) \(", done.stdout)
        return fact.group(1) if fact else killer.group(0)


class Copy:
    """Faults that one program shows: one binary with all of them, the fault chosen when it runs."""

    def __init__(self, faults, source, build, scratch):
        self.faults, self.source, self.build = faults, source, build
        for number, fault in enumerate(faults, 1):
            fault.number = number
        words = f"{faults[0].kind} {faults[0].name}"
        self.folder = scratch / re.sub(r"[^a-z0-9]+", "_", words.lower()).strip("_")

    def verdicts(self):
        """(fault, whether it was killed, in what words, seconds of its oracle) for each of its faults."""
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        try:
            words = self.oracle()
        except (Broken, subprocess.TimeoutExpired) as problem:
            return [(fault, False, str(problem), 0) for fault in self.faults]
        return [self.verdict(fault, words) for fault in self.faults]

    def verdict(self, fault, words):
        start = time.monotonic()
        try:
            killed, how = True, fault.judge([*words, *fault.arguments], self.folder)
        except (Broken, AssertionError) as problem:
            killed, how = False, str(problem)
        return fault, killed, how, time.monotonic() - start

    def oracle(self):
        """The words that run the oracle: of a program with the faults in it, or of what nvcc makes of the copy."""
        planted = self.plant()
        first = self.faults[0]
        if first.codegen:
            includes = f"{self.folder / 'include'}:{self.build.include_paths}"
            return [self.source / "tests/codegen/check_ptx", self.build.nvcc, "90", self.source / first.codegen, includes]
        return [self.link(self.compile(planted))]

    def plant(self):
        """The changed files, where the compiler finds them before the originals: {file: copy}."""
        by_file = {}
        for fault in self.faults:
            by_file.setdefault(fault.file, []).append(fault)
        planted = {}
        for file, faults in by_file.items():
            copy = self.place_for(file)
            copy.unlink(missing_ok=True)
            copy.write_text(self.copy_of(faults))
            planted[file] = copy
        return planted

    def copy_of(self, faults):
        text = faults[0].text()
        if len(self.faults) == 1:
            return text.replace(faults[0].search, faults[0].replace)
        return planting.switchable(text, {fault.number: (fault.search, fault.replace) for fault in faults})

    def place_for(self, file):
        if pathlib.Path(file).parts[0] == "device":  # included as chime/device/...: the whole folder goes in front
            root = self.folder / "include" / "chime" / "device"
            if not root.exists():
                self.link_tree(self.source / "device", root)
            return root / pathlib.Path(file).relative_to("device")
        return self.folder / pathlib.Path(file).name

    @staticmethod
    def link_tree(original, copy):
        for path in original.rglob("*"):
            if not path.is_dir():
                target = copy / path.relative_to(original)
                target.parent.mkdir(parents=True, exist_ok=True)
                target.symlink_to(path)

    def compile(self, planted):
        first = self.faults[0]
        original = self.source / first.compiles
        words = self.build.compile_command(first.program, original)
        output = self.folder / "mutant.o"
        place = {"-o": output, "-MF": self.folder / "mutant.d", "-MT": output,
                 "-c": planted.get(first.compiles, original)}
        for option, value in place.items():
            if option in words:
                words[words.index(option) + 1] = str(value)
        first_flag = next(i for i, word in enumerate(words) if word.startswith("-"))
        words[first_flag:first_flag] = ["-include", str(HERE / "planted_fault.hpp"), "-I", str(self.folder / "include")]
        self.build.run(words, "compile")
        return output

    def link(self, compiled):
        first = self.faults[0]
        words = self.build.link_command(first.program)
        program = self.folder / pathlib.Path(first.program).name
        words[words.index("-o") + 1] = str(program)
        # In front of the original: an archive's member is then not taken, an object is left out.
        objects = [i for i, word in enumerate(words) if word.endswith(".o")]
        stem = pathlib.Path(first.compiles).name + ".o"
        place = next((i for i in objects if pathlib.Path(words[i]).name == stem), None)
        if place is None:
            words.insert(objects[0], str(compiled))
        else:
            words[place] = str(compiled)
        self.build.run(words, "link")
        return program


def stands_alone(fault):
    """Whether it needs a binary of its own: one that nvcc makes, or one with the fault outside every function."""
    if fault.codegen:
        return True
    try:
        text = fault.text()
    except Broken:
        return True
    return planting.function_body(text, *planting.place_of(text, fault.search)) is None


def copies_of(faults, source, build, scratch):
    """One Copy for each program, the longest first."""
    together = {}
    for fault in faults:
        key = fault.name if stands_alone(fault) else (fault.program, fault.compiles)
        together.setdefault(key, []).append(fault)
    return [Copy(those, source, build, scratch) for those in sorted(together.values(), key=len, reverse=True)]


class SeenKilled:
    """The table seen_killed.txt: with what contents of its files each fault was last seen killed."""

    def __init__(self, path):
        self.path = path
        lines = path.read_text().splitlines() if path.exists() else []
        self.entries = dict(line.split(" ", 1)[::-1] for line in lines if line and not line.startswith("#"))

    def has(self, fault):
        return self.entries.get(f"{fault.kind}: {fault.name}") == fault.fingerprint()

    def write(self, faults, all_faults):
        """`faults` were killed now; a fault that the table of faults no longer has is forgotten."""
        self.entries |= {f"{fault.kind}: {fault.name}": fault.fingerprint() for fault in faults}
        known = {f"{fault.kind}: {fault.name}" for fault in all_faults}
        self.path.write_text(
            "# Written by run_mutants.py --record: <fingerprint of the row and its files> <kind>: <name>\n" +
            "".join(f"{print_} {name}\n" for name, print_ in sorted(self.entries.items()) if name in known))


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--source", type=pathlib.Path, required=True)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--kind", choices=["cpu", "tsan", "cuda"], required=True)
    parser.add_argument("--changed", action="store_true", help="only faults whose files changed since seen_killed.txt")
    parser.add_argument("--record", action="store_true", help="write into seen_killed.txt which were killed")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--nvcc", default="", help="for mutants of kind cuda")
    parser.add_argument("--include-paths", default="", help="of device code, with : between")
    arguments = parser.parse_args()
    arguments.source, arguments.build = arguments.source.resolve(), arguments.build.resolve()
    return arguments


def main():
    arguments = parse_arguments()
    rows = tomllib.loads((arguments.source / "tests/mutants/mutants.toml").read_text())["mutant"]
    every = [Fault(row, arguments.source) for row in rows]
    wanted = os.environ.get("CHIME_TEST_MUTANTS", "")
    faults = [fault for fault in every if fault.kind == arguments.kind and wanted in fault.name]
    if not faults:
        print(f"no mutant of kind {arguments.kind} has '{wanted}' in its name")
        return 77 if not wanted else 1
    seen = SeenKilled(arguments.source / "tests/mutants/seen_killed.txt")
    if arguments.changed:
        unchanged = [fault for fault in faults if seen.has(fault)]
        faults = [fault for fault in faults if fault not in unchanged]
        print(f"{len(unchanged)} mutants were seen killed with these very files (seen_killed.txt), {len(faults)} are run")
        if not faults:
            return 0

    build = Build(arguments.build, arguments.nvcc, arguments.include_paths)
    build.make(sorted({fault.program for fault in faults if fault.program}))
    copies = copies_of(faults, arguments.source, build, arguments.build / "mutants")
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        verdicts = [verdict for verdicts in pool.map(Copy.verdicts, copies) for verdict in verdicts]

    print(f"{'mutant':44} {'oracle':30} {'s':>5} killed by")
    for fault, killed, words, seconds in sorted(verdicts, key=lambda verdict: faults.index(verdict[0])):
        print(f"{fault.name:44} {fault.oracle:30} {seconds:5.1f} {words if killed else '-- NOT KILLED: ' + words}")
    killed = [fault for fault, is_killed, _, _ in verdicts if is_killed]
    print(f"{len(killed)} of {len(faults)} mutants killed")
    if arguments.record:
        seen.write(killed, every)
    return 0 if len(killed) == len(faults) else 1


if __name__ == "__main__":
    sys.exit(main())
