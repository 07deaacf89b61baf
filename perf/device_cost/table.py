"""The table as text, a line a row, and as JSON."""
import json

COLUMNS = ["operation", "mode", "library", "regs", "stack", "instr", "atomics", "fences", "stores", "MMIO", "loads", "const",
           "chain", "trips", "loads by memory kind"]
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
    counts = row["counts"]
    return [row["operation"], row["mode"], row["library"], str(row["registers"]), str(row["stack_bytes"]),
            str(counts["instructions"]), kinds(counts["atomics"]), kinds(counts["fences"]), widths(counts["stores"]),
            str(counts["mmio"]), kinds(counts["loads"]), str(counts["constants"]), str(counts["chain"]),
            str(counts["round_trips"]), row["loads_by_memory"]]


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
