#!/usr/bin/env python3
"""rooms.py <source folder>: two rooms of host/ include each other only where PAIRS says so, and each of PAIRS still does. The rooms of
host/transport are its folders, and the files that lie beside them."""

import itertools
import pathlib
import re
import sys
import tempfile

# What is left to be put in order. A pair that has been goes from here; none may come.
PAIRS = {
    ("host/memory", "host/pe"),
    ("host/ops", "host/pe"),
    ("host/ops", "host/report"),
    ("host/pe", "host/report"),
    ("host/transport", "host/transport/mlx5"),
    ("host/transport", "host/transport/ofi"),
    ("host/transport", "host/transport/p2p"),
}
INCLUDE = re.compile(r'^#include "(host/[^"]+)"', re.MULTILINE)


def room_of(file):
    """Of a file below host/, by its path from the source folder."""
    parts = pathlib.PurePath(file).parts
    depth = 3 if parts[1] == "transport" and len(parts) > 3 else 2
    return "/".join(parts[:depth])


def arrows_of(source):
    """{(room, room that it includes): files that do}."""
    arrows = {}
    for path in sorted((source / "host").rglob("*")):
        if path.suffix not in (".cpp", ".hpp", ".cu", ".cuh"):
            continue
        file = path.relative_to(source).as_posix()
        for included in INCLUDE.findall(path.read_text()):
            if room_of(file) != room_of(included):
                arrows.setdefault((room_of(file), room_of(included)), []).append(file)
    return arrows


def problems_of(source, allowed):
    arrows = arrows_of(source)
    found = {tuple(sorted(pair)) for pair in arrows if pair[::-1] in arrows}
    for one, other in sorted(found - allowed):
        yield f"{one} and {other} include each other: {', '.join(itertools.chain(arrows[one, other], arrows[other, one]))}"
    for one, other in sorted(allowed - found):
        yield f"{one} and {other} do not include each other any more: take them from PAIRS"


def test_itself():
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder)
        for file, included in (("a/x.hpp", "b/y.hpp"), ("b/y.hpp", "b/z.hpp"), ("transport/t.hpp", "transport/nic/n.hpp")):
            (source / "host" / file).parent.mkdir(parents=True, exist_ok=True)
            (source / "host" / file).write_text(f'#include "host/{included}"\n')
        assert not list(problems_of(source, set()))
        assert len(list(problems_of(source, {("host/a", "host/b")}))) == 1
        (source / "host/b/y.hpp").write_text('#include "host/a/x.hpp"\n')
        assert len(list(problems_of(source, set()))) == 1
        assert not list(problems_of(source, {("host/a", "host/b")}))


def main():
    test_itself()
    problems = list(problems_of(pathlib.Path(sys.argv[1]), PAIRS))
    print("\n".join(problems))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
