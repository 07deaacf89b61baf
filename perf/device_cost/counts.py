"""Counts the instructions of a path by kind, and the loads that wait for each other."""
import re
from collections import Counter

from sass import results, sources

SCOPES = {"SYS": "sys", "GPU": "gpu", "SM": "cta", "CTA": "cta", "VC": "vc"}
BANK = re.compile(r"\bcx?\[")  # c[0x0][0x210]; desc[...] is none
SPACES = {"LDG": "", "LD": "generic ", "LDL": "stack ", "LDS": "shared ", "LDSM": "shared "}


def scope_of(instruction):
    return next((SCOPES[q] for q in instruction.opcode.split(".") if q in SCOPES), "weak")


def is_load(instruction):
    return instruction.name in SPACES


def is_atomic(instruction):
    return instruction.name.startswith(("ATOM", "RED")) and not instruction.name.startswith("REDUX")


def is_fence(instruction):
    return instruction.name == "MEMBAR"


def is_constant(instruction):
    """Reads a constant bank, parameters among them: by an instruction of its own, or as an operand."""
    return instruction.name in ("LDC", "ULDC", "LDCU") or any(map(BANK.search, instruction.operands))


def kind_of_load(instruction):
    how = scope_of(instruction)
    if "CONSTANT" in instruction.qualifiers:
        how = "nc"
    if "MMIO" in instruction.qualifiers:
        how = "mmio"
    return SPACES[instruction.name] + how


def kind_of_fence(instruction):
    if instruction.name == "MEMBAR":
        return ("sc " if "SC" in instruction.qualifiers else "") + scope_of(instruction)
    if instruction.name == "CCTL":
        return "L1 flush" if "IVALL" in instruction.qualifiers else None
    return {"ERRBAR": "errbar", "FENCE": "async"}.get(instruction.name)


def kind_of_store(instruction):
    where = {"STL": "stack ", "STS": "shared "}.get(instruction.name, "")
    return f"{where}{instruction.bits // 8} B"


def count(steps, doorbell="doorbell"):
    """The counts of a straight path. Instructions with their guard off count as instructions only."""
    atomics, fences, stores, loads = Counter(), Counter(), Counter(), Counter()
    mmio = constants = 0
    for step in steps:
        instruction = step.instruction
        if not step.is_on:
            continue
        constants += is_constant(instruction)
        if is_atomic(instruction):
            atomics[("shared " if instruction.name == "ATOMS" else "") + scope_of(instruction)] += 1
        elif is_load(instruction):
            loads[kind_of_load(instruction)] += 1
        elif instruction.name in ("ST", "STG", "STL", "STS"):
            if step.landmark == doorbell or "MMIO" in instruction.qualifiers:
                mmio += 1
            else:
                stores[kind_of_store(instruction)] += 1
        elif kind := kind_of_fence(instruction):
            fences[kind] += 1
    chain, round_trips = waits(steps)
    return {"instructions": len(steps), "atomics": dict(atomics), "fences": dict(fences), "stores": dict(stores),
            "mmio": mmio, "loads": dict(loads), "constants": constants, "chain": chain, "round_trips": round_trips,
            "repeated": repeated(steps)}


def repeated(steps):
    """Instructions that the path passes more than once: rounds of a loop, or a function called twice."""
    return len(steps) - len({step.instruction.index for step in steps})


def waits(steps):
    """(chain, round trips). Chain: loads of which each takes its address from the one before. Round trips: loads and
    atomics of which each waits for the one before, also because a branch or a fence stands between."""
    chain, trips = {}, {}  # register or predicate -> how many come before its value
    floor = longest = most = latest = 0
    for step in steps:
        instruction = step.instruction
        read = sources(instruction)
        if not step.is_on or instruction.name in ("BRA", "BRX", "EXIT", "RET"):
            floor = max([floor] + [trips.get(name, 0) for name in read])
        if not step.is_on:
            continue
        if is_fence(instruction):
            floor = latest
        is_trip = is_load(instruction) or (is_atomic(instruction) and instruction.has_result())
        is_trip = is_trip and not instruction.name.startswith(("LDL", "LDS", "ATOMS"))
        depth = max([0] + [chain.get(name, 0) for name in read[1:]]) + is_trip  # the first is the guard
        trip = max([floor] + [trips.get(name, 0) for name in read]) + is_trip
        for name in sum(results(instruction), []):
            if name in ("PT", "UPT"):
                continue
            chain[name], trips[name] = depth, trip
        if is_trip:
            longest, most, latest = max(longest, depth), max(most, trip), max(latest, trip)
    return longest, most
