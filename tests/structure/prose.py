#!/usr/bin/env python3
"""prose.py <source folder>: no comment has a line that breaks off in the middle of a sentence, with room for the next word.

clang-format wraps comments that are too long and joins none, so what it wraps is left in pieces."""
import pathlib
import re
import subprocess
import sys

ROOM = 84  # columns up to which the next line's first word would have fitted
COMMENT = re.compile(r"^(\s*)// (\S.*)$")


def breaks_off(line: str, following: str) -> bool:
    here, there = COMMENT.match(line), COMMENT.match(following)
    if not here or not there or here[1] != there[1]:
        return False
    text, rest = here[2], there[2]
    if "  " in text or "  " in rest or text.startswith("PTX "):  # a table; expected machine code
        return False
    fits = len(line) + 1 + len(rest.split()[0]) <= ROOM
    return fits and bool(re.search(r"[A-Za-z0-9,]$", text)) and bool(re.match(r"[a-z0-9(]", rest))


def find(text: str) -> list[int]:
    lines = text.split("\n")
    return [i + 1 for i, (a, b) in enumerate(zip(lines, lines[1:])) if breaks_off(a, b)]


def test_itself() -> None:
    broken = "// Which PEs of a node map each other's heaps: those of the\n// same group.\n"
    whole = "// Which PEs of a node map each other's heaps: those of the same group, of so many PEs, counted\n// from PE 0.\n"
    assert find(broken) == [1]
    assert not find(whole)
    assert not find("// A heading\n// Another sentence.\n")
    assert not find("int i;  // of the\n// same group\n")


def main() -> int:
    test_itself()
    root = pathlib.Path(sys.argv[1])
    folders = ["include", "net", "device", "host", "bootstrap", "softnic", "tools", "tests", "examples", "perf"]
    seen = 0
    status = 0
    for path in sorted(p for folder in folders for p in (root / folder).rglob("*")):
        if path.suffix not in (".c", ".h", ".cpp", ".hpp", ".cu", ".cuh"):
            continue
        seen += 1
        for line in find(path.read_text(errors="replace")):
            print(f"{path.relative_to(root)}:{line}: this comment breaks off; wrap its paragraph anew")
            status = 1
    print(f"{seen} files")
    return status if seen > 300 else 1


sys.exit(main())
