"""Trees of files written as text, so that a fault is a few lines that a reader can compare with its source.

  /path: text          a file (\\n begins a new line)
  /path -> /target     a link
  /path = N AT=HEX...  a file of N zero bytes, with these at that offset
  - /path              nothing is there any more
  answers NAME: JSON   what no file tells (tools/chime-doctor/probes/recorded.cpp)
  let NAME = text      $NAME further down; $soname is the library's
"""

import json
import os
import pathlib
import re
import shutil


class Fault:
    def __init__(self, name):
        self.name, self.source, self.expected, self.lines = name, "", [], []


def faults_in(path):
    """The sections of a file: `== name`, then `source:`, `expect LEVEL WHAT: PART OF THE TEXT`, `expect mend WHAT: PART OF WHAT MENDS IT` or
    `expect nothing`, and lines of the tree."""
    found = []
    for line in path.read_text().splitlines():
        if line.startswith("== "):
            found.append(Fault(line[3:]))
        elif line.startswith("source: "):
            found[-1].source = line[8:]
        elif line.startswith("expect "):
            found[-1].expected += [] if line == "expect nothing" else [re.fullmatch(r"expect (\w+) (.+?): (.*)", line).groups()]
        elif line and not line.startswith("#"):
            found[-1].lines.append(line)
    return found


class Tree:
    def __init__(self, folder, **names):
        self.folder, self.names, self.answers = pathlib.Path(folder), names, {}

    def place(self, path):
        return self.folder / path.lstrip("/")

    def put(self, lines):
        for line in lines:
            self.put_line(re.sub(r"\$(\w+)", lambda name: self.names[name[1]], line.rstrip()))
        self.place("/probes.json").write_text(json.dumps(self.answers))

    def put_line(self, line):
        if not line or line.startswith("#"):
            return
        if name := re.fullmatch(r"let (\w+) = (.*)", line):
            self.names[name[1]] = name[2]
        elif answer := re.fullmatch(r"answers (\w+): (.*)", line):
            self.answers[answer[1]] = json.loads(answer[2])
        elif line.startswith("- "):
            self.remove(self.place(line[2:]))
        elif link := re.fullmatch(r"(/\S+) -> (/\S+)", line):
            self.link(self.place(link[1]), self.place(link[2]))
        elif sparse := re.fullmatch(r"(/\S+) = (\d+)(.*)", line):
            self.write(self.place(sparse[1]), sparse_bytes(int(sparse[2]), sparse[3].split()))
        else:
            path, _, text = re.fullmatch(r"(/[^ ]+?):( |$)(.*)", line).groups()
            self.write(self.place(path), text.replace("\\n", "\n").encode() + b"\n")

    def write(self, place, content):
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content)

    def link(self, place, target):
        place.parent.mkdir(parents=True, exist_ok=True)
        place.symlink_to(os.path.relpath(target, place.parent))

    def remove(self, place):
        assert place.is_symlink() or place.exists(), f"{place} is not in the healthy tree"
        if place.is_dir() and not place.is_symlink():
            shutil.rmtree(place)
        else:
            place.unlink()


def sparse_bytes(size, pieces):
    content = bytearray(size)
    for piece in pieces:
        at, data = piece.split("=")
        content[int(at, 0):int(at, 0) + len(data) // 2] = bytes.fromhex(data)
    return bytes(content)
