#!/usr/bin/env python3
"""make_names.py <compiler> [--check]: writes nvshmem_names.h beside this file from the rows of chime/families.h, or says
whether it is current.

The compiler's preprocessor reads the rows. A name with a type in it, which begins the row's stem, becomes a macro; the
others are functions (nvshmem.h)."""

import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
OUTPUT = HERE / "nvshmem_names.h"
SPELLING = {"chime_": "nvshmem_", "chimex_": "nvshmemx_"}

ROWS = """
#include "chime/families.h"
#define TYPE(NAME, T) type NAME @
#define ALONE(RESULT, PREFIX, STEM, ...) row PREFIX STEM @
#define GROUPS(RESULT, PREFIX, STEM, ...) row PREFIX STEM @ row chimex_ STEM _warp @ row chimex_ STEM _block @
CHIME_FOR_RMA_TYPES(TYPE)
CHIME_FOR_GROUP_TRANSFERS(GROUPS)
CHIME_FOR_TYPED_COLLECTIVES(GROUPS)
CHIME_FOR_NVSHMEM_THREAD_OPERATIONS(ALONE)
CHIME_FOR_NVSHMEM_STREAM_OPERATIONS(ALONE)
"""

HEAD = """// NVSHMEM's names with a type in them: one identifier each. Made by make_names.py from the rows of
// chime/families.h; a row there is a line here when that has been run again.
#ifndef CHIME_COMPAT_NVSHMEM_NAMES_H_
#define CHIME_COMPAT_NVSHMEM_NAMES_H_

// clang-format off
"""
TAIL = """// clang-format on

#endif  // CHIME_COMPAT_NVSHMEM_NAMES_H_
"""


def header(compiler):
    text = subprocess.run([compiler, "-std=c++20", "-x", "c++", "-E", "-P", f"-I{HERE.parent}", "-"], input=ROWS, text=True,
                          capture_output=True, check=True).stdout
    types, names = set(), {}
    for part in text.split("@"):
        words = part.split()
        if "type" in words:
            types.add(words[words.index("type") + 1])
        elif "row" in words:
            prefix, *stem = words[words.index("row") + 1:]
            names[SPELLING[prefix] + "".join(stem)] = prefix + "".join(stem)
    typed = {name: called for name, called in names.items() if name.split("_")[1] in types}
    return HEAD + "".join(f"#define {name} {called}\n" for name, called in sorted(typed.items())) + TAIL


def main():
    made = header(sys.argv[1])
    if "--check" not in sys.argv:
        OUTPUT.write_text(made)
        return 0
    if OUTPUT.read_text() == made:
        print(f"{made.count('#define nvshmem')} names")
        return 0
    print(f"{OUTPUT.name} is not what the rows of chime/families.h make; run\n  python3 {pathlib.Path(__file__)} {sys.argv[1]}")
    return 1


if __name__ == "__main__":
    sys.exit(main())
