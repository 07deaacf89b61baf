"""A team of those members that live: host/ops/teams/living.cpp.

Members publish what they say, for all to read. The living member of lowest rank decides. Every other one makes it an offer. When
all offers are there, it proposes a team. Each member of that accepts, or has given up before: then its decision is that there is
no team. When all have accepted, the team is decided. A member publishes the decision before it returns. If the deciding member
dies, the others make their offers to the next one, which takes a decision that it finds.

A member may stop waiting at any time, until it has accepted a proposal: then all of that team have come. If the one that proposed
dies, the member waits for the next one, or decides, and still does not stop. A PE may die at any time, and others may see that
before they see what it published.

What must not happen: two members that live return different results; a member waits for ever."""

from typing import NamedTuple

from search import explore, of_parts

LATE = "no team"


class Job(NamedTuple):
    pes: int = 3
    impatient: frozenset = frozenset()
    mortal: frozenset = frozenset()
    deaths: int = 1
    faults: frozenset = frozenset()


@of_parts
class Pe(NamedTuple):
    at: str = "out"  # out, offers, accepted, collects, proposes, left, dead
    to: int = 0  # the member that it takes for the deciding one
    is_bound: bool = False  # it has accepted a proposal
    result: object = None  # a team's members, or LATE


@of_parts
class State(NamedTuple):
    pes: tuple
    decisions: tuple  # of each member, or None
    offers: frozenset = frozenset()  # (from, to)
    proposals: tuple = ()  # of each member, or None
    accepted: frozenset = frozenset()  # (from, to)


def changed(values, i, value):
    return values[:i] + (value,) + values[i + 1:]


def turn_to(job, state, i, rank):
    """PE i offers to the member of that rank, or decides itself."""
    at = "collects" if rank == i else "offers"
    offers = state.offers if rank == i else state.offers | {(i, rank)}
    is_bound = state.pes[i].is_bound and "forgets what it has accepted" not in job.faults
    return state._replace(pes=changed(state.pes, i, Pe(at, rank, is_bound)), offers=offers)


def may_give_up(job, state, i):
    return i in job.impatient and (not state.pes[i].is_bound or "gives up what it has accepted" in job.faults)


def leave(state, i, result):
    return state._replace(pes=changed(state.pes, i, Pe(at="left", result=result)),
                          decisions=changed(state.decisions, i, result))


def steps_of_a_member(job, state, i):
    pe = state.pes[i]
    if state.decisions[pe.to] is not None:
        yield leave(state, i, state.decisions[pe.to])
    if state.pes[pe.to].at == "dead":
        yield turn_to(job, state, i, pe.to + 1)
    if pe.at == "offers" and state.proposals[pe.to] is not None:
        yield state._replace(pes=changed(state.pes, i, pe._replace(at="accepted", is_bound=True)),
                             accepted=state.accepted | {(i, pe.to)})
    if may_give_up(job, state, i):
        yield leave(state, i, LATE)


def steps_of_the_deciding(job, state, i):
    pe = state.pes[i]
    first = 0 if "asks the dead" in job.faults else i  # it has seen that those below it are dead
    asked = set(range(first, job.pes)) if pe.at == "collects" else state.proposals[i]
    said = state.offers if pe.at == "collects" else state.accepted
    for decision in {state.decisions[other] for other in asked - {i}} - {None}:
        yield leave(state, i, decision)
    is_open = any((other, i) not in said and state.pes[other].at != "dead" for other in asked - {i})
    if is_open and may_give_up(job, state, i):
        yield leave(state, i, LATE)
    if is_open and not (pe.at == "proposes" and "does not wait until all have accepted" in job.faults):
        return
    if pe.at == "proposes":
        yield leave(state, i, state.proposals[i])
    else:
        team = frozenset(rank for rank in range(job.pes) if rank == i or (rank, i) in state.offers)
        if "decides without a proposal" in job.faults:
            yield leave(state, i, team)
        else:
            yield state._replace(pes=changed(state.pes, i, pe._replace(at="proposes")),
                                 proposals=changed(state.proposals, i, team))


def steps_of(job, state, i):
    """The states after a step of PE i."""
    at = state.pes[i].at
    if at == "out":
        yield turn_to(job, state, i, 0)
    elif at in ("offers", "accepted"):
        yield from steps_of_a_member(job, state, i)
    elif at in ("collects", "proposes"):
        yield from steps_of_the_deciding(job, state, i)
    if at != "dead" and i in job.mortal and sum(pe.at == "dead" for pe in state.pes) < job.deaths:
        yield state._replace(pes=changed(state.pes, i, Pe(at="dead")))


def verdict(state, is_end):
    if len({pe.result for pe in state.pes if pe.at == "left"}) > 1:
        return "members differ"
    return "waits for ever" if is_end and any(pe.at not in ("left", "dead") for pe in state.pes) else ""


def check(job):
    """(what is wrong or "", states)"""
    none = (None,) * job.pes
    start = State(pes=(Pe(),) * job.pes, decisions=none, proposals=none)
    return explore(start, lambda state: (after for i in range(job.pes) for after in steps_of(job, state, i)), verdict)
