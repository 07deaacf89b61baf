"""The straight path of a kernel: README.md says what it is.

A search (A*) over states: the instruction, the calls that it is in, what is known (facts.py), and how many of the
landmarks are behind. Each instruction costs one; of equally long paths the one with fewer accesses to memory wins."""
import heapq
from dataclasses import dataclass

import facts
from estimate import UNREACHABLE, Estimate
from graph import JUMPS, Graph
from liveness import Liveness
from sass import PREDICATE

MEMORY = ("LD", "ST", "ATOM", "RED", "MEMBAR", "CCTL")
DEAD_ENDS = ("BPT", "KILL")
MOST_STATES = 200_000


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


ENDED = State(-1, (), facts.NOTHING, 0)
FAR = (float("inf"), 0)


class Search:
    def __init__(self, program, landmarks, never, given=facts.NOTHING):
        """`landmarks`: [(name, compiled pattern)] in their order; `never`: compiled patterns; `given`: what is known first."""
        self.program = program
        self.landmarks = landmarks
        self.never = never
        self.given = given
        self.marks = {}

    def straight_path(self, kernel):
        """[Step] from the kernel's first instruction to its EXIT."""
        graph = Graph(self.program, kernel)
        self.liveness = Liveness(graph)
        estimate = Estimate(graph, self.asks_of, len(self.landmarks))
        start = State(graph.start, (Frame(-1),), self.given, 0)
        cost, came_from, furthest = {start: (0, 0)}, {}, 0
        queue, count = [((0, 0), 0, (0, 0), start)], 0
        while queue and count < MOST_STATES:
            _, _, here_cost, here = heapq.heappop(queue)
            if here_cost > cost[here]:
                continue
            if here == ENDED:
                return steps_to(here, came_from)
            furthest = max(furthest, here.passed)
            for steps, there in self.roads(here):
                accesses = sum(step.is_on and touches_memory(step.instruction) for step in steps)
                next_cost = (here_cost[0] + len(steps), here_cost[1] + accesses)
                left = 0 if there == ENDED else estimate.at(there.place, there.passed)
                if left != UNREACHABLE and next_cost < cost.get(there, FAR):
                    cost[there], came_from[there] = next_cost, (here, steps)
                    count += 1
                    heapq.heappush(queue, ((next_cost[0] + left, next_cost[1]), count, next_cost, there))
        raise NoPath(f"{kernel}: {self.what_is_missing(graph, furthest)}" + (", after too many states" if queue else ""))

    def what_is_missing(self, graph, furthest):
        """The first landmark to which no path leads, or, if known values exclude it, the point that the search reached."""
        names = [name for name, _ in self.landmarks]
        for number in range(furthest, len(names)):
            if Estimate(graph, self.asks_of, number + 1, is_end=lambda instruction: True).at(graph.start, 0) == UNREACHABLE:
                furthest = number
                break
        else:
            if Estimate(graph, self.asks_of, len(names)).at(graph.start, 0) == UNREACHABLE:
                furthest = len(names)
        where = f"behind {names[furthest - 1]!r}" if furthest else "from the start"
        return f"no path to {names[furthest]!r} {where}" if furthest < len(names) else f"no path to EXIT {where}"

    def roads(self, state):
        """(steps, state at their end): each continuation, up to its next branch."""
        for step, there in list(self.continuations(state)):
            steps, seen = [step], {state.place}
            while there != ENDED and there.place not in seen:
                seen.add(there.place)
                next_ones = list(self.continuations(there))
                if len(next_ones) != 1:
                    break
                steps.append(next_ones[0][0])
                there = next_ones[0][1]
            yield steps, there

    def asks_of(self, place):
        """(is forbidden, which landmarks it is) of an instruction."""
        if place not in self.marks:
            text = self.program.instructions[place].text
            self.marks[place] = (any(pattern.search(text) for pattern in self.never),
                                 [bool(pattern.search(text)) for _, pattern in self.landmarks])
        return self.marks[place]

    def state_at(self, place, frames, known, passed):
        live = self.liveness.at(place)
        if any(name not in live and not facts.is_given(name) for name, _ in known):
            known = frozenset(pair for pair in known if pair[0] in live or facts.is_given(pair[0]))
        return State(place, frames, known, passed)

    def continuations(self, state):
        """(step, next state) for each that is possible."""
        if state.place >= len(self.program.instructions):
            return
        instruction = self.program.instructions[state.place]
        known_guard = facts.is_on(state.known, instruction)
        for is_on in (True, False) if known_guard is None else (known_guard,):
            known = state.known
            if known_guard is None:
                known = facts.with_fact(known, instruction.guard, is_on == instruction.guard_is)
            if is_on:
                yield from self.carried_out(instruction, state, known)
            else:
                yield Step(instruction, False, None), self.state_at(state.place + 1, state.frames, known, state.passed)

    def carried_out(self, instruction, state, known):
        is_forbidden, marks = self.asks_of(state.place)
        if is_forbidden:
            return
        passed, landmark = state.passed, None
        if passed < len(self.landmarks) and marks[passed]:
            landmark = self.landmarks[passed][0]
            passed += 1
        step = Step(instruction, True, landmark)
        if instruction.name == "EXIT":
            if passed == len(self.landmarks):
                yield step, ENDED
            return
        for place, frames, more in self.places_behind(instruction, state.frames, known):
            yield step, self.state_at(place, frames, more, passed)

    def places_behind(self, instruction, frames, known):
        """(place, frames, facts) after an instruction that is carried out."""
        following, name = instruction.index + 1, instruction.name
        targets = self.program.targets(instruction)
        if name in DEAD_ENDS:
            return
        if self.program.is_call(instruction):
            for place in targets:
                yield place, frames + (Frame(following),), known
        elif name in JUMPS:
            yield from self.branches(instruction, targets, frames, known)
        elif name == "RET":
            if len(frames) > 1:
                yield frames[-1].returns_to, frames[:-1], known
        elif name == "BSSY":
            yield following, meeting_at(frames, instruction.operands[0], targets[0]), known
        elif name == "BSYNC":
            yield (*met(frames, instruction.operands[0], following), known)
        else:
            yield following, frames, facts.after(known, instruction)

    def branches(self, instruction, targets, frames, known):
        if instruction.qualifiers & {"DIV", "CONV"}:  # asks whether the warp has parted: an isolated call has not
            converged = "CONV" in instruction.qualifiers
            yield (targets[0] if converged else instruction.index + 1), frames, known
            return
        condition = next((o for o in instruction.operands if PREDICATE.match(o)), "PT")  # beside the guard
        taken = facts.truth_of(known, condition)
        found = PREDICATE.match(condition)
        for is_taken in (True, False) if taken is None else (taken,):
            more = known if taken is not None else facts.with_fact(known, found[2], is_taken != bool(found[1]))
            for place in targets if is_taken else [instruction.index + 1]:
                yield place, frames, more


def steps_to(state, came_from):
    roads = []
    while state in came_from:
        state, steps = came_from[state]
        roads.append(steps)
    return [step for steps in reversed(roads) for step in steps]


def meeting_at(frames, register, place):
    frame = frames[-1]
    others = {pair for pair in frame.meetings if pair[0] != register}
    return frames[:-1] + (Frame(frame.returns_to, frozenset(others | {(register, place)})),)


def met(frames, register, otherwise):
    """(place, frames) where threads meet; the register is free again."""
    frame = frames[-1]
    others = frozenset(pair for pair in frame.meetings if pair[0] != register)
    return dict(frame.meetings).get(register, otherwise), frames[:-1] + (Frame(frame.returns_to, others),)


def touches_memory(instruction):
    return instruction.name.startswith(MEMORY)
