#!/usr/bin/env python3
"""pages.py <source folder>: README.md has at most 150 lines, a folder's README at most 120, and each link to a place in a page leads to
a heading of it, by the names that GitHub gives headings."""

import os
import pathlib
import re
import sys
import tempfile

MOST_LINES = {"README.md": 150}
MOST_LINES_OF_A_FOLDER = 120
LINK = re.compile(r"\]\(([^)\s#:]*)#([^)\s]+)\)")
HEADING = re.compile(r"^#+ +(.*?) *#*$")


def pages_of(source):
    for folder, folders, files in os.walk(source):
        folders[:] = sorted(name for name in folders if name != "build" and not name.startswith("."))
        yield from (pathlib.Path(folder, name).relative_to(source) for name in sorted(files) if name.endswith(".md"))


def lines_outside_code(text):
    is_code = False
    for line in text.splitlines():
        is_code ^= line.lstrip().startswith("```")
        if not is_code:
            yield line


def places_of(text):
    """The names of a page's headings: lower case, no punctuation, hyphens for spaces; a second one of a name gets a number."""
    found = {}
    for heading in filter(None, map(HEADING.match, lines_outside_code(text))):
        words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading[1]).lower()
        name = re.sub(r"[^\w\- ]", "", words).replace(" ", "-")
        found[name] = found.get(name, -1) + 1
        if found[name]:
            found[f"{name}-{found[name]}"] = 0
    return set(found)


def problems_of(source):
    texts = {page: (source / page).read_text() for page in pages_of(source)}
    for page, text in texts.items():
        lines, name = text.count("\n"), str(page)
        most = MOST_LINES.get(name) or (MOST_LINES_OF_A_FOLDER if page.name == "README.md" else lines)
        if lines > most:
            yield f"{page} has {lines} lines; at most {most}: move what users want to docs/"
        for target, place in LINK.findall("\n".join(lines_outside_code(text))):
            there = pathlib.Path(os.path.normpath(page.parent / target)) if target else page
            there = there / "README.md" if (source / there).is_dir() else there
            if there.suffix == ".md" and there in texts and place not in places_of(texts[there]):
                yield f"{page} links {target}#{place}; {there} has no such heading"


def test_itself():
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder)
        (source / "part").mkdir()

        def said(readme, part):
            (source / "README.md").write_text(readme)
            (source / "part/README.md").write_text(part)
            return list(problems_of(source))

        assert not said("[a](part/README.md#what-it-is-a--b) [b](part#what-it-is-a--b-1)\n", "# What *it* is: a & b\n## What it is: a & b\n")
        assert len(said("[a](part/README.md#nowhere)\n", "# Part\n```\n# nowhere\n```\n")) == 1
        assert len(said("\n" * 150, "\n" * 120)) == 0
        assert len(said("\n" * 151, "\n" * 121)) == 2


def main():
    test_itself()
    problems = list(problems_of(pathlib.Path(sys.argv[1])))
    print("\n".join(problems))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
