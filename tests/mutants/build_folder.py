"""The commands of a Ninja build folder."""

import pathlib
import shlex
import subprocess
import threading

BUILD_SECONDS = 600


class Broken(Exception):
    """The mutant proves nothing: its row does not fit the code."""


class Build:
    """The commands of a Ninja build folder."""

    def __init__(self, folder, nvcc, include_paths):
        self.folder, self.nvcc, self.include_paths = folder, nvcc, include_paths
        self.one_ninja = threading.Lock()

    def make(self, targets):
        """Builds targets that a stage has left out because it runs no other test of them."""
        if not targets:  # ninja would build everything
            return
        with self.one_ninja:
            done = subprocess.run(["ninja", *targets], cwd=self.folder, text=True, capture_output=True)
        if done.returncode:
            raise Broken(f"ninja {' '.join(targets)}: {done.stdout[-1500:]}{done.stderr[-1500:]}")

    def commands(self, target):
        done = subprocess.run(["ninja", "-t", "commands", target], cwd=self.folder, text=True, capture_output=True)
        if done.returncode:
            raise Broken(f"no target {target} in this build: {done.stderr.strip()}")
        return done.stdout.splitlines()

    def compile_command(self, target, source):
        """(the command that compiles `source` for `target`, the file that it compiles): another file where that includes `source`, beside
        others that are compiled together (CHIME_UNITY)."""
        for line in self.commands(target):
            words = shlex.split(line)
            compiled = pathlib.Path(words[words.index("-c") + 1]) if "-c" in words else None
            if compiled == source or (compiled and compiled.parent.name == "Unity" and included(source) in compiled.read_text()):
                return without_precompiled_headers(words), compiled
        raise Broken(f"{target} does not compile {source}")

    def object_of(self, words):
        """The path of the file that a compiler command writes."""
        return self.path(written_by(words))

    def path(self, word):
        return (self.folder / word).resolve()

    def clang_commands(self, target, source):
        """The command that makes PTX of the kernels of `source`, the one that compiles its host's part with the PTX inside, and the
        object that this writes: those of chime_clang_sources for the softgpu."""
        found = {}
        for line in self.commands(target):
            words = shlex.split(line.split(" && ")[1]) if line.startswith("cd ") else []
            for kind in ("--cuda-device-only", "--cuda-host-only"):
                if kind in words and str(source) in words:
                    found[kind] = words
                    folder = shlex.split(line.split(" && ")[0])[1]
        if len(found) != 2:
            raise Broken(f"clang does not compile {source} for {target}")
        host = found["--cuda-host-only"]
        return found["--cuda-device-only"], host, self.path(pathlib.Path(folder, written_by(host)))

    def link_command(self, target):
        """The command that links `target`, without the commands of its build before and after."""
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


def written_by(words):
    return words[words.index("-o") + 1]


def included(source):
    return f'#include "{source}"'


def without_precompiled_headers(words):
    """They hold the headers as they were before a fault was planted."""
    left = []
    words = iter(words)
    for word in words:
        if word == "-Xclang" and (option := next(words)) not in ("-include", "-include-pch"):
            left += [word, option]
        elif word == "-Xclang":  # and its argument, which -Xclang precedes, too
            next(words), next(words)
        elif word == "-include":
            next(words)
        elif word != "-Winvalid-pch":
            left.append(word)
    return left
