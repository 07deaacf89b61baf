"""Loads by the memory that they go to, which machine code does not tell: memory_kinds.toml, filled by hand from the table that
tests/unit/nic/budget_test.cpp prints."""
import tomllib


def load(path):
    """{(library, operation, mode): words}."""
    with open(path, "rb") as file:
        rows = tomllib.load(file).get("row", [])
    return {(row["library"], row["operation"], row["mode"]): row["loads"] for row in rows}
