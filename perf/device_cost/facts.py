"""What is known on a way through a kernel: predicates that a branch has told, and registers that hold a constant.

A set of (name, value) pairs that never changes, so that it can be part of a state of the search. Whatever is not known may
be anything: to know less finds more ways, never fewer."""
from sass import PREDICATE, results

NOTHING = frozenset()
COMPARE = {"EQ": lambda a, b: a == b, "NE": lambda a, b: a != b, "LT": lambda a, b: a < b, "LE": lambda a, b: a <= b,
           "GT": lambda a, b: a > b, "GE": lambda a, b: a >= b}
MOVES = ("MOV", "UMOV", "IMAD.MOV", "IMAD.MOV.U32", "R2UR", "UMOV.64")


def value_of(facts, operand):
    """Of a predicate or 32-bit operand; None if unknown."""
    if found := PREDICATE.match(operand):
        known = True if found[2].endswith("T") else dict(facts).get(found[2])
        return known if known is None or not found[1] else not known
    if operand in ("RZ", "URZ", "SRZ"):
        return 0
    if operand.startswith(("0x", "-0x")):
        return int(operand, 16) & 0xffffffff
    return dict(facts).get(operand.removesuffix(".reuse"))


def with_fact(facts, name, value):
    return frozenset({pair for pair in facts if pair[0] != name} | {(name, value)})


def is_on(facts, instruction):
    """Whether the guard lets it be carried out; None if unknown."""
    known = value_of(facts, instruction.guard)
    return None if known is None else known == instruction.guard_is


def after(facts, instruction):
    """Facts behind an instruction that was carried out."""
    predicates, registers = results(instruction)
    if not predicates and not registers:
        return facts
    gone = {*predicates, *registers}
    kept = {pair for pair in facts if pair[0] not in gone}
    return frozenset(kept | {(name, value) for name, value in learnt(facts, instruction, predicates, registers)
                             if value is not None and not name.endswith("T")})


def learnt(facts, instruction, predicates, registers):
    operands = instruction.operands
    if instruction.opcode in MOVES and len(registers) == 1:
        return [(registers[0], value_of(facts, operands[-1]))]
    if instruction.name == "CS2R" and operands[1] == "SRZ":
        return [(register, 0) for register in registers]
    if instruction.name in ("SEL", "USEL") and registers:
        chosen = value_of(facts, operands[3])
        return [] if chosen is None else [(registers[0], value_of(facts, operands[1 if chosen else 2]))]
    if instruction.name in ("ISETP", "UISETP") and "EX" not in instruction.qualifiers:
        return list(zip(predicates, compared(facts, instruction)))
    if instruction.name in ("PLOP3", "UPLOP3"):
        return list(zip(predicates, looked_up(facts, instruction)))
    return []


def signed(value):
    return value - (1 << 32) if value >> 31 else value


def compared(facts, instruction):
    """ISETP.<how>.AND P, Q, a, b, c: P = (a how b) and c, Q = not (a how b) and c."""
    left, right, last = (value_of(facts, operand) for operand in instruction.operands[2:5])
    how = next((COMPARE[q] for q in instruction.qualifiers if q in COMPARE), None)
    if None in (left, right, last, how) or "AND" not in instruction.qualifiers:
        return [None, None]
    if "U32" not in instruction.qualifiers:
        left, right = signed(left), signed(right)
    return [how(left, right) and last, not how(left, right) and last]


def looked_up(facts, instruction):
    """PLOP3.LUT P, Q, a, b, c, table of P, table of Q."""
    inputs = [value_of(facts, operand) for operand in instruction.operands[2:5]]
    tables = [value_of(facts, operand) for operand in instruction.operands[5:7]]
    return [table_value(inputs, table) for table in tables]


def table_value(inputs, table):
    """None unless all that is unknown makes no difference."""
    if table is None:
        return None
    rows = [row for row in range(8) if all(known is None or known == bool(row >> (2 - i) & 1)
                                           for i, known in enumerate(inputs))]
    values = {bool(table >> row & 1) for row in rows}
    return values.pop() if len(values) == 1 else None
