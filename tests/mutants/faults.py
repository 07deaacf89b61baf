"""The rows of mutants.toml, and the contents of its files with which each was killed."""

import hashlib
import os
import pathlib
import re
import subprocess

from build_folder import Broken

RUN_SECONDS = 300
LAUNCHER = "tools/chime-run/chime-run"
# What a script judges is written by more than the program: here by the recorder of timelines, and by what merges them.
WRITERS = {"tests/unit/timeline/run_test.py": ["host/trace/*.?pp", "host/trace/*/*.?pp", "device/exec/timeline.cuh",
                                              "softgpu/vocabulary/calls.hpp", "softgpu/ptx/emit/emit_control.cpp"]}


class Fault:
    """A row of the table: the replaced text, and the output that must reveal it."""

    def __init__(self, row, source):
        self.name, self.kind, self.file = row["name"], row["kind"], row["file"]
        self.search, self.replace = row["search"], row["replace"]
        self.program, self.compiles = row.get("program"), row.get("compiles", row["file"])
        self.codegen, self.pes, self.script = row.get("codegen"), row.get("pes"), row.get("script")
        self.arguments, self.environment = row.get("arguments", []), row.get("environment", {})
        self.oracle, self.says = row["oracle"], row["says"]
        self.source = source
        self.number = 1  # in its copy
        self.row = row

    def targets(self):
        """The targets that its oracle needs."""
        wanted = {self.program} if self.program else set()
        if self.pes or self.script:
            wanted.add(LAUNCHER)
        if any("{build}/softnic" in value for value in self.environment.values()):
            wanted.add("softnic")
        return wanted

    def is_of_clang(self):
        """Whether clang compiles the code with the fault, for the softgpu: kernels read no environment, and cannot choose."""
        return self.kind == "softgpu" and self.file.startswith("device/")

    def text(self):
        text = (self.source / self.file).read_text()
        if text.count(self.search) != 1:
            raise Broken(f"{self.file} has the text to replace {text.count(self.search)} times")
        return text

    def machinery(self):
        """The sources of the test's executor, and of its judges."""
        executed = ["device/simt/*/*.?pp", "tests/support/*.?pp", "tests/support/CMakeLists.txt", "CMakePresets.json"]
        compiled = ["tests/codegen/checker/*.awk", "tests/codegen/checker/check_ptx", "tests/codegen/checker/compare"]
        if self.kind == "softgpu":
            executed = ["device/simt/*/*.?pp", "CMakePresets.json"]  # programs of tests/gpu use nothing of tests/support
        patterns = (compiled if self.kind == "cuda" else executed) + WRITERS.get(self.script, [])
        return [path for pattern in patterns for path in self.source.glob(pattern)]

    def fingerprint(self):
        """A hash of the row, the file that it changes, the test that detects it, and the sources of its executor and of what writes its output."""
        machinery = self.machinery()
        scripts = (self.source / self.script).parent.glob("*.py") if self.script else []
        files = sorted({self.source / self.file, self.source / (self.codegen or self.compiles), *machinery, *scripts})
        parts = [repr(sorted(self.row.items())), *(path.read_text() for path in files)]
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]

    def judge(self, words, folder, build):
        """How the oracle, this command, killed it; raises Broken, or AssertionError if it lives."""
        environment = {name: value.replace("{build}", str(build)).replace("{folder}", str(folder)) for name, value in self.environment.items()}
        environment = os.environ | environment | {"PLANTED_FAULT": str(self.number)}
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


class SeenKilled:
    """The contents of its files with which each fault was killed, by this user on this machine: lines in a file of the user's cache
    folder, <fingerprint> <kind>: <name>. It may be removed at any time."""

    def __init__(self):
        cache = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
        self.path = pathlib.Path(cache, "chime", "mutants_killed")
        lines = self.path.read_text().splitlines() if self.path.exists() else []
        self.fingerprints = {line.split(" ", 1)[0] for line in lines if line}
        self.names = {line.split(" ", 1)[1] for line in lines if line}

    def has(self, fault):
        return fault.fingerprint() in self.fingerprints

    def has_another(self, fault):
        """Whether it was killed once, with other contents."""
        return f"{fault.kind}: {fault.name}" in self.names

    def add(self, fault):
        """At once, in one write: a run may be ended early, and another may write, too."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with open(self.path, "a") as file:
            file.write(f"{fault.fingerprint()} {fault.kind}: {fault.name}\n")
