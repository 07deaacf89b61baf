"""Collective host calls where all PEs are mapped: host/collective/README.md, "By words".

PEs form a binary tree of counters in shared memory. A PE that comes to call s adds one to its own counter. The PE that fills a
counter goes on to its parent's. The PE that fills PE 0's counter changes the verdict word from "s - 1 met" to "s met"; a PE that
stops waiting changes it to "s given up". A PE may stop for ever between any two steps.

What must not happen: a call has met for one PE and not for another; a call meets before all have come; a call meets after one that
has not."""

from typing import NamedTuple

from search import explore, of_parts


class Job(NamedTuple):
    pes: int = 3
    calls: int = 2
    impatient: frozenset = frozenset()
    faults: frozenset = frozenset()


@of_parts
class Pe(NamedTuple):
    call: int = 1
    at: str = "out"  # out, adds, fills, waits, left
    node: int = 0  # the counter to which it adds
    results: tuple = ()


@of_parts
class State(NamedTuple):
    pes: tuple
    counts: tuple
    verdict: tuple = (0, True)  # (call, whether it has met)
    wrong: str = ""


def share(job, node):
    """The number that a call adds to the counter of `node`: one for its PE, one for each full child."""
    return 1 + sum(child < job.pes for child in (2 * node + 1, 2 * node + 2))


def settle(job, state, call, has_met):
    is_open = state.verdict == (call - 1, True)
    if not (is_open or "settles twice" in job.faults):
        return state
    late = any(pe.call < call or pe.call == call and pe.at == "out" for pe in state.pes)
    return state._replace(verdict=(call, has_met), wrong="met before all have come" if has_met and late else "")


def result(job, state, pe):
    call, has_met = state.verdict
    if "takes a later verdict for its own" in job.faults:
        return "met" if state.verdict == (pe.call, True) else "failed"
    return "met" if call > pe.call or state.verdict == (pe.call, True) else "failed"


def steps_of(job, state, i):
    """The states after a step of PE i."""
    pe = state.pes[i]

    def go(after=state, **changes):
        return after._replace(pes=after.pes[:i] + (pe._replace(**changes),) + after.pes[i + 1:])

    def end(what):
        return go(at="out" if pe.call < job.calls else "left", call=pe.call + 1, results=pe.results + (what,))

    if pe.at == "out":
        yield end("failed") if not state.verdict[1] else go(at="adds", node=i)
    elif pe.at == "adds":
        count = state.counts[pe.node] + 1
        counts = state.counts[:pe.node] + (count,) + state.counts[pe.node + 1:]
        full = pe.call * (share(job, pe.node) - (pe.node == 0 and "a counter is full too early" in job.faults))
        at, node = ("waits", 0) if count != full else ("fills", 0) if pe.node == 0 else ("adds", (pe.node - 1) // 2)
        yield go(state._replace(counts=counts), at=at, node=node)
    elif pe.at == "fills":
        yield go(settle(job, state, pe.call, True), at="waits")
    elif pe.at == "waits":
        if state.verdict != (pe.call - 1, True):
            yield end(result(job, state, pe))
        elif i in job.impatient:
            yield end("failed") if "fails by itself" in job.faults else settle(job, state, pe.call, False)


def verdict(job, state, is_end):
    if state.wrong:
        return state.wrong
    for call in range(job.calls):
        results = {pe.results[call] for pe in state.pes if len(pe.results) > call}
        if len(results) > 1:
            return "met for some only"
        if "failed" in results and any("met" in pe.results[call + 1:] for pe in state.pes):
            return "met after one that has not"
    return "waits for ever" if is_end and any(pe.at != "left" for pe in state.pes) else ""


def check(job):
    """(what is wrong or "", states)"""
    start = State((Pe(),) * job.pes, (0,) * job.pes)
    return explore(start, lambda state: (after for i in range(job.pes) for after in steps_of(job, state, i)),
                   lambda state, is_end: verdict(job, state, is_end))
