"""SASS as nvdisasm prints it: instructions, and where each can lead. Knows the notation and no rules."""
import re
from dataclasses import dataclass, field

INSTRUCTION = re.compile(r"^\s*/\*[0-9a-f]{4,}\*/\s+(?:@(!?)(U?P[0-9T]+)\s+)?([A-Z][A-Z0-9_.]*)\s*(.*?)\s*;")
LABEL = re.compile(r"^([.$\w]+):\s*$")
TARGET = re.compile(r"`\(([^)]*)\)")
TABLE = re.compile(r"BRANCH_TARGETS ([^\"]*)\"")
PREDICATE = re.compile(r"^(!?)(U?P(?:[0-9]+|T))$")
REGISTER = re.compile(r"\b(U?R(?:[0-9]+|Z))(\.64)?\b")
WITHOUT_RESULT = ("ST", "RED", "BRA", "BRX", "JMP", "EXIT", "BSSY", "BSYNC", "BREAK", "CALL", "RET", "MEMBAR", "ERRBAR",
                  "CCTL", "NOP", "WARPSYNC", "BAR", "DEPBAR", "YIELD", "NANOSLEEP", "BPT", "KILL", "FENCE", "UTMA",
                  "LDGDEPBAR", "LDGSTS", "PREEXIT", "ACQBULK", "UBLKCP", "BMOV", "RPCMOV")


@dataclass(frozen=True)
class Instruction:
    index: int
    guard: str  # a predicate, "PT" where it is always on
    guard_is: bool  # what the guard must be
    opcode: str  # with its qualifiers
    operands: tuple
    text: str
    targets: tuple  # labels

    @property
    def name(self):
        return self.opcode.split(".")[0]

    @property
    def qualifiers(self):
        return set(self.opcode.split(".")[1:])

    @property
    def bits(self):
        """The width of a load, store or atomic, in bytes."""
        for qualifier, bits in (("128", 128), ("64", 64), ("U16", 16), ("S16", 16), ("16", 16), ("U8", 8), ("S8", 8)):
            if qualifier in self.qualifiers:
                return bits
        return 32

    def has_result(self):
        return self.name not in WITHOUT_RESULT and self.name.rstrip("GLSU") not in ("ST", "RED")


@dataclass
class Program:
    """All functions of a file, one after the other."""
    instructions: list = field(default_factory=list)
    places: dict = field(default_factory=dict)  # label or function -> index of the instruction behind it

    functions: set = field(default_factory=set)  # their places

    def place(self, label):
        return self.places.get(label)

    def targets(self, instruction):
        return [place for place in map(self.place, instruction.targets) if place is not None]

    def is_call(self, instruction):
        """Not so where a CALL leads to a mere label: ptxas jumps by it out of far loops, and nothing returns from there."""
        return instruction.name == "CALL" and all(place in self.functions for place in self.targets(instruction))


def split_operands(text):
    """At commas outside of brackets and comments."""
    parts, depth, part = [], 0, ""
    for letter in text:
        depth += (letter in "[({") - (letter in "])}")
        if letter == "," and depth == 0:
            parts.append(part.strip())
            part = ""
        else:
            part += letter
    return tuple(parts + [part.strip()]) if part.strip() else tuple(parts)


def parse(text):
    program = Program()
    for line in text.splitlines():
        if label := LABEL.match(line):
            program.places[label[1]] = len(program.instructions)
            if not label[1].startswith("."):
                program.functions.add(len(program.instructions))
        elif found := INSTRUCTION.match(line):
            negated, guard, opcode, rest = found.groups()
            table = TABLE.search(line)
            targets = tuple(table[1].split(",")) if table else tuple(TARGET.findall(rest))
            program.instructions.append(Instruction(
                len(program.instructions), guard or "PT", not negated, opcode, split_operands(rest),
                f"{opcode} {rest}".strip(), targets))
    return program


def results(instruction):
    """(predicates, registers) that it writes. Results come first among the operands: a register, and predicates beside it."""
    operands = instruction.operands
    if instruction.name in ("R2P", "UR2UP"):
        return ["UP" + str(i) if instruction.name[0] == "U" else "P" + str(i) for i in range(7)], []
    if not instruction.has_result():
        return [], []
    if instruction.name.endswith("SETP") or instruction.name in ("PLOP3", "UPLOP3"):
        operands = operands[:2]
    if instruction.name.startswith("VOTE"):
        operands = operands[:-1]  # the last is what is voted on
    predicates, registers = [], None
    for operand in operands:
        if found := PREDICATE.match(operand):
            predicates.append(found[2])
        elif registers is None and re.match(r"^U?R(\d+|Z)(\.64)?$", operand):
            registers = words_of(operand.removesuffix(".64"), result_words(instruction))
        else:
            break
    return predicates, registers or []


def result_words(instruction):
    if instruction.name.startswith(("LD", "ATOM", "ULDC")):
        return max(1, instruction.bits // 32)
    wide = "WIDE" in instruction.qualifiers or instruction.name[0] == "D" or "64" in instruction.qualifiers
    if instruction.name == "SHF":
        return 1  # SHF.L.U64.HI takes 64 bits and gives 32
    return 2 if wide or instruction.opcode == "CS2R" else 1


def words_of(register, count):
    """R4, 2 -> R4, R5."""
    kind, number = re.match(r"(U?R)(\d+|Z)", register).groups()
    return [] if number == "Z" else [kind + str(int(number) + i) for i in range(count)]


def sources(instruction):
    """Registers and predicates that it reads, the guard among them."""
    _, written = results(instruction)
    read, skipped = [instruction.guard], False
    for operand in instruction.operands:
        if found := PREDICATE.match(operand):
            read.append(found[2])
            continue
        if written and not skipped and operand.removesuffix(".64") == written[0]:
            skipped = True  # the result itself
            continue
        for register, is_pair in REGISTER.findall(operand):
            is_address = operand.startswith(("[", "desc"))
            pair = is_pair or (is_address and register[0] == "U") or is_wide_source(instruction)
            read += words_of(register, 4 if instruction.bits == 128 and not is_address else 2 if pair else 1)
    return read


def is_wide_source(instruction):
    return "64" in instruction.qualifiers or "WIDE" in instruction.qualifiers or "128" in instruction.qualifiers
