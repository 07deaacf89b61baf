"""The send queue of device/channel/README.md as a transition system: posters and a NIC.

A poster takes the steps of "Submit". What no other agent can interrupt is one step. The NIC takes a doorbell,
reads the record, and executes the requests up to the record, also those beyond the doorbell. `check` visits
every state, over one of the memories of memory.py. It returns the first thing that must not happen: a request
that the NIC does not find whole, a record behind its doorbell, doorbells that pass each other, an overwrite,
a completion reported too early, a deadlock, a lost doorbell.

Two things are not in the memory. Only atomics move the counter `resv` (its relaxed load may come late). The
NIC moves `done` itself; completion_queue.py models the pollers that move it.

Faults are planted by name, so that a test can show that the search finds them.
"""

from functools import lru_cache

from memory import Strong, Weak
from queues.send_queue_state import (DONE_WORD, DOORBELL_WORD, LEFT, READY_WORD, RECORD_WORD, SLOTS, Poster, Ready,
                                     Request, State)
from queues.submit import poster_moves
from search import explore


def moves(queue, programs, state):
    """All states that one step leads to."""
    yield from nic_moves(queue, state)
    for thread, program in enumerate(programs):
        poster = state.posters[thread]
        if poster.op < len(program) and poster.step != LEFT:
            yield from poster_moves(queue, programs, state, thread)


def nic_moves(queue, state):
    steps = nic_steps if queue.is_weak else remembered_nic_steps
    for changes in steps(queue, len(state.posters), state._replace(posters=(), resv=0)):
        yield state._replace(**changes)


def nic_steps(queue, nic, state):
    """The changes of each step that the NIC may take. It sees neither posters nor `resv`."""
    results = []
    in_order = "nic reads early" not in queue.faults    # what PCIe promises
    for doorbell, loaded in state.memory.load(nic, DOORBELL_WORD, acquire=in_order):
        if doorbell <= state.doorbell:
            continue
        for record, memory in loaded.load(nic, RECORD_WORD, acquire=in_order):
            limit = record if queue.looks_ahead else doorbell
            results.append({"memory": memory.trimmed(), "doorbell": doorbell, "limit": max(limit, state.limit),
                         "wrong": "record behind its doorbell" if record < doorbell else ""})
    if state.complete < state.limit:
        results.extend(execute(queue, state, nic))
    return results


remembered_nic_steps = lru_cache(1 << 16)(nic_steps)


def execute(queue, state, nic):
    base, memory = state.complete, state.memory
    found = memory.newest(SLOTS + base % queue.depth)
    for wqebb in range(base, max(found.end, base + 1)):
        slot = SLOTS + wqebb % queue.depth
        if found.base != base or set(memory.readable(nic, slot)) != {found}:
            yield {"wrong": "request not whole"}
            return
        _, memory = next(iter(memory.load(nic, slot)))
    ahead = found.end - found.tail
    if "counter taken for the end" in queue.faults:
        ahead += 1
    for memory in memory.store(nic, DONE_WORD, ahead, release=queue.by_the_letter):
        yield {"memory": memory.trimmed(), "complete": found.end}
    if queue.give_up and not state.status:      # an error CQE: its poller stops the queue
        yield {"status": True}


def verdict(programs, state, last):
    """What is wrong with a state, "" if nothing. `last`: no step follows it."""
    if state.wrong or not last:
        return state.wrong
    if any(poster.op < len(program) and poster.step != LEFT
           for poster, program in zip(state.posters, programs)):
        return "deadlock"
    ready = state.memory.newest(READY_WORD)
    unposted = ready.owed and state.memory.newest(DOORBELL_WORD) < ready.end
    return "lost doorbell" if unposted and not state.status else ""


def check(queue, programs):
    """(what is wrong or "", states seen)"""
    words = (Ready(), 0, 0, 0) + (Request(),) * queue.depth
    threads = len(programs) + 1
    memory = Weak.of(words, threads, queue.by_the_letter) if queue.is_weak else Strong(words)
    return explore(State(tuple(Poster() for _ in programs), memory),
                   lambda state: moves(queue, programs, state),
                   lambda state, last: verdict(programs, state, last))
