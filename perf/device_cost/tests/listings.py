"""Listings written by hand, for the tests here."""
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import sass  # noqa: E402
import straight_path  # noqa: E402


def program(listing):
    """A line an instruction, `name:` a label; addresses are put in front."""
    lines = []
    for line in filter(str.strip, listing.splitlines()):
        lines.append(line.strip() if line.strip().endswith(":") else f"        /*{16 * len(lines):04x}*/  {line.strip()} ;")
    return sass.parse("\n".join(lines))


def path(listing, *landmarks, never=()):
    named = [(name, re.compile(name)) for name in landmarks]
    return straight_path.Search(program(listing), named, [re.compile(n) for n in never]).straight_path("kernel")


def opcodes(steps):
    return [step.instruction.opcode for step in steps if step.is_on]
