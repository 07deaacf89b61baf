"""The straight path of a kernel: README.md says what it is.

A search (Dijkstra) over states: the instruction, the calls that it is in, what is known (facts.py), and how many of the
landmarks are behind. Each instruction costs one; of equally long ways the one with fewer accesses to memory wins."""
import heapq
from dataclasses import dataclass

import facts
from sass import PREDICATE

MEMORY = ("LD", "ST", "ATOM", "RED", "MEMBAR", "CCTL")
DEAD_ENDS = ("BPT", "KILL")
MOST_STATES = 3_000_000


class NoPath(Exception):
    pass


@dataclass(frozen=True)
class Frame:
    """A call: where it returns to, and where threads of a warp that part meet again (register B<n> -> place)."""
    returns_to: int
    meetings: frozenset = frozenset()


@dataclass(frozen=True)
class State:
    place: int
    frames: tuple
    known: frozenset
    passed: int


@dataclass(frozen=True)
class Step:
    """An instruction on the path; `is_on`: its guard lets it be carried out; `landmark`: which one it is, or None."""
    instruction: object
    is_on: bool
    landmark: str


class Search:
    def __init__(self, program, landmarks, never):
        """`landmarks`: [(name, compiled pattern)] in their order; `never`: compiled patterns."""
        self.program = program
        self.landmarks = landmarks
        self.marks = [[bool(pattern.search(i.text)) for _, pattern in landmarks] for i in program.instructions]
        self.forbidden = [any(pattern.search(i.text) for pattern in never) for i in program.instructions]

    def straight_path(self, kernel):
        """[Step] from the kernel's first instruction to its EXIT."""
        start = State(self.program.place(kernel), (Frame(-1),), facts.NOTHING, 0)
        cost, came_from, furthest = {start: (0, 0)}, {}, 0
        queue, count = [((0, 0), 0, start)], 0
        while queue:
            here_cost, _, here = heapq.heappop(queue)
            if here_cost > cost[here]:
                continue
            furthest = max(furthest, here.passed)
            for step, there in self.ways(here):
                if there is None:
                    return self.steps_to(here, step, came_from)
                next_cost = (here_cost[0] + 1, here_cost[1] + (step.is_on and touches_memory(step.instruction)))
                if next_cost < cost.get(there, (float("inf"), 0)):
                    cost[there], came_from[there] = next_cost, (here, step)
                    count += 1
                    heapq.heappush(queue, (next_cost, count, there))
            if count > MOST_STATES:
                break
        names = [name for name, _ in self.landmarks]
        where = f"behind {names[furthest - 1]!r}" if furthest else "from the start"
        missing = f"no way to {names[furthest]!r}" if furthest < len(names) else "no way to EXIT"
        raise NoPath(f"{kernel}: {missing} {where}" + (", after too many states" if count > MOST_STATES else ""))

    @staticmethod
    def steps_to(state, last, came_from):
        steps = [last]
        while state in came_from:
            state, step = came_from[state]
            steps.append(step)
        return steps[::-1]

    def ways(self, state):
        """(step, next state) for each that is possible; None instead of a state: the kernel has ended as it should."""
        if state.place >= len(self.program.instructions):
            return
        instruction = self.program.instructions[state.place]
        known_guard = facts.is_on(state.known, instruction)
        for is_on in (True, False) if known_guard is None else (known_guard,):
            known = state.known
            if known_guard is None:
                known = facts.with_fact(known, instruction.guard, is_on == instruction.guard_is)
            if not is_on:
                yield Step(instruction, False, None), State(state.place + 1, state.frames, known, state.passed)
                continue
            if self.forbidden[state.place]:
                continue
            passed, landmark = state.passed, None
            if passed < len(self.landmarks) and self.marks[state.place][passed]:
                landmark = self.landmarks[passed][0]
                passed += 1
            step = Step(instruction, True, landmark)
            if instruction.name == "EXIT":
                if passed == len(self.landmarks):
                    yield step, None
                continue
            for place, frames, more in self.places_behind(instruction, state.frames, known):
                yield step, State(place, frames, more, passed)

    def places_behind(self, instruction, frames, known):
        """(place, frames, facts) behind an instruction that is carried out."""
        following, name = instruction.index + 1, instruction.name
        targets = [place for place in map(self.program.place, instruction.targets) if place is not None]
        if name in DEAD_ENDS:
            return
        if name in ("BRA", "JMP", "BRX"):
            yield from self.branches(instruction, targets, frames, known)
        elif name == "CALL":
            for place in targets:
                yield place, frames + (Frame(following),), known
        elif name == "RET":
            if len(frames) > 1:
                yield frames[-1].returns_to, frames[:-1], known
        elif name == "BSSY":
            yield following, meeting_at(frames, instruction.operands[0], targets[0]), known
        elif name == "BSYNC":
            yield dict(frames[-1].meetings).get(instruction.operands[0], following), frames, known
        else:
            yield following, frames, facts.after(known, instruction)

    def branches(self, instruction, targets, frames, known):
        if instruction.qualifiers & {"DIV", "CONV"}:  # asks whether the warp has parted: an isolated call has not
            converged = "CONV" in instruction.qualifiers
            yield (targets[0] if converged else instruction.index + 1), frames, known
            return
        condition = next((o for o in instruction.operands if PREDICATE.match(o)), "PT")  # beside the guard
        taken = facts.value_of(known, condition)
        found = PREDICATE.match(condition)
        for is_taken in (True, False) if taken is None else (taken,):
            more = known if taken is not None else facts.with_fact(known, found[2], is_taken != bool(found[1]))
            for place in targets if is_taken else [instruction.index + 1]:
                yield place, frames, more


def meeting_at(frames, register, place):
    frame = frames[-1]
    others = {pair for pair in frame.meetings if pair[0] != register}
    return frames[:-1] + (Frame(frame.returns_to, frozenset(others | {(register, place)})),)


def touches_memory(instruction):
    return instruction.name.startswith(MEMORY)
