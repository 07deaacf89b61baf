#!/usr/bin/env python3
"""layout.py <source folder> <build folder> <folder to make> <device: cuda or softgpu> <commit> [--only <pattern>]

Lays out what scripts/gpu-pack packs, from a build. It builds nothing.

    gpu-check     runs it (scripts/packed/gpu-check)
    runs          what it runs, a line each: part, seconds kept for the part, must or if-time, name, seconds, tool it needs or -,
                  variables or -, command; fields are separated by tabs, and so no field is empty
    about         a word and its value a line
    bin/ lib/     programs; libraries, of ours and of others, that a bare machine lacks
    licences/     of the others' libraries, as their packages have them
    include/      for the softgpu alone: what kernels are compiled with when they run

Programs find libraries by $ORIGIN. Names of the two folders that are compiled into programs become as many "./", so that nothing names a
folder of the machine that built it; gpu-check sets the variables that say where things are instead."""
import argparse
import json
import pathlib
import re
import shutil
import subprocess
import sys

# Not packed: every Linux machine with a C++ compiler has these, or the driver brings them. NVIDIA's files may not be passed on.
OF_THE_MACHINE = re.compile(r"^(ld-linux.*|lib(c|m|dl|rt|pthread|util|resolv|stdc\+\+|gcc_s|atomic|cuda|nvidia-.*))\.so")
OF_NVIDIA = re.compile(r"/cuda|/nvidia|/libcu(blas|d[an]|dss|fft|file|inj|obj|pti|rand|solver|sparse|tensor)|/libnv")
# Loaded by name when needed: the emulated NIC's and a real one's library, and the one that chooses GPUs and NICs.
LOADED = ["libibverbs.so.1", "libmlx5.so.1", "libhwloc.so.15"]
# As libibverbs looks for it; gpu-check names it in IBV_DRIVERS.
PROVIDER = ("libmlx5.so.1", "libmlx5-rdmav34.so")


def stop(words):
    sys.exit(f"gpu-pack: {words}")


def output(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout


class Archive:
    """The folder that is made, and which file of the build stands where in it."""

    def __init__(self, source, build, folder):
        self.source, self.build, self.folder = source, build, folder
        self.taken = {}  # a file of ours -> its place
        for name in ("bin", "lib", "licences"):
            (folder / name).mkdir(parents=True)

    def place(self, file):
        """Where a file of the build stands in the archive; it is copied when it is first asked for."""
        file = file.resolve()
        if file not in self.taken:
            place = pathlib.Path("lib") / loaded_name(file) if ".so" in file.name else pathlib.Path("bin") / file.name
            if place in self.taken.values():
                stop(f"two files would be {place}; one is {file}")
            self.taken[file] = place
            self.copy(file, place)
            self.take_libraries(file)
        return str(self.taken[file])

    def copy(self, file, place):
        target = self.folder / place
        shutil.copyfile(file, target)
        target.chmod(0o755)
        with open(file, "rb") as opened:
            is_program = opened.read(4) == b"\x7fELF"
        if is_program:
            subprocess.run(["strip", "--strip-unneeded", target], check=True)
            if "(RUNPATH)" in output("readelf", "-d", target):
                set_runpath(target, "$ORIGIN" if place.parts[0] == "lib" else "$ORIGIN/../lib")
        forget(target, [self.build, self.source])

    def take_libraries(self, file):
        for line in output("ldd", file).splitlines():
            name, _, path = line.strip().partition(" => ")
            if OF_THE_MACHINE.match(pathlib.Path(name.split()[0]).name) or not path:
                continue
            if path.startswith("not found"):
                stop(f"{file} needs {name}, which this machine does not have")
            self.take_library(name, pathlib.Path(path.rsplit(" (", 1)[0]))

    def take_library(self, name, path):
        if self.build in path.resolve().parents:
            self.place(path)
            return
        if OF_NVIDIA.search(str(path)):
            stop(f"{path} is NVIDIA's and cannot be handed on: link it into the program, or have the machine's own found")
        if (self.folder / "lib" / name).exists():
            return
        shutil.copyfile(path, self.folder / "lib" / name)
        self.take_licence(path)
        self.take_libraries(path)

    def take_licence(self, library):
        package = owner_of(library)
        licence = pathlib.Path("/usr/share/doc") / package / "copyright"
        if not package or not licence.exists():
            stop(f"{library}: no package with a licence says whose it is")
        shutil.copyfile(licence, self.folder / "licences" / package)


def loaded_name(library):
    """By which the loader knows it."""
    soname = re.search(r"\(SONAME\).*\[(.*)\]", output("readelf", "-d", library))
    return soname[1] if soname else library.name


def owner_of(library):
    for path in (library, library.resolve()):
        for name in (str(path), str(path).removeprefix("/usr")):  # packages may still say /lib
            found = subprocess.run(["dpkg", "-S", name], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
            if found.returncode == 0:
                return found.stdout.split(":")[0]
    return ""


def set_runpath(file, runpath):
    """As CMake does when it installs: the new one is no longer than the old."""
    script = file.parent / "runpath.cmake"
    script.write_text(f'file(RPATH_SET FILE "{file}" NEW_RPATH "{runpath}")\n')
    done = subprocess.run(["cmake", "-P", script], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    script.unlink()
    if done.returncode != 0:
        stop(f"{file}: its runpath cannot be {runpath}:\n{done.stdout}")


def forget(file, folders):
    """No byte moves: a name of a folder becomes a name as long of the folder that a program runs in."""
    content = before = file.read_bytes()
    for folder in folders:
        name = str(folder).encode() + b"/"
        content = content.replace(name, b"./" * (len(name) // 2) + b"/" * (len(name) % 2))
        name = str(folder).encode()  # where nothing follows
        content = content.replace(name, b"./" * (len(name) // 2) + b"." * (len(name) % 2))
    if content != before:
        file.write_bytes(content)


class Runs:
    """The lines of `runs`, made of the table beside this file."""

    def __init__(self, archive, device, only):
        self.archive, self.device, self.only = archive, device, re.compile(only)
        self.lines, self.names, self.part = [], set(), None
        listed = output("ctest", "--test-dir", archive.build, "--show-only=json-v1")
        self.tests = json.loads(listed)["tests"]

    def read(self, table):
        for number, line in enumerate(table.read_text().splitlines(), 1):
            words = line.replace("{device}", self.device).split()
            if not words or words[0].startswith("#"):
                continue
            try:
                self.row(words)
            except (IndexError, ValueError) as error:
                stop(f"{table}:{number}: '{line}' is no row of this table ({error})")

    def row(self, words):
        tool = "-"
        if words[0] == "needs":
            tool, words = words[1], words[2:]
        if words[0] == "part":
            self.part = [words[1], str(int(words[2])), "if-time" if words[3:] == ["if-time"] else "must"]
        elif words[0] == "ctest":
            self.tests_that_match(int(words[1]), re.compile(words[2]), words[3:])
        elif words[0] == "run":
            count = next(i for i, word in enumerate(words[3:]) if not is_variable(word))
            self.add(words[2], int(words[1]), tool, words[3 : 3 + count], words[3 + count :])
        else:
            raise ValueError(f"'{words[0]}' is not part, ctest, run or needs")

    def tests_that_match(self, seconds, pattern, variables):
        for test in self.tests:
            if not pattern.search(test["name"]):
                continue
            name = "/".join([test["name"]] + [v.partition("=")[2] for v in variables if v.startswith("CUDA_")])
            properties = {p["name"]: p["value"] for p in test["properties"]}
            if not self.only.search(name) or name in self.names:
                continue
            if "command" not in test:
                stop(f"{name} is to be packed and is not built in {self.archive.build}")
            if any("REGULAR_EXPRESSION" in key for key in properties):
                stop(f"{name} is judged by its output, which gpu-check --packed does not look at")
            own = {v.partition("=")[0] for v in variables}
            kept = [v for v in properties.get("ENVIRONMENT", []) if v.partition("=")[0] not in own]
            self.add(name, seconds, "-", kept + variables, test["command"])

    def add(self, name, seconds, tool, variables, command):
        if not self.only.search(name) or name in self.names:
            return
        self.names.add(name)
        moved = [self.moved(word) for word in variables], [self.moved(word) for word in command]
        if any(re.search(r"\s", word) for words in moved for word in words):
            stop(f"{name}: a word of its command or variables has a space in it, which `runs` cannot hold")
        self.lines.append("\t".join([*self.part, name, str(seconds), tool, " ".join(moved[0]) or "-", " ".join(moved[1])]))

    def moved(self, word):
        """A word of a command as it is in the archive. Files are named by their place in the build folder, or in full."""
        before, equals, value = word.partition("=")
        file = self.archive.build / (value if equals else word)
        if file.is_file():
            return (before + equals if equals else "") + self.archive.place(file)
        for folder in (self.archive.build, self.archive.source):
            if str(folder) in word:
                stop(f"'{word}' is no file that can be packed")
        if "/" in word and re.match(r"(tests|perf|tools|examples)/", word):
            stop(f"{word} is to be packed and is not built in {self.archive.build}")
        return word


def is_variable(word):
    return re.match(r"[A-Z_]+=", word)


def take_what_is_loaded(archive, device):
    for name in ("tools/chime-run/chime-run", "tools/chime-info/chime-info", "host/libchime.so"):
        archive.place(archive.build / name)
    softnic = archive.build / "softnic/libsoftnic.so"
    if softnic.exists():
        archive.place(softnic)
        shutil.copytree(softnic.parent / "softnic.sysfs", archive.folder / "lib/softnic.sysfs", symlinks=True)
    found = {}
    for line in output("/sbin/ldconfig", "-p").splitlines():
        name, _, path = line.strip().partition(" => ")
        if "x86-64" in name:
            found.setdefault(name.split()[0], path)
    for name in LOADED:
        if name in found:
            archive.take_library(name, pathlib.Path(found[name]))
    if (archive.folder / "lib" / PROVIDER[0]).exists():
        (archive.folder / "lib" / PROVIDER[1]).symlink_to(PROVIDER[0])
    if device == "softgpu":
        archive.place(archive.build / "softgpu/libsoftgpu.so")
        take_headers_of_softgpu(archive)


def take_headers_of_softgpu(archive):
    include = archive.folder / "include"
    shutil.copytree(archive.source / "softgpu", include / "softgpu", ignore=only_headers)
    shutil.copytree(archive.source / "device/simt", include / "chime/device/simt", ignore=only_headers)
    shutil.copytree(archive.source / "include/chime", include / "chime", ignore=only_headers, dirs_exist_ok=True)


def only_headers(folder, names):
    return [n for n in names if not (pathlib.Path(folder) / n).is_dir() and not n.endswith((".h", ".hpp", ".cuh"))]


def needed_glibc(archive):
    """The newest version of the C library that anything asks for."""
    versions = set()
    for file in [*archive.folder.glob("bin/*"), *archive.folder.glob("lib/*.so*")]:
        versions.update(re.findall(r"GLIBC_(\d+)\.(\d+)", output("readelf", "-V", file)))
    return ".".join(max(versions, key=lambda version: (int(version[0]), int(version[1]))))


def check_nothing_is_named(archive):
    for file in sorted(archive.folder.rglob("*")):
        if not file.is_file() or file.is_symlink():
            continue
        content = file.read_bytes()
        for folder in (archive.build, archive.source):
            if str(folder).encode() in content:
                stop(f"{file.relative_to(archive.folder)} still names {folder}")


def main():
    parser = argparse.ArgumentParser()
    for name in ("source", "build", "folder", "device", "commit"):
        parser.add_argument(name)
    parser.add_argument("--only", default="")
    asked = parser.parse_args()
    source, build, folder = (pathlib.Path(p).resolve() for p in (asked.source, asked.build, asked.folder))
    archive = Archive(source, build, folder)
    take_what_is_loaded(archive, asked.device)
    runs = Runs(archive, asked.device, asked.only)
    runs.read(source / "scripts/packed/runs")
    if not runs.lines:
        stop(f"nothing is to be run: no name matches '{asked.only}'")
    (folder / "runs").write_text("\n".join(runs.lines) + "\n")
    (folder / "about").write_text(f"device {asked.device}\ncommit {asked.commit}\nglibc {needed_glibc(archive)}\n")
    shutil.copy(source / "scripts/packed/gpu-check", folder / "gpu-check")
    check_nothing_is_named(archive)
    print(f"{len(runs.lines)} runs, {len(archive.taken)} files of ours")


if __name__ == "__main__":
    main()
