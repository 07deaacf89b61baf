"""Programs with faults planted in them, and their oracles' verdicts."""

import pathlib
import re
import shutil
import subprocess
import sys
import time

import planting
from build_folder import Broken, included
from deadlines import NoTimeLeft
from faults import LAUNCHER

HERE = pathlib.Path(__file__).resolve().parent


class Copy:
    """Faults that one program shows: one binary with all of them, the fault chosen when it runs."""

    def __init__(self, faults, source, build, scratch):
        self.faults, self.source, self.build = faults, source, build
        for number, fault in enumerate(faults, 1):
            fault.number = number
        words = f"{faults[0].kind} {faults[0].name}"
        self.folder = scratch / re.sub(r"[^a-z0-9]+", "_", words.lower()).strip("_")

    def verdicts(self, deadline):
        """(fault, whether it was killed, by which words, seconds of its oracle) for each of its faults that there was time for. The
        first one always has time, once the program is built."""
        found = []
        try:
            deadline.check()
            shutil.rmtree(self.folder, ignore_errors=True)
            self.folder.mkdir(parents=True)
            self.build.make(sorted(set().union(*(fault.targets() for fault in self.faults))))
            words = self.oracle()
            for fault in self.faults:
                if found:
                    deadline.check()
                found.append(self.verdict(fault, words))
        except (Broken, subprocess.TimeoutExpired) as problem:
            return [(fault, False, str(problem), 0) for fault in self.faults]
        except NoTimeLeft:
            pass
        return found

    def verdict(self, fault, words):
        start = time.monotonic()
        try:
            killed, how = True, fault.judge([*words, *fault.arguments], self.folder, self.build.folder)
        except (Broken, AssertionError) as problem:
            killed, how = False, str(problem)
        return fault, killed, how, time.monotonic() - start

    def oracle(self):
        """The command of the oracle: a program with the faults in it, a script that runs that, or of nvcc's code for the copy."""
        planted = self.plant()
        first = self.faults[0]
        if first.codegen:
            includes = f"{self.folder / 'include'}:{self.build.include_paths}"
            return [self.source / "tests/codegen/checker/check_ptx", self.build.nvcc, "90", self.source / first.codegen, includes]
        launcher = [self.build.folder / LAUNCHER, "-n", str(first.pes), "--timeout", "100"] if first.pes else []
        program = self.link(*self.compile(planted))
        return [sys.executable, self.source / first.script] if first.script else [*launcher, program]

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
        if pathlib.Path(file).parts[0] == "device":  # included as chime/device/...: the copy needs the whole folder
            root = self.folder / "include" / "chime" / "device"
            if not root.exists():
                self.link_tree(self.source / "device", root)
            return root / pathlib.Path(file).relative_to("device")
        if pathlib.Path(file).suffix in (".cuh", ".hpp"):  # included by its name or its path: the copy needs its folder
            folder = pathlib.Path(file).parent
            root = self.folder / "include" / folder
            if not root.exists():
                self.link_tree(self.source / folder, root)
            if not (self.folder / "beside").exists():
                (self.folder / "beside").symlink_to(root)
            return root / pathlib.Path(file).name
        return self.folder / pathlib.Path(file).name

    @staticmethod
    def link_tree(original, copy):
        for path in original.rglob("*"):
            if not path.is_dir():
                target = copy / path.relative_to(original)
                target.parent.mkdir(parents=True, exist_ok=True)
                target.symlink_to(path)

    def compile(self, planted):
        """(the object with the faults, the one that it replaces)"""
        first = self.faults[0]
        original = self.source / first.compiles
        text = planted.get(first.compiles, original)
        output = self.folder / "mutant.o"
        if first.is_of_clang():
            return self.compile_by_clang(original, text, output)
        words, compiled = self.build.compile_command(first.program, original)
        replaced = self.build.object_of(words)
        if compiled != original:
            text = self.beside_its_neighbours(compiled, original, text)
        self.build.run(self.placed(words, compiled, text, output, "-include", str(HERE / "planted_fault.hpp")), "compile")
        self.check_that_all_took_part(planted, output.with_suffix(".d"))
        return output, replaced

    def beside_its_neighbours(self, compiled, original, text):
        """A copy of a file that includes sources which are compiled together, with `text` in the original's place."""
        together = self.folder / "together.cxx"
        together.write_text(compiled.read_text().replace(included(original), included(text)))
        return together

    def check_that_all_took_part(self, planted, dependencies):
        """A fault in a header would live for ever if the compiler used another file. A compiler cache may make paths relative."""
        if dependencies.exists():
            read = {self.build.path(word) for word in dependencies.read_text().split() if word != "\\"}
            for file, copy in planted.items():
                if copy.resolve() not in read:
                    raise Broken(f"what is compiled does not include the copy of {file}")

    def compile_by_clang(self, original, text, output):
        """Kernels as PTX, then the host's part with that inside: as compile()."""
        device, host, replaced = self.build.clang_commands(self.faults[0].program, original)
        ptx = self.folder / "mutant.kernels"  # not *.ptx: the census would read those
        original_ptx = host[host.index("-fcuda-include-gpubinary") + 2]
        host = [str(ptx) if word == original_ptx else word for word in host]
        host = [f"CCACHE_EXTRAFILES={ptx}" if word.startswith("CCACHE_EXTRAFILES=") else word for word in host]
        self.build.run(self.placed(device, original, text, ptx), "compile to PTX")
        with open(ptx, "ab") as file:
            file.write(b"\0")
        self.build.run(self.placed(host, original, text, output), "compile")
        return output, replaced

    def placed(self, words, original, text, output, *more):
        """A compiler's command, with the copies before the originals and its output in this folder."""
        for option, value in {"-o": output, "-MF": output.with_suffix(".d"), "-MT": output}.items():
            if option in words:
                words[words.index(option) + 1] = str(value)
        words[words.index(str(original))] = str(text)
        first_flag = next(i for i, word in enumerate(words) if word.startswith("-"))
        words[first_flag:first_flag] = [*more, "-I", str(self.folder / "include"), "-I", str(self.folder / "beside")]
        return words

    def link(self, compiled, replaced):
        first = self.faults[0]
        words = self.build.link_command(first.program)
        program = self.folder / pathlib.Path(first.program).name
        words[words.index("-o") + 1] = str(program)
        # Before the original: then the linker takes no member of an archive; an object is left out.
        objects = [i for i, word in enumerate(words) if word.endswith(".o")]
        place = next((i for i in objects if self.build.path(words[i]) == replaced), None)
        if place is None:
            words.insert(objects[0], str(compiled))
        else:
            words[place] = str(compiled)
        self.build.run(words, "link")
        return program


def stands_alone(fault):
    """Whether it needs a binary of its own: one that nvcc or clang makes, or one with the fault outside every function."""
    if fault.codegen or fault.is_of_clang():
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
        key = fault.name if stands_alone(fault) else (fault.program, fault.compiles, fault.pes, fault.script)
        together.setdefault(key, []).append(fault)
    return [Copy(those, source, build, scratch) for those in sorted(together.values(), key=len, reverse=True)]
