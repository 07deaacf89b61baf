"""The send queue of device/path/README.md as a transition system: posters and a NIC.

A poster takes the steps that device/path/nic takes, one access to shared memory each. The NIC completes
requests in order, up to the doorbell. `check` visits every state and returns the first thing that must
not happen: an overwrite, a completion reported too early, a deadlock, a lost doorbell.

Faults are planted by name, so that a test can show that the search would find them.
"""

from typing import NamedTuple

from search import explore


class Op(NamedTuple):
    """One submission of a thread, or (wqebbs 0) a quiet."""
    wqebbs: int
    more: bool = False      # another of the same call follows: no doorbell for this one alone
    wait: bool = False      # the thread waits for its completion
    wide: bool = False      # its last request takes two WQEBBs: the CQE tells the first


QUIET = Op(0)


class Queue(NamedTuple):
    depth: int              # WQEBBs
    batch: int              # WQEBBs after which a doorbell is rung in any case
    give_up: bool = False   # threads may leave at every wait (timeout, abort), and requests may fail
    faults: frozenset = frozenset()


RESERVE, SPACE, TURN, DECIDE, RING, PUBLISH, COMPLETION, LEFT = range(8)


class Poster(NamedTuple):
    op: int = 0
    step: int = RESERVE
    base: int = 0
    owed: bool = False      # as read with `ready`
    ring: bool = False
    target: int = 0         # what `done` must reach


class State(NamedTuple):
    posters: tuple
    resv: int = 0
    ready: int = 0
    owed: bool = False      # these two are upper bits of `ready`
    wide: bool = False
    record: int = 0
    doorbell: int = 0
    done: int = 0
    complete: int = 0       # the truth of which `done` is told: the end of the last complete request
    status: bool = False    # the queue is out of use
    requests: tuple = ()    # (end, counter of its CQE) of those that are not complete
    wrong: str = ""


def moves(queue, programs, state):
    """All states that one step leads to."""
    yield from nic_moves(queue, state)
    for thread, program in enumerate(programs):
        poster = state.posters[thread]
        if poster.op < len(program) and poster.step != LEFT:
            yield from poster_moves(queue, state, thread, program[poster.op])


def nic_moves(queue, state):
    if not state.requests or state.requests[0][0] > min(state.record, state.doorbell):
        return
    end, counter = state.requests[0]
    ahead = 2 if "counter taken for the end" in queue.faults else 1
    yield state._replace(done=counter + ahead, complete=end, requests=state.requests[1:])
    if queue.give_up and not state.status:      # an error CQE: whoever polls it stops the queue
        yield state._replace(status=True)


def poster_moves(queue, state, thread, op):
    poster = state.posters[thread]

    def go(poster, **shared):
        posters = state.posters[:thread] + (poster,) + state.posters[thread + 1:]
        return state._replace(posters=posters, **shared)

    if poster.step in (SPACE, TURN, COMPLETION) and not its_event_is_there(queue, state, poster, op):
        if state.status:
            yield go(poster._replace(step=LEFT))
        elif queue.give_up:
            yield go(poster._replace(step=LEFT), status="leaves quietly" not in queue.faults)
        return
    yield STEPS[poster.step](queue, state, poster, op, go)


def its_event_is_there(queue, state, poster, op):
    if poster.step == SPACE:
        in_use = poster.base + op.wqebbs - state.done
        return in_use <= queue.depth or "no slot wait" in queue.faults
    if poster.step == TURN:
        return state.ready == poster.base
    return state.done >= poster.target


def reserve(queue, state, poster, op, go):
    if op == QUIET:
        wide = state.wide and "wide bit dropped" not in queue.faults
        return go(Poster(poster.op, COMPLETION, target=state.ready - wide))
    if state.status:
        return go(poster._replace(step=LEFT))
    return go(Poster(poster.op, SPACE, base=state.resv), resv=state.resv + op.wqebbs)


def write(queue, state, poster, op, go):
    end = poster.base + op.wqebbs
    request = (end, end - 1 - op.wide)
    wrong = "overwrite" if end - state.complete > queue.depth else ""
    return go(poster._replace(step=TURN), requests=tuple(sorted(state.requests + (request,))),
              wrong=wrong)


def take_turn(queue, state, poster, op, go):
    return go(poster._replace(step=DECIDE, owed=state.owed))


def duty(queue, poster, op):
    """Whether this submission must see to a doorbell: its own, or one that was passed on to it."""
    return not op.more or (poster.owed and "owed dropped" not in queue.faults)


def decide(queue, state, poster, op, go):
    end = poster.base + op.wqebbs
    edge = poster.base // queue.batch != end // queue.batch and "no edge" not in queue.faults
    ring = edge or (duty(queue, poster, op) and state.resv == end)
    return go(poster._replace(step=RING if ring else PUBLISH, ring=ring))


def ring(queue, state, poster, op, go):
    end = poster.base + op.wqebbs
    record = state.record if "no record" in queue.faults else end
    return go(poster._replace(step=PUBLISH), record=record, doorbell=end)


def publish(queue, state, poster, op, go):
    end = poster.base + op.wqebbs
    owed = not poster.ring and duty(queue, poster, op)
    then = Poster(poster.op + 1)
    if op.wait:
        target = end if "waits for the end" in queue.faults else end - op.wide
        then = Poster(poster.op, COMPLETION, poster.base, target=target)
    return go(then, ready=end, owed=owed, wide=op.wide)


def complete(queue, state, poster, op, go):
    early = state.complete < poster.target
    return go(Poster(poster.op + 1), wrong="early" if early else "")


STEPS = {RESERVE: reserve, SPACE: write, TURN: take_turn, DECIDE: decide, RING: ring,
         PUBLISH: publish, COMPLETION: complete}


def verdict(programs, state, last):
    """What is wrong with a state. `last`: no step leads on from it."""
    if state.wrong or not last:
        return state.wrong
    if any(poster.op < len(program) and poster.step != LEFT
           for poster, program in zip(state.posters, programs)):
        return "deadlock"
    unrung = state.owed and state.doorbell < state.ready
    return "lost doorbell" if unrung and not state.status else ""


def check(queue, programs):
    """(what is wrong or "", states seen)"""
    return explore(State(posters=tuple(Poster() for _ in programs)),
                   lambda state: moves(queue, programs, state),
                   lambda state, last: verdict(programs, state, last))
