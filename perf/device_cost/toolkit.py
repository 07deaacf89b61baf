"""The programs that make SASS and read it: nvcc and nvdisasm."""
import glob
import os
import re
import shutil
import subprocess
import sysconfig

from cubin import repair_symbol_sizes

NVDISASM_HINT = ("no nvdisasm beside nvcc, in PATH or among Python's packages: `scripts/setup ci` or "
                 "`pip install nvidia-cuda-nvdisasm` gives one (--nvdisasm names one that lies elsewhere)")
# Where scripts/setup ci has put one.
FETCHED = os.path.join(os.environ.get("BUILD_FOLDER") or os.path.join(os.path.dirname(__file__), "..", "..", "build"),
                       "disassembler", "nvidia", "*", "bin", "nvdisasm")
USED = re.compile(r"Used (\d+) registers(?:.*?(\d+) bytes cumulative stack size)?")
LINKED = re.compile(r"used (\d+) registers.*?(\d+) stack")


class Missing(Exception):
    """A program that this machine lacks."""


class Failed(Exception):
    pass


def run(command):
    done = subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode:
        raise Failed(f"{' '.join(map(str, command))} ended with {done.returncode}:\n{done.stdout}")
    return done.stdout


def find_nvcc(named):
    found = shutil.which(named or "nvcc") or (not named and shutil.which("/usr/local/cuda/bin/nvcc"))
    if not found:
        raise Missing(f"no {named}" if named else "no nvcc in PATH or /usr/local/cuda/bin")
    return found


def find_nvdisasm(named, nvcc):
    """`named`: the program, or a folder in which it lies somewhere."""
    if named and os.path.isdir(named):
        places = [os.path.join(folder, "nvdisasm") for folder, _, files in os.walk(named) if "nvdisasm" in files]
    else:
        places = [named] if named else [os.path.join(os.path.dirname(os.path.realpath(nvcc)), "nvdisasm"), "nvdisasm",
                                        os.path.join(sysconfig.get_path("purelib"), "nvidia", "cu13", "bin", "nvdisasm"),
                                        *glob.glob(FETCHED)]
    for place in places:
        if os.path.isfile(place) and not os.access(place, os.X_OK):
            continue
        if shutil.which(place):
            return shutil.which(place)
    raise Missing(f"no nvdisasm at {named}" if named else NVDISASM_HINT)


def version_of(program):
    text = run([program, "--version"])
    found = re.search(r"V([0-9.]+)", text) or re.search(r"release ([0-9.]+)", text)
    return found[1] if found else text.strip()


def compile_cubin(nvcc, source, arch, options, output):
    """Compiles for one architecture; {kernel: (registers, stack bytes)}."""
    log = run([nvcc, "-std=c++20", f"-arch=sm_{arch}", "-cubin", "-Xptxas", "-v", *options, source, "-o", output])
    return usage_in(log)


def link_cubin(nvcc, part, library, arch, output):
    """With all that it calls, so that the usage is that of the whole call tree."""
    nvlink = os.path.join(os.path.dirname(os.path.realpath(nvcc)), "nvlink")
    folder, name = os.path.split(library)
    name = name.removeprefix("lib").removesuffix(".a")
    return linked_usage_in(run([nvlink, "-v", f"-arch=sm_{arch}", part, f"-L{folder}", f"-l{name}", "-o", output]))


def linked_usage_in(log):
    """nvlink -v: "Function properties for '<name>':", and in the next line what it uses."""
    usage, kernel = {}, None
    for line in log.splitlines():
        if entry := re.search(r"Function properties for '([^']+)'", line):
            kernel = entry[1]
        elif kernel and (used := LINKED.search(line)):
            usage[kernel] = (int(used[1]), int(used[2]))
            kernel = None
    return usage


def usage_in(log):
    """ptxas -v: "Compiling entry function '<name>' ..." and, further down, what it uses."""
    usage, kernel = {}, None
    for line in log.splitlines():
        if entry := re.search(r"Compiling entry function '([^']+)'", line):
            kernel = entry[1]
        elif kernel and (used := USED.search(line)):
            usage[kernel] = (int(used[1]), int(used[2] or 0))
            kernel = None
    return usage


def disassemble(nvdisasm, cubin):
    repair_symbol_sizes(cubin)
    return run([nvdisasm, "-c", cubin])
