#!/usr/bin/env python3
"""programs.py <source folder> <output folder>: writes each program of README.md and docs/ into a file, and what CMake makes of them
into programs.cmake.

A complete program is a fence of `cpp` or `cuda` with a main. Above it, where no reader sees it, stands its name and how a test runs it:

    <!-- program: hello
    CHIME_NIC=soft chime-run -n 2 ./hello => a regular expression that what it prints matches
    -->

A named fence without a main shows lines of examples/pages/<name>.cpp, in their order; `...` stands for those between. That file is
the program.
"""

import pathlib
import re
import sys

FENCE = re.compile(r"^(?:<!-- program: (?P<name>\w+)\n(?P<runs>(?:[^\n]+\n)*)-->\n\n?)?```(?P<kind>cpp|cuda)\n(?P<text>.*?)^```$",
                   re.MULTILINE | re.DOTALL)
RUN = re.compile(r"(?P<environment>(?:\w+=\S+ )*)chime-run (?P<options>.*?) ?\./(?P<name>\w+) => (?P<prints>.+)$")


def first_line_missing(excerpt, program):
    """The first line of the excerpt that does not follow its earlier lines in the program: directly, or somewhere after `...`."""
    lines, at, skips = program.splitlines(), 0, True
    for line in excerpt.splitlines():
        if line.strip() == "...":
            skips = True
            continue
        while skips and at < len(lines) and lines[at] != line:
            at += 1
        if at == len(lines) or lines[at] != line:
            return line
        at, skips = at + 1, False
    return None


def text_of(page, fence, kept):
    """The program of a fence, or None if it has none: the fence itself, or the file that it shows lines of."""
    if re.search(r"^int main\(", fence["text"], re.MULTILINE):
        return fence["text"]
    if not fence["name"]:
        return None
    file = kept / f"{fence['name']}.cpp"
    if not file.exists():
        sys.exit(f"{page}: program {fence['name']} has no main, and there is no {file}")
    missing = first_line_missing(fence["text"], file.read_text())
    if missing is not None:
        sys.exit(f"{page}: this line does not follow in {file}: {missing}")
    return file.read_text()


def programs_of(page, kept):
    for fence in FENCE.finditer(page.read_text()):
        text = text_of(page, fence, kept)
        if text is None:
            continue
        if not fence["name"]:
            sys.exit(f"{page}: a program has no line `<!-- program: NAME` above it: {fence['text'].splitlines()[0]}")
        runs = [RUN.match(line) for line in fence["runs"].splitlines()]
        if not runs or not all(run and run["name"] == fence["name"] for run in runs):
            sys.exit(f"{page}: program {fence['name']} wants lines `[VARIABLE=value...] chime-run -n N ./{fence['name']} => regular expression`")
        yield fence["name"], fence["kind"], text, runs


def write_if_changed(path, text):
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def test_itself():
    program = "a\nb\nc\nb\nd\n"
    assert first_line_missing("b\nc\n", program) is None
    assert first_line_missing("a\n...\nb\nd\n", program) == "d"
    assert first_line_missing("a\n...\nc\n...\nd\n", program) is None
    assert first_line_missing("a\nc\n", program) == "c"
    assert first_line_missing("c\n...\na\n", program) == "a"


def main():
    test_itself()
    source, output = (pathlib.Path(word) for word in sys.argv[1:])
    output.mkdir(parents=True, exist_ok=True)
    kept, lines, names = source / "examples/pages", [], set()
    for page in [source / "README.md", *sorted((source / "docs").glob("*.md"))]:
        for name, kind, text, runs in programs_of(page, kept):
            if name in names:
                sys.exit(f"{page}: program {name} is there twice")
            names.add(name)
            file = output / f"{name}.{'cu' if kind == 'cuda' else 'cpp'}"
            write_if_changed(file, text)
            lines.append(f"chime_page_program({name} {kind} [=[{file}]=])")
            for number, run in enumerate(runs, 1):
                lines.append(f"chime_page_run({name} {kind} {number} [=[{run['environment'].strip()}]=] [=[{run['options']}]=] [=[{run['prints']}]=])")
    for file in sorted(kept.glob("*.cpp")):
        if file.stem not in names:
            sys.exit(f"{file}: no page shows it")
    write_if_changed(output / "programs.cmake", "\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
