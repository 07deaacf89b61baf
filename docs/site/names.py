"""All public names of Chime with their prototypes, below the contracts that the headers have. The compiler's preprocessor says which
names there are."""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

PROTOTYPE = re.compile(r"([\w:<>]+[ *]+)(chimex?_[a-z0-9_]+) *\(([^()]*)\)(?= *[;{]| *\w*__)")
BEHIND = re.compile(r"chimex?_host_")  # what inline functions of the headers call
CHAPTER = re.compile(r"^// ---- (.*?)(?: \([^)]*\))? -+$")
# The chapter of chime_device.cuh that has a family's contract, by the first pattern that the operation matches.
CHAPTERS = ((r"_on_stream$", None), (r"atomic_", "Atomics"), (r"^signal_|_signal|^signal", "Signals"), (r"wait_until|^test", "Waits and tests"),
            (r"^i?(put|get)$|^p$|^g$", "Remote memory access"), (r"fence|quiet|flush", "Ordering"), (r"^(barrier|team_sync)_timeout", "Collectives"), (r"barrier|^(team_)?sync", "Barriers"),
            (r"^(broadcast|f?collect|alltoall)|reduce(scatter)?$|scan$", "Collectives"),
            (r"_pe$|_pes$|^ptr$|pe_status|^team_(ptr|lane)$", "Query"))


def prototypes(source, compiler):
    """Name to prototype, of all functions that <chime/complex.h>, which includes all others, has for C++."""
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / "chime").mkdir()
        os.symlink(source / "device", pathlib.Path(folder) / "chime/device")
        text = subprocess.run([compiler, "-std=c++20", "-x", "c++", "-E", "-P", f"-I{folder}", f"-I{source / 'include'}", "-"],
                              input="#include <chime/complex.h>\n", text=True, capture_output=True, check=True).stdout
    found = {}
    for result, name, parameters in PROTOTYPE.findall(text):
        if not BEHIND.match(name) and result.strip() != "return":
            found.setdefault(name, " ".join(f"{result}{name}({parameters})".split()))
    return found


def chapters(path):
    """Title to text, of a header."""
    found, title = {}, None
    for line in path.read_text().splitlines():
        heading = CHAPTER.match(line)
        if heading:
            title = heading[1]
            found[title] = []
        elif title:
            found[title].append(line)
    return {title: "\n".join(lines).strip() for title, lines in found.items()}


def contract(text):
    """The comment with which a chapter begins, without its slashes."""
    lines = []
    for line in text.splitlines():
        if not line.startswith("//"):
            break
        lines.append(line[3:])
    return "\n".join(lines).strip("\n")


def operation_of(name, types):
    name = re.sub(r"^chimex?_", "", name)
    name = re.sub(rf"^(?:{'|'.join(types)})_(?=\w)", "", name)
    on_stream = "_on_stream" if name.endswith("_on_stream") else ""
    return re.sub(r"(put|get)(8|16|32|64|128|mem)", r"\1", re.sub(r"_nbi|_warp|_block|_on_stream", "", name)) + on_stream


def page(source, compiler):
    types = sorted(set(re.findall(r"\bX\((\w+),", (source / "include/chime/types.h").read_text())), key=len, reverse=True)
    names = prototypes(source, compiler)
    if len(names) < 1000:
        sys.exit(f"docs/site/names.py: only {len(names)} names: are the headers where they were?")
    device, host = chapters(source / "include/chime/chime_device.cuh"), chapters(source / "include/chime/chime.h")
    sections = {title: [f"```text\n{contract(text)}\n```"] for title, text in device.items()}
    families, left = {}, {}
    for name, prototype in names.items():
        families.setdefault(operation_of(name, types), []).append(prototype)
    for operation, found in sorted(families.items()):
        chapter = next((title for pattern, title in CHAPTERS if re.search(pattern, operation)), "")
        heading = f"### {operation}\n\n```text\n" + "\n".join(f"{prototype};" for prototype in sorted(found)) + "\n```"
        if chapter:
            sections[chapter].append(heading)
        else:
            left[operation] = heading
    parts = [f"## {title}\n\n" + "\n\n".join(bodies) for title, bodies in sections.items()]
    on_stream = [heading for operation, heading in left.items() if operation.endswith("_on_stream")]
    for title, text in host.items():
        if title not in ("Constants shared by host and device", "The families"):
            parts.append(f"## {title}\n\n```c\n{text.partition('#ifdef __cplusplus')[0].strip()}\n```")
            if title.startswith("On-stream"):
                parts += on_stream
    launch = (source / "device/coll/collective_launch.cuh").read_text()
    parts.append(f"## Launching kernels that wait for other PEs\n\n```cpp\n{launch.partition('namespace chime {')[2].partition('#endif')[0].strip()}\n```")
    errors = (source / "include/chime/error.h").read_text()
    parts.append(f"## Status codes\n\n```c\n{errors.partition('#include')[2].partition(chr(10))[2].strip()}\n```")
    # What has no heading of its own is declared in a chapter of the host's headers.
    declared = "\n".join([*host.values(), launch, errors])
    missing = [operation for operation in left if not operation.endswith("_on_stream") and
               not re.search(rf"\bchimex?_{operation}\(", declared)]
    if missing:
        sys.exit(f"docs/site/names.py: no chapter of the headers has these operations; CHAPTERS says where each is: {' '.join(missing)}")
    return "\n\n".join(parts) + "\n"
