"""The table as text, a line a row, and as JSON."""
import json

STATIC = ["regs", "stack", "instr", "atomics", "fences", "stores", "MMIO", "loads", "const", "chain", "trips"]
EXECUTED = ["threads", "instr", "atomics", "fences", "stores by memory", "MMIO", "loads by memory", "const"]
COLUMNS = ["operation", "mode", "library", *STATIC, *(f"run: {name}" for name in EXECUTED)]
NONE = "-"  # counted, and there are none


def kinds(counter):
    """1 gpu, 2 sys."""
    return ", ".join(f"{number} {kind}" for kind, number in sorted(counter.items())) or NONE


def widths(counter):
    """3x16 B, 1x4 B: by what is stored at once."""
    return ", ".join(f"{number}x{kind}" for kind, number in sorted(counter.items(), key=widest_first)) or NONE


def widest_first(pair):
    *where, size, _ = pair[0].split()
    return where, -int(size)


def cells(row):
    """A row's words, in the order of COLUMNS."""
    return [row["operation"], row["mode"], row["library"], *static_cells(row), *executed_cells(row["executed"])]


def static_cells(row):
    counts = row["counts"]
    if counts is None:  # a call without a straight path: only its run shows the counts
        return ["run only"] + [NONE] * (len(STATIC) - 1)
    return [str(row["registers"]), str(row["stack_bytes"]), str(counts["instructions"]), kinds(counts["atomics"]),
            kinds(counts["fences"]), widths(counts["stores"]), str(counts["mmio"]), kinds(counts["loads"]),
            str(counts["constants"]), str(counts["chain"]), str(counts["round_trips"])]


def executed_cells(counts):
    """The figures of a call that was run, or the reason why it was not."""
    if isinstance(counts, str):
        return [counts] + [NONE] * (len(EXECUTED) - 1)
    return [str(counts["threads"]), str(counts["instructions"]), kinds(counts["atomics"]), kinds(counts["fences"]),
            kinds(counts["stores"]), str(counts["mmio"]), kinds(counts["loads"]), str(counts["constants"])]


def text(title, notes, rows):
    lines = [COLUMNS] + [cells(row) for row in rows]
    room = [max(len(line[i]) for line in lines) for i in range(len(COLUMNS))]
    body = ["  ".join(word.ljust(width) for word, width in zip(line, room)).rstrip() for line in lines]
    return "\n".join([f"# {title}"] + [f"# {note}" for note in notes] + ["# " + body[0]] +
                     ["  " + line for line in body[1:]]) + "\n"


def write_json(path, title, notes, versions, rows):
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"title": title, "notes": notes, "versions": versions, "rows": rows}, file, indent=1)
        file.write("\n")
