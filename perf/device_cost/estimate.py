"""How many instructions are left at least, from each place and with so many landmarks passed: the shortest path when every
value may be anything. The estimate is never too high, so the search may go first where it is lowest."""
from collections import deque

UNREACHABLE = float("inf")


class Estimate:
    def __init__(self, graph, marks_of, landmark_count, is_end=lambda instruction: instruction.name == "EXIT"):
        """`marks_of(place)`: (is forbidden, [is it the landmark?])."""
        self.left = {}  # (place, landmarks passed) before it is carried out -> instructions
        before = graph.before()
        work = deque()
        for place in graph.behind:
            if is_end(graph.program.instructions[place]) and not marks_of(place)[0]:
                for passed in passed_before(marks_of(place), landmark_count, landmark_count):
                    self.reach(work, place, passed, 1)
        while work:
            place, passed = work.popleft()
            left = self.left[place, passed] + 1
            for earlier in before.get(place, []):
                is_forbidden, marks = marks_of(earlier)
                instruction = graph.program.instructions[earlier]
                is_sure = instruction.guard == "PT" and instruction.guard_is
                if not is_forbidden:
                    for sooner in passed_before((is_forbidden, marks), passed, landmark_count):
                        self.reach(work, earlier, sooner, left)
                if not is_sure and earlier + 1 == place:  # its guard is off
                    self.reach(work, earlier, passed, left)

    def reach(self, work, place, passed, left):
        if (place, passed) not in self.left:
            self.left[place, passed] = left
            work.append((place, passed))

    def at(self, place, passed):
        return self.left.get((place, passed), UNREACHABLE)


def passed_before(asks, passed, landmark_count):
    """With how many landmarks an instruction can be come to, if there are `passed` behind it."""
    _, marks = asks
    if passed == landmark_count or not marks[passed]:
        yield passed  # else it would have been the next one
    if passed > 0 and marks[passed - 1]:
        yield passed - 1
