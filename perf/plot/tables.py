"""The tables in a benchmark's output: headers, and rows with a key and figures.

Cells stand at least two spaces apart, or one behind a closing parenthesis. A header is a line, with or without '#', whose cells hold no
figure; a row belongs to the last header that has as many cells. `# before, run 1` names the rows that follow. Also read:
`# columns of NAME: a, b`, a header without a place; `KEY    0.8 0.9 1.1 ...`, sorted runs; `NAME  12 % of a core`; `NAME: ...: 12 us`; and
the JSON of --json."""
import collections
import json
import re

# columns: names, without the key's; rows: (key, [figure or None]); key: what keys are
Table = collections.namedtuple("Table", "columns rows key", defaults=[""])
NUMBER = re.compile(r"^[-+]?\d+(\.\d+)?(e[-+]?\d+)?$")
BETWEEN = "  "  # between the cells of a key
UNITS = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}


def cells_of(line):
    return [cell for cell in re.split(r"\s{2,}|(?<=\)) (?=\S)", line.strip()) if cell]


def figure(cell):
    """The first number of "12.5", "12, 13 (best, median)", "+3 %", "1.85 *"; None of other cells."""
    number = re.match(r"^([-+]?\d+(?:\.\d+)?)(?: ?%| \*| % \*|,.*|x)?$", cell.strip())
    return float(number[1]) if number else None


def size(key):
    """"64 KiB" or "100" as a number; None of other keys."""
    if NUMBER.match(key):
        return float(key)
    match = re.match(r"^(\d+) ([KMG]iB|B)$", key)
    return float(match[1]) * UNITS[match[2]] if match else None


def from_json(text):
    data = json.loads(text)
    key, rows = data["key"], data["rows"]
    columns = [name for name in rows[0] if name != key]
    return [Table(columns, [(str(row[key]), [row[name] for name in columns]) for row in rows], key)]


class Reader:
    def __init__(self):
        self.tables, self.section = {}, ""

    def table(self, columns, key=""):
        return self.tables.setdefault(tuple(columns), Table(list(columns), [], key.lower()))

    def header(self, columns, key=""):
        self.table(columns, key)
        self.tables[tuple(columns)] = self.tables.pop(tuple(columns))  # now the last

    def add_row(self, cells):
        """Cells before the first figure are the key. False if no header has as many columns."""
        first = next((i for i, cell in enumerate(cells) if figure(cell) is not None and (i or len(cells) > 2)), None)
        if first is None:
            return False
        if first == 0:
            first = 1
        for columns in reversed(list(self.tables)):
            if len(columns) == len(cells) - 1:
                names = BETWEEN.join(filter(None, [self.section, *cells[:first]]))
                figures = [None] * (first - 1) + [figure(cell) for cell in cells[first:]]
                self.tables[columns].rows.append((names, figures))
                return True
        return False

    def special(self, line):
        text = line.lstrip("# ").strip()
        if match := re.match(r"^columns of [^:]*: (.*)", text):
            self.header(match[1].split(", ")[1:])
        elif match := re.match(r"^(before|after), run \d+$", text):
            self.section = match[1]
        elif match := re.match(r"^(\S.*?) {2,}((?:\d+\.\d+ ){3,}\d+\.\d+)$", text):
            runs = self.table(["sorted runs (ratio)"])
            runs.rows.extend((f"{match[1]} {rank}", [float(one)]) for rank, one in enumerate(match[2].split(), 1))
        elif match := re.match(r"^(.*\S) +([\d.]+) % of a core$", text):
            self.table(["% of a core"]).rows.append((re.sub(r" {2,}", " ", match[1]), [float(match[2])]))
        elif match := re.match(r"^(\w[^:#]*):.*: ([\d.]+) us\b", text):
            self.table(["time (us)"]).rows.append((match[1], [float(match[2])]))
        else:
            return False
        return True

    def line(self, line):
        if not line.strip() or self.special(line):
            return
        cells = cells_of(line.lstrip("# ") if line.startswith("#") else line)
        if len(cells) < 2:
            return
        if not any(figure(cell) is not None for cell in cells[1:]):
            self.header(cells[1:], cells[0])
        elif not line.startswith("#"):
            self.add_row(cells)


def read(path):
    text = path.read_text()
    if path.suffix == ".json":
        return from_json(text)
    reader = Reader()
    for line in text.splitlines():
        reader.line(line)
    return [table for table in reader.tables.values() if table.rows]
