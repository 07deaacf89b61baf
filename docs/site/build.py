#!/usr/bin/env python3
"""build.py <source folder> <output folder> [--info <chime-info>] [--compiler <C++ compiler>]: builds the site of the
Markdown of this repository in <output folder>/site, by mkdocs.

Pages keep their places (docs/start.md, device/README.md), so a link is right in the repository and in the site alike. A page that asks
for a generated table (a line `<!-- generated: NAME -->`) gets it here. mkdocs' warnings are errors, and so is a link, to a page or a place
in it, that leads nowhere."""

import argparse
import html.parser
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import urllib.parse

import names

LINK = re.compile(r"(\]\()([^)\s#:]*)(#[^)\s]*)?(\))")
FENCE = re.compile(r"^ *```")


def pages_of(source):
    """Every Markdown file of the repository, but for those of build folders, relative to it."""
    found = []
    for folder, folders, files in os.walk(source):
        folders[:] = sorted(name for name in folders if name != "build" and not name.startswith("."))
        found += [pathlib.Path(folder, name).relative_to(source) for name in files if name.endswith(".md")]
    return sorted(found)


def for_mkdocs(text):
    """Tables and lists begin a block of their own there, where GitHub lets them follow a paragraph."""
    lines, is_code = [], False
    for line in text.split("\n"):
        before = lines[-1] if lines else ""
        begins_table = line.startswith("|") and not before.startswith("|")
        begins_list = re.match(r"([-*]|\d+\.) ", line) and not re.match(r" *([-*]|\d+\.) |  ", before)
        if not is_code and before.strip() and (begins_table or begins_list):
            lines.append("")
        if FENCE.match(line):
            is_code = not is_code
        lines.append(line)
    return "\n".join(lines)


class Staging:
    """The pages as mkdocs takes them, with the files that they link."""

    def __init__(self, source, folder, generated):
        self.source, self.folder, self.generated = source, folder, generated
        self.pages = pages_of(source)

    def copy_pages(self):
        for page in self.pages:
            text = (self.source / page).read_text()
            text = LINK.sub(lambda link: self.linked(page, link), for_mkdocs(text))
            self.write(page, re.sub(r"^<!-- generated: (\w+) -->$", lambda mark: self.generate(page, mark[1]), text, flags=re.MULTILINE))

    def generate(self, page, name):
        if name not in self.generated:
            sys.exit(f"{page} asks for '{name}', and what is generated is {', '.join(self.generated)}")
        return self.generated[name]()

    def linked(self, page, link):
        """A link to a folder leads to its README; a file that is no page comes along."""
        target = link[2]
        path = pathlib.Path(os.path.normpath(page.parent / target))
        if not target or path.is_absolute() or str(path).startswith(".."):
            return link[0]
        if (self.source / path).is_dir():
            target = target.rstrip("/") + "/README.md"
        elif path.suffix != ".md" and (self.source / path).is_file():
            self.write(path, (self.source / path).read_bytes())
        return f"{link[1]}{target}{link[3] or ''}{link[4]}"

    def write(self, path, text):
        (self.folder / path).parent.mkdir(parents=True, exist_ok=True)
        (self.folder / path).write_bytes(text if isinstance(text, bytes) else text.encode())


def table_of_variables(info):
    """The rows of `chime-info --variables`, which are the library's own table."""
    if not info:
        sys.exit("docs/site/build.py: a page has a table of variables, which chime-info knows: --info <chime-info>")
    said = subprocess.run([info, "--json"], text=True, capture_output=True, check=True).stdout
    rows = ["| variable | values | default | |", "|---|---|---|---|"]
    for row in json.loads(said)["variables"]:
        values = row["values"].replace("|", ", ").replace("<", "&lt;").replace(">", "&gt;")
        rows.append(f"| `{row['name']}` | {values} | {row['default'] or 'unset'} | {row['sentence']} |")
    return "\n".join(rows)


def configuration(source, pages):
    """mkdocs.yml with what is not written there: the READMEs of folders."""
    text = (source / "docs/site/mkdocs.yml").read_text()
    others = [page for page in pages if f" {page}\n" not in text]
    for page in others:
        if page.parts[0] == "docs":
            sys.exit(f"{page} is not in the list of pages (nav) of docs/site/mkdocs.yml")
    return text + "\n".join(["  - Folders:"] + [f"    - {page.parent if page.name == 'README.md' else page.stem}: {page}" for page in others]) + "\n"


class Anchors(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.links, self.ids = [], set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.ids |= {attributes[name] for name in ("id", "name") if attributes.get(name)}
        if tag == "a" and attributes.get("href"):
            self.links.append(attributes["href"])


def broken_links(site):
    """Links within the site that lead to no file, or to no place in it."""
    found = {path: Anchors(path.read_text()) for path in site.rglob("*.html") if path.name != "404.html"}
    for page, anchors in sorted(found.items()):
        for link in anchors.links:
            parts = urllib.parse.urlsplit(link)
            if parts.scheme or parts.netloc or parts.path.startswith("/"):
                continue
            target = pathlib.Path(os.path.normpath(page.parent / urllib.parse.unquote(parts.path))) if parts.path else page
            target = target / "index.html" if target.is_dir() else target
            if not target.exists():
                yield page.relative_to(site), link, "no such page"
            elif target in found and parts.fragment and urllib.parse.unquote(parts.fragment) not in found[target].ids:
                yield page.relative_to(site), link, "no such place in that page"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("source", type=pathlib.Path)
    parser.add_argument("output", type=pathlib.Path)
    parser.add_argument("--info", help="chime-info, which knows the variables")
    parser.add_argument("--compiler", default="c++", help="whose preprocessor reads the headers (c++)")
    arguments = parser.parse_args()
    if not shutil.which("mkdocs"):
        print("skipped: no mkdocs on this machine (scripts/setup ci installs it, with mkdocs-material)")
        return 77
    output = arguments.output.resolve()
    shutil.rmtree(output, ignore_errors=True)
    source = arguments.source.resolve()
    staging = Staging(source, output / "pages", {"variables": lambda: table_of_variables(arguments.info),
                                                 "names": lambda: names.page(source, arguments.compiler)})
    staging.copy_pages()
    (output / "mkdocs.yml").write_text(configuration(source, staging.pages))
    # Not --quiet: it silences warnings, and what is silent counts for nothing.
    built = subprocess.run(["mkdocs", "build", "--strict", "-f", output / "mkdocs.yml", "-d", output / "site"],
                           text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if built.returncode:
        print(built.stdout)
        return 1
    broken = list(broken_links(output / "site"))
    for page, link, why in broken:
        print(f"{page}: the link {link}: {why}")
    print(f"{len(staging.pages)} pages: {output / 'site/index.html'}")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
