"""The PTX instructions that a call executes, from its run: a build of preset softgpu counts it by the forms of its instructions
(tests/softgpu/cost), here they become a row's columns."""
import json
import pathlib
import subprocess
from collections import Counter

SCOPES = ("cta", "gpu", "sys")
MODES = ("exclusive", "block", "gpu", "p2p", "-")  # the sharing of the queue; without a queue; or the library has no modes
# Columns of softgpu/vocabulary/env.hpp that are memory, and their names here. Arguments of calls are in registers on a GPU.
MEMORY = {"local": "local", "shared": "shared", "device": "device", "host": "host", "bar": "bar", "other": "other"}
CONSTANT = ("const", "param")


class Failed(Exception):
    pass


def run(build, kernels_wanted=()):
    """Lines of the program that a build of preset softgpu has made; of all kernels unless some are named."""
    folder = pathlib.Path(build) / "tests" / "softgpu" / "cost"
    program, kernels = folder / "softgpu_run_calls", folder / "calls.ptx"
    if not program.exists() or not kernels.exists():
        raise Failed(f"{folder} has no softgpu_run_calls: cmake --preset softgpu && cmake --build {build} --target softgpu_run_calls")
    done = subprocess.run([program, kernels, *kernels_wanted], capture_output=True, text=True, check=False)
    if done.returncode:
        raise Failed(f"{program}: {done.stdout[-500:]}{done.stderr[-1000:]}")
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


def by_call(lines):
    """{(kernel, mode): counts}; where peers are mapped the mode is p2p."""
    return {(line["kernel"], line["mode"] if line["path"] == "nic" else line["path"]): counts_of(line) for line in lines}


def counted(path, operations):
    """The same of a file of CHIME_SOFTGPU_COUNT, for the calls of any library: a kernel is named by its operation, with
    _by_<mode> after it if it has a mode. Of several launches of a kernel the one with the fewest instructions counts."""
    try:
        lines = [json.loads(line) for line in pathlib.Path(path).read_text(encoding="utf-8").splitlines() if line.strip()]
    except (OSError, ValueError) as why:
        raise Failed(f"{path} is no file of CHIME_SOFTGPU_COUNT: {why}") from why
    found = {}
    for line in sorted(lines, key=lambda line: -line["instructions"]):
        operation, _, mode = line["kernel"].partition("_by_")
        if operation not in operations or (mode or "-") not in MODES:
            raise Failed(f"{path}: kernel {line['kernel']} is none of <operation> or <operation>_by_<mode>, of the operations "
                         f"{', '.join(operations)} and the modes {', '.join(MODES[:-1])}")
        found[operation, mode or "-"] = counts_of(line)
    if not found:
        raise Failed(f"{path} has no launch")
    return found


def scope_of(words):
    """The scope of an atomic or a fence; without a word it is the GPU's."""
    return next((word for word in words if word in SCOPES), "gpu")


def strength_of(words):
    """The suffix of the kind of memory: empty for a weak access."""
    if "volatile" in words:
        return " volatile"
    scope = next((word for word in words if word in SCOPES), "")
    return f" {scope}" if scope else ""


def counts_of(line):
    counts = {"threads": line["threads"], "instructions": line["instructions"], "mmio": 0, "constants": 0}
    atomics, fences, stores, loads = Counter(), Counter(), Counter(), Counter()
    for form, columns in line["forms"].items():
        opcode, *words = form.split(".")
        executed = columns.get("executed", 0)
        if opcode in ("atom", "red"):
            atomics[("shared " if "shared" in columns else "") + scope_of(words)] += executed
        elif opcode in ("fence", "membar"):
            fences[("sc " if "sc" in words else "") + scope_of(words)] += executed
        elif opcode == "st" and "mmio" in words:
            counts["mmio"] += executed
        elif opcode in ("ld", "st"):
            counts["constants"] += sum(columns.get(column, 0) for column in CONSTANT)
            for column, kind in MEMORY.items():
                (loads if opcode == "ld" else stores)[kind + strength_of(words)] += columns.get(column, 0)
    for name, counter in (("atomics", atomics), ("fences", fences), ("stores", stores), ("loads", loads)):
        counts[name] = {kind: number for kind, number in counter.items() if number}
    return counts
