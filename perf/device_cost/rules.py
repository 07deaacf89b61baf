"""Rules of a library (rules/<library>.toml): its rows, and the landmarks of its straight paths. README.md has the
notation."""
import re
import tomllib
from dataclasses import dataclass


class BadRules(Exception):
    pass


@dataclass(frozen=True)
class Row:
    """One operation in one mode: a row of the table."""
    operation: str
    mode: str
    kernel: str
    landmarks: tuple  # (name, compiled pattern), in their order
    never: tuple
    parameters: dict  # byte offset among the kernel's parameters -> value


def load(path):
    with open(path, "rb") as file:
        rules = tomllib.load(file)
    return [row_of(rules, name, operation, mode) for name, operation in rules["operation"].items()
            for mode in operation.get("modes", rules["modes"])]


def row_of(rules, name, operation, mode):
    mode_rules = rules["mode"][mode]
    patterns = {**rules["landmark"], **mode_rules.get("landmark", {}), **operation.get("landmark", {})}
    passes = operation.get("pass_" + mode, operation["pass"])
    of_mode = operation.get("never_" + mode, mode_rules.get("never", []))
    never = rules.get("never", []) + of_mode + operation.get("never", [])
    kernel = mode_rules.get("kernel", "{operation}").format(operation=operation.get("kernel", name))
    return Row(operation.get("title", name), mode, kernel,
               tuple(landmark for word in passes for landmark in landmarks_of(word, patterns)),
               tuple(re.compile(pattern) for pattern in never),
               {int(offset): value for offset, value in operation.get("parameters", {}).items()})


def landmarks_of(word, patterns):
    """"3 request": three of them."""
    times, _, name = word.rpartition(" ")
    if name not in patterns:
        raise BadRules(f"no landmark {name!r}: there are {', '.join(sorted(patterns))}")
    return [(name, re.compile(patterns[name]))] * int(times or 1)
