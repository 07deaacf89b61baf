"""All paths through a kernel and its callees, without any knowledge of values: place -> places that may come next. A path too
many costs search time; a path too few would hide the straight path."""
from sass import PREDICATE

ENDS = ("EXIT", "RET", "BPT", "KILL")
JUMPS = ("BRA", "BRX", "JMP", "CALL")


class Graph:
    def __init__(self, program, kernel):
        self.program = program
        self.start = program.place(kernel)
        self.behind = {}
        self.calls = {}  # a function's first place -> places behind its calls
        self.meetings = {}  # convergence register -> places where BSSY lets threads meet
        self.reach()
        self.join_returns()

    def reach(self):
        open_places = [self.start]
        while open_places:
            place = open_places.pop()
            if place in self.behind or place >= len(self.program.instructions):
                continue
            self.behind[place] = self.places_behind(place)
            open_places += self.behind[place]
            instruction = self.program.instructions[place]
            if self.program.is_call(instruction):  # it returns behind its call, or never
                open_places.append(place + 1)
                for target in self.program.targets(instruction):
                    self.calls.setdefault(target, []).append(place + 1)
            if instruction.name == "BSSY":
                self.meetings.setdefault(instruction.operands[0], []).extend(self.program.targets(instruction))
                open_places += self.program.targets(instruction)

    def places_behind(self, place):
        instruction = self.program.instructions[place]
        if instruction.name in ENDS:
            return [place + 1] if is_conditional(instruction) else []
        if instruction.name in JUMPS:
            return self.program.targets(instruction) + ([place + 1] if is_conditional(instruction) else [])
        return [place + 1]

    def join_returns(self):
        """A return leads behind the calls of every function that comes to it; a function may have others inside of it."""
        for place in self.behind:
            instruction = self.program.instructions[place]
            meetings = self.meetings.get(instruction.operands[0], []) if instruction.name == "BSYNC" else []
            if place + 1 not in meetings:
                self.behind[place] = self.behind[place] + meetings
        for function, places in self.calls.items():
            for place in self.returns_of(function):
                self.behind[place] = self.behind[place] + places

    def returns_of(self, function):
        seen, open_places = set(), [function]
        while open_places:
            place = open_places.pop()
            if place in seen or place not in self.behind:
                continue
            seen.add(place)
            instruction = self.program.instructions[place]
            if instruction.name == "RET":
                yield place
                open_places += [place + 1] if is_conditional(instruction) else []
            else:
                open_places += [place + 1] if self.program.is_call(instruction) else self.behind[place]

    def before(self):
        """The reverse: place -> places that it may come from."""
        found = {}
        for place, nexts in self.behind.items():
            for following in nexts:
                found.setdefault(following, []).append(place)
        return found


def is_conditional(instruction):
    condition = any(PREDICATE.match(operand) for operand in instruction.operands)
    return instruction.guard != "PT" or condition or bool(instruction.qualifiers & {"DIV", "CONV", "ANY"})
