#!/usr/bin/env python3
"""programs.py <source folder> <output folder>: writes each complete program of README.md and docs/ into a file, and what CMake makes
of them into programs.cmake.

A complete program is a fence of `cpp` or `cuda` with a main. Above it, where no reader sees it, stands its name and how a test runs it:

    <!-- program: hello
    CHIME_NIC=soft chime-run -n 2 ./hello => a regular expression that what it prints matches
    -->
"""

import pathlib
import re
import sys

FENCE = re.compile(r"^(?:<!-- program: (?P<name>\w+)\n(?P<runs>(?:[^\n]+\n)*)-->\n\n?)?```(?P<kind>cpp|cuda)\n(?P<text>.*?)^```$",
                   re.MULTILINE | re.DOTALL)
RUN = re.compile(r"(?P<environment>(?:\w+=\S+ )*)chime-run (?P<options>.*?) ?\./(?P<name>\w+) => (?P<prints>.+)$")


def programs_of(page):
    for fence in FENCE.finditer(page.read_text()):
        if not re.search(r"^int main\(", fence["text"], re.MULTILINE):
            continue
        if not fence["name"]:
            sys.exit(f"{page}: a program has no line `<!-- program: NAME` above it: {fence['text'].splitlines()[0]}")
        runs = [RUN.match(line) for line in fence["runs"].splitlines()]
        if not runs or not all(run and run["name"] == fence["name"] for run in runs):
            sys.exit(f"{page}: program {fence['name']} wants lines `[VARIABLE=value...] chime-run -n N ./{fence['name']} => regular expression`")
        yield fence["name"], fence["kind"], fence["text"], runs


def write_if_changed(path, text):
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def main():
    source, output = (pathlib.Path(word) for word in sys.argv[1:])
    output.mkdir(parents=True, exist_ok=True)
    lines, names = [], set()
    for page in [source / "README.md", *sorted((source / "docs").glob("*.md"))]:
        for name, kind, text, runs in programs_of(page):
            if name in names:
                sys.exit(f"{page}: program {name} is there twice")
            names.add(name)
            file = output / f"{name}.{'cu' if kind == 'cuda' else 'cpp'}"
            write_if_changed(file, text)
            lines.append(f"chime_page_program({name} {kind} [=[{file}]=])")
            for number, run in enumerate(runs, 1):
                lines.append(f"chime_page_run({name} {kind} {number} [=[{run['environment'].strip()}]=] [=[{run['options']}]=] [=[{run['prints']}]=])")
    write_if_changed(output / "programs.cmake", "\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
