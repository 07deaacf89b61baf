#!/usr/bin/env python3
"""index_of_names.py <source folder> <views> <compiler>: the index in include/chime/README.md has every public function of the
headers, and no other name. The compiler's preprocessor says which there are."""

import itertools
import pathlib
import re
import subprocess
import sys

source, views, compiler = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3]
PATTERN_WORD = re.compile(r"`(chimex?_[^`]+)`")
# Names that inline functions of the headers call, and a type.
BEHIND = re.compile(r"chimex?_host_|chimex_status$")


def declared():
    folders = next(line.split()[1:] for line in views.read_text().splitlines() if line.startswith("user "))
    text = subprocess.run([compiler, "-std=c++20", "-x", "c++", "-E", *(f"-I{folder}" for folder in folders), "-"],
                          input="#include <chime/complex.h>\n", text=True, capture_output=True, check=True).stdout
    return {name for name in re.findall(r"\b(chimex?_[a-z0-9_]+) *\(", text) if not BEHIND.match(name)}


def type_names():
    return sorted(set(re.findall(r"\bX\((\w+),", (source / "include/chime/types.h").read_text())), key=len, reverse=True)


def expression(pattern, types):
    """The pattern as a regular expression: [x] {a,b} <type>."""
    for written, meant in (("[", "(?:"), ("]", ")?"), ("{", "(?:"), (",", "|"), ("}", ")"),
                           ("<type>", f"(?:{'|'.join(types)})")):
        pattern = pattern.replace(written, meant)
    return re.compile(pattern + "$")


def main():
    text = (source / "include/chime/README.md").read_text()
    index = text.partition("<!-- index: begin -->")[2].partition("<!-- index: end -->")[0]
    types, names = type_names(), declared()
    patterns = {pattern: expression(pattern, types) for pattern in PATTERN_WORD.findall(index)}
    missing = sorted(name for name in names if not any(pattern.match(name) for pattern in patterns.values()))
    empty = [word for word, pattern in patterns.items() if not any(pattern.match(name) for name in names)]
    # Each alternative of a pattern must also exist, for some type.
    for word in patterns:
        for one in alternatives(word):
            if not any(expression(one, types).match(name) for name in names):
                empty.append(f"{one} (of {word})")
    for name in missing:
        print(f"the index lacks {name}")
    for word in empty:
        print(f"the index has {word}, which the headers have not")
    print(f"{len(names)} names, {len(patterns)} patterns")
    return 1 if missing or empty or len(names) < 1000 else 0


def alternatives(pattern):
    """The names that a pattern stands for, but for its <type>."""
    inner = re.search(r"\[([^\[\]{}]*)\]|\{([^\[\]{}]*)\}", pattern)
    if not inner:
        return [pattern]
    words = ["", inner.group(1)] if inner.group(1) is not None else inner.group(2).split(",")
    return list(itertools.chain.from_iterable(
        alternatives(pattern[:inner.start()] + word + pattern[inner.end():]) for word in words))


if __name__ == "__main__":
    sys.exit(main())
