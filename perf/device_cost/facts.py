"""Known values on a path through a kernel: predicates that a branch has decided, and registers that hold a constant.

A set of (name, value) pairs that never changes, so that it can be part of a state of the search. A register's value is
(bits, mask of the bits that are known). Any other value may be anything: with less knowledge the search finds more paths, never fewer."""
import re

from sass import PREDICATE, results

NOTHING = frozenset()
ALL = 0xffffffff
COMPARE = {"EQ": lambda a, b: a == b, "NE": lambda a, b: a != b, "LT": lambda a, b: a < b, "LE": lambda a, b: a <= b,
           "GT": lambda a, b: a > b, "GE": lambda a, b: a >= b}
CONSTANT = re.compile(r"c\[0x0\]\[(0x[0-9a-f]+)\]")
MOVES = ("MOV", "UMOV", "IMAD.MOV", "IMAD.MOV.U32", "R2UR")


def look_up(facts, name):
    return next((value for known, value in facts if known == name), None)


def truth_of(facts, operand):
    """The value of a predicate; None if unknown."""
    found = PREDICATE.match(operand)
    known = True if found[2].endswith("T") else look_up(facts, found[2])
    return known if known is None or not found[1] else not known


def bits_of(facts, operand):
    """(bits, mask) of a 32-bit operand."""
    operand = operand.removesuffix(".reuse")
    if operand in ("RZ", "URZ", "SRZ"):
        return 0, ALL
    if operand.startswith(("0x", "-0x")):
        return int(operand, 16) & ALL, ALL
    return look_up(facts, operand) or (0, 0)


def given(parameters, base):
    """Facts of a kernel's first instruction. `parameters`: byte offset -> 64-bit value; `base`: of parameters in bank 0."""
    words = [(base + offset + 4 * half, value >> 32 * half & ALL) for offset, value in parameters.items() for half in (0, 1)]
    return frozenset((f"c[0x0][{address:#x}]", (word, ALL)) for address, word in words)


def is_given(name):
    return name.startswith("c[")


def loaded_constants(facts, operand, registers):
    """LDC.64 R2, c[0x0][0x218]: R2 and R3."""
    found = CONSTANT.fullmatch(operand)
    return [(register, look_up(facts, f"c[0x0][{int(found[1], 16) + 4 * i:#x}]"))
            for i, register in enumerate(registers)] if found else []


def whole(facts, operand):
    """Its value as a number; None unless all of it is known."""
    bits, mask = bits_of(facts, operand)
    return bits if mask == ALL else None


def with_fact(facts, name, value):
    return frozenset({pair for pair in facts if pair[0] != name} | {(name, value)})


def is_on(facts, instruction):
    """Whether the guard lets it be carried out; None if unknown."""
    if instruction.guard == "PT":
        return instruction.guard_is
    known = truth_of(facts, instruction.guard)
    return None if known is None else known == instruction.guard_is


def after(facts, instruction):
    """Facts after an instruction that was carried out."""
    predicates, registers = results(instruction)
    if not predicates and not registers:
        return facts
    gone = {*predicates, *registers}
    kept = {pair for pair in facts if pair[0] not in gone}
    new = {(name, value) for name, value in learnt(facts, instruction, predicates, registers)
           if value is not None and value != (0, 0) and not name.endswith("T")}
    return frozenset(kept | new) if new or len(kept) < len(facts) else facts


def learnt(facts, instruction, predicates, registers):
    operands, name = instruction.operands, instruction.name
    if instruction.opcode in MOVES and len(registers) == 1:
        return [(registers[0], bits_of(facts, operands[-1]))]
    if name == "CS2R" and operands[1] == "SRZ":
        return [(register, (0, ALL)) for register in registers]
    if name in ("SEL", "USEL") and registers:
        chosen = truth_of(facts, operands[3])
        return [] if chosen is None else [(registers[0], bits_of(facts, operands[1 if chosen else 2]))]
    if name in ("LDC", "ULDC"):
        return loaded_constants(facts, operands[1], registers)
    if name == "PRMT" and registers:
        return [(registers[0], permuted(facts, operands))]
    if name in ("LOP3", "ULOP3") and facts:
        return combined(facts, operands, predicates, registers)
    if name in ("ISETP", "UISETP"):
        return list(zip(predicates, compared(facts, instruction)))
    if name in ("PLOP3", "UPLOP3"):
        inputs = [truth_of(facts, operand) for operand in operands[2:5]]
        return [(predicate, table_value(inputs, whole(facts, table)))
                for predicate, table in zip(predicates, operands[5:7])]
    return []


def signed(value):
    return value - (1 << 32) if value >> 31 else value


def compared(facts, instruction):
    """ISETP.<how>.<joins> P, Q, a, b, c: P = (a how b) joins c, Q = not (a how b) joins c. EX: a and b are upper halves, and
    the last operand is the result for the lower ones."""
    how = next((q for q in instruction.qualifiers if q in COMPARE), None)
    left, right = (whole(facts, operand) for operand in instruction.operands[2:4])
    holds = None
    if None not in (how, left, right):
        if "U32" not in instruction.qualifiers:
            left, right = signed(left), signed(right)
        holds = COMPARE[how](left, right)
        if "EX" in instruction.qualifiers and left == right:
            holds = truth_of(facts, instruction.operands[5])
    other = truth_of(facts, instruction.operands[4])
    join = "OR" if "OR" in instruction.qualifiers else "AND" if "AND" in instruction.qualifiers else None
    return [joined(join, holds, other), joined(join, None if holds is None else not holds, other)]


def joined(join, one, other):
    decisive = {"AND": False, "OR": True}.get(join)
    if decisive is None:
        return None
    if decisive in (one, other):
        return decisive
    return None if None in (one, other) else not decisive


def permuted(facts, operands):
    """PRMT d, a, selector, c: each byte of d is one of the eight of a and c, or, with bit 3 of its digit, that byte's sign."""
    selector = whole(facts, operands[2])
    if selector is None:
        return 0, 0
    (a, a_mask), (c, c_mask) = bits_of(facts, operands[1]), bits_of(facts, operands[3])
    source, mask, value, known = a | c << 32, a_mask | c_mask << 32, 0, 0
    for i in range(4):
        digit = selector >> 4 * i & 15
        byte, is_known = source >> 8 * (digit & 7) & 255, mask >> 8 * (digit & 7) & 255
        if digit & 8:
            byte, is_known = 255 * (byte >> 7), 255 * (is_known >> 7)
        value, known = value | byte << 8 * i, known | is_known << 8 * i
    return value & known, known


def combined(facts, operands, predicates, registers):
    """LOP3.LUT [P,] d, a, b, c, table, !PT: each bit of d by the table; P = (d is not 0)."""
    first = len(predicates)
    table = whole(facts, operands[first + 4])
    inputs = [bits_of(facts, operand) for operand in operands[first + 1:first + 4]]
    if table is None or operands[-1] not in ("!PT", "!UPT"):
        return []
    value = known = 0
    for bit in range(32):
        bit_value = table_value([bool(bits >> bit & 1) if mask >> bit & 1 else None for bits, mask in inputs], table)
        if bit_value is not None:
            value, known = value | bit_value << bit, known | 1 << bit
    is_not_zero = True if value else False if known == ALL else None
    return [(predicate, is_not_zero) for predicate in predicates] + [(register, (value, known)) for register in registers]


def table_value(inputs, table):
    """The result for three inputs; None unless all unknown inputs make no difference."""
    if table is None:
        return None
    a, b, c = inputs
    if None not in inputs:
        return bool(table >> (a << 2 | b << 1 | c) & 1)
    values = {bool(table >> row & 1) for row in range(8)
              if all(known is None or known == bool(row >> (2 - i) & 1) for i, known in enumerate(inputs))}
    return values.pop() if len(values) == 1 else None
