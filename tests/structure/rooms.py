#!/usr/bin/env python3
"""rooms.py <source folder>: a room of host/ includes headers of its own and of rooms below it. The rooms of host/transport are its folders,
and the files that lie beside them."""

import pathlib
import re
import sys
import tempfile

# From the lowest to the highest.
ORDER = [
    "host/options",
    "host/errors",
    "host/trace",
    "host/topology",
    "host/gpu",
    "host/settings",
    "host/diagnosis",
    "host/transport",
    "host/transport/channels",
    "host/transport/p2p",
    "host/transport/mlx5",
    "host/transport/ofi",
    "host/memory",
    "host/peers",
    "host/collective",
    "host/teams",
    "host/pe",
    "host/report",
    "host/ops",
    "host/setup",
]
# Neither of these two includes the other.
BESIDE_EACH_OTHER = {"host/transport/p2p", "host/transport/mlx5", "host/transport/ofi"}
# The highest room joins the proxy with the transports that it drives.
SEES_PROXY = "host/setup"
INCLUDE = re.compile(r'^#include "((?:host|proxy)/[^"]+)"', re.MULTILINE)


def room_of(file):
    """Of a file below host/, by its path from the source folder."""
    parts = pathlib.PurePath(file).parts
    if parts[0] == "proxy":
        return "proxy"
    depth = 3 if parts[1] == "transport" and len(parts) > 3 else 2
    return "/".join(parts[:depth])


def may_include(room, other):
    if other == "proxy":
        return room == SEES_PROXY
    if room in BESIDE_EACH_OTHER and other in BESIDE_EACH_OTHER:
        return False
    return ORDER.index(other) < ORDER.index(room)


def problems_of(source):
    for path in sorted((source / "host").rglob("*")):
        if path.suffix not in (".cpp", ".hpp", ".cu", ".cuh"):
            continue
        file = path.relative_to(source).as_posix()
        room = room_of(file)
        if room not in ORDER:
            yield f"{file}: the room {room} has no place in ORDER"
            continue
        for included in INCLUDE.findall(path.read_text()):
            other = room_of(included)
            if other != room and (other not in ORDER + ["proxy"] or not may_include(room, other)):
                yield f"{file}: {room} does not see {included}"


def test_itself():
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder)

        def problems(file, included):
            path = source / "host" / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f'#include "{included}"\n')
            found = list(problems_of(source))
            path.unlink()
            return len(found)

        assert problems("pe/x.cpp", "host/pe/y.hpp") == 0
        assert problems("pe/x.cpp", "host/memory/y.hpp") == 0
        assert problems("memory/x.cpp", "host/pe/y.hpp") == 1
        assert problems("transport/x.hpp", "host/transport/ofi/y.hpp") == 1
        assert problems("transport/ofi/requests/x.hpp", "host/transport/transport.hpp") == 0
        assert problems("transport/ofi/x.hpp", "host/transport/mlx5/y.hpp") == 1
        assert problems("setup/x.cpp", "proxy/y.hpp") == 0
        assert problems("ops/x.cpp", "proxy/y.hpp") == 1
        assert problems("unheard_of/x.cpp", "host/errors/y.hpp") == 1


def main():
    test_itself()
    problems = list(problems_of(pathlib.Path(sys.argv[1])))
    print("\n".join(problems))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
