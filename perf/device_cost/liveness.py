"""The registers and predicates that are still read from an instruction on. Knowledge of the others is dropped, so that paths that
differ in nothing else become one."""
from sass import results, sources


class Liveness:
    def __init__(self, graph):
        self.graph = graph
        self.bits = {}  # name -> its bit
        self.live = self.solve()

    def at(self, place):
        """Names that are read from there on, before they are written."""
        return self.live.get(place, frozenset())

    def bits_of(self, names):
        value = 0
        for name in names:
            if not name.endswith("T"):
                value |= self.bits.setdefault(name, 1 << len(self.bits))
        return value

    def solve(self):
        reads, writes = {}, {}
        for place in self.graph.behind:
            instruction = self.graph.program.instructions[place]
            is_sure = instruction.guard == "PT" and instruction.guard_is
            reads[place] = self.bits_of(sources(instruction))
            writes[place] = self.bits_of(sum(results(instruction), [])) if is_sure else 0
        live, before = dict.fromkeys(self.graph.behind, 0), self.graph.before()
        work = sorted(self.graph.behind)
        waiting = set(work)
        while work:
            place = work.pop()
            waiting.discard(place)
            out = 0
            for following in self.graph.behind[place]:
                out |= live.get(following, 0)
            value = reads[place] | out & ~writes[place]
            if value != live[place]:
                live[place] = value
                fresh = [earlier for earlier in before.get(place, []) if earlier not in waiting]
                waiting.update(fresh)
                work += fresh
        names = {value: frozenset(name for name, bit in self.bits.items() if value & bit) for value in set(live.values())}
        return {place: names[value] for place, value in live.items()}
