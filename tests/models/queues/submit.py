"""A poster's steps: "Submit" of device/channel/README.md. What no other agent can interrupt is one step.

Each step gets (queue, sight, me). It yields (poster after, memory after, what else changes) for each possible
result, and nothing while it has to wait.
"""

from functools import lru_cache
from typing import NamedTuple

from memory import Strong, Weak
from queues.send_queue_state import (COMPLETION, DONE_WORD, DOORBELL, DOORBELL_WORD, LEFT, PASS_ON, PUBLISH, QUIET,
                                     READY_WORD, RECORD, RECORD_WORD, RESERVE, ROOM, SLOTS, TURN, WAITS, Op,
                                     Poster, Ready, Request)


class Me(NamedTuple):
    thread: int
    poster: Poster
    op: Op

    @property
    def base(self):
        return self.poster.base

    @property
    def end(self):
        return self.poster.base + self.op.wqebbs

    def at(self, step, **changes):
        return self.poster._replace(step=step, **changes)


class Sight(NamedTuple):
    """What a step may read. It excludes other posters, so a step has the same results in many states."""
    memory: Strong | Weak
    resv: int
    complete: int
    status: bool


def poster_moves(queue, programs, state, thread):
    poster = state.posters[thread]
    program = programs[thread]
    me = Me(thread, poster, program[poster.op])
    sight = Sight(state.memory, state.resv, state.complete, state.status)
    # A cache does not pay for weak memories: few come twice, and hashing one takes as long as the step.
    steps = steps_of if queue.is_weak else remembered_steps_of
    for after, memory, shared in steps(queue, sight, me, poster.op + 1 == len(program)):
        posters = state.posters[:thread] + (after,) + state.posters[thread + 1:]
        yield state._replace(posters=posters, memory=memory, **shared)


def steps_of(queue, sight, me, is_last):
    """The results of a step. A poster that ends its program leaves the memory."""
    results = []
    for after, memory, shared in STEPS[me.poster.step](queue, sight, me):
        if is_last and after.op > me.poster.op:
            memory = memory.leave(me.thread)
        results.append((after, memory.trimmed(), shared))
    if not results and me.poster.step in WAITS and (sight.status or queue.give_up):
        quietly = "leaves quietly" in queue.faults
        results.append((me.at(LEFT), sight.memory, {"status": sight.status or not quietly}))
    return results


remembered_steps_of = lru_cache(1 << 16)(steps_of)


def fence(queue, memory, me, where, acquire=False, release=False):
    """One of the fences. Faults drop its acquire, its release, or both."""
    return memory.fence(me.thread,
                        acquire=acquire and f"no acquire {where}" not in queue.faults,
                        release=release and f"no release {where}" not in queue.faults)


def await_word(memory, me, word, is_there):
    """The memory after the oldest load that ends the wait; None if none does. A newer load would only
    see more."""
    return next((after for value, after in memory.load(me.thread, word) if is_there(value)), None)


def reserve(queue, sight, me):
    if me.op == QUIET:
        for ready, memory in sight.memory.load(me.thread, READY_WORD):
            target = ready.end if "tail dropped" in queue.faults else ready.target
            yield me.at(COMPLETION, target=target), memory, {}
    elif sight.status:
        yield me.at(LEFT), sight.memory, {}
    else:
        yield me.at(ROOM, base=sight.resv), sight.memory, {"resv": sight.resv + me.op.wqebbs}


def write(queue, sight, me):
    """Waits for room, writes the requests, and looks whether its turn has come."""
    memory = await_word(sight.memory, me, DONE_WORD, lambda done: me.end - done <= queue.depth
                        or "no slot wait" in queue.faults)
    if memory is None:
        return
    if queue.by_the_letter:
        memory = fence(queue, memory, me, "at the room", acquire=True)
    shared = {"wrong": "overwrite" if me.end - sight.complete > queue.depth else ""}
    for written in stores_of_requests(queue, memory, me):
        waits = False
        for ready, memory in written.load(me.thread, READY_WORD):
            if ready.end == me.base:
                yield from decide(queue, sight, me, memory, me.at(TURN, ready=ready), shared)
            elif not waits:
                waits = True
                memory = fence(queue, written, me, "before the wait", release=True)
                yield me.at(TURN), memory, shared


def stores_of_requests(queue, memory, me):
    memories = [memory]
    for wqebb in range(me.base, me.end):
        slot = SLOTS + wqebb % queue.depth
        request = Request(me.base, me.end, me.op.tail)
        memories = [after for before in memories
                    for after in before.store(me.thread, slot, request)]
    return memories


def take_turn(queue, sight, me):
    for ready, memory in sight.memory.load(me.thread, READY_WORD):
        if ready.end == me.base:
            poster = me.at(TURN, ready=ready, waited=True)
            yield from decide(queue, sight, me, memory, poster, {})


def duty(queue, me, ready):
    """Whether this submission owes a doorbell: its own, or one that was passed on to it."""
    return not me.op.more or (ready.owed and "owed dropped" not in queue.faults)


def decide(queue, sight, me, memory, poster, shared):
    before = me.base if "edge from the end" in queue.faults else poster.ready.target
    edge = before // queue.batch != me.end // queue.batch and "no edge" not in queue.faults
    is_due = duty(queue, me, poster.ready)
    # A late load of `resv` finds the thread's own addition, and none of a later poster.
    for is_last in {sight.resv == me.end, sight.resv == me.end or queue.is_weak}:
        posts_doorbell = edge or is_due and is_last
        yield poster._replace(step=doorbell_steps(queue)[0] if posts_doorbell else PASS_ON), memory, shared


def doorbell_steps(queue):
    if "record after the doorbell" in queue.faults:
        return DOORBELL, RECORD, PUBLISH
    if "published before the doorbell" in queue.faults:
        return RECORD, PUBLISH, DOORBELL
    return RECORD, DOORBELL, PUBLISH


def after_doorbell_step(queue, me):
    """The poster after one of the three doorbell steps."""
    steps = doorbell_steps(queue)
    following = steps.index(me.poster.step) + 1
    return me.at(steps[following]) if following < len(steps) else committed(queue, me)


def write_record(queue, sight, me):
    memory = fence(queue, sight.memory, me, "before the record", True, True)
    if "no record" in queue.faults:
        yield after_doorbell_step(queue, me), memory, {}
    else:
        for memory in memory.store(me.thread, RECORD_WORD, me.end):
            yield after_doorbell_step(queue, me), memory, {}


def write_doorbell(queue, sight, me):
    before = fence(queue, sight.memory, me, "before the doorbell", release=True)
    for memory in before.store(me.thread, DOORBELL_WORD, me.end):
        passed = before.newest(DOORBELL_WORD) > me.end or memory.newest(DOORBELL_WORD) != me.end
        yield after_doorbell_step(queue, me), memory, {"wrong": "doorbell goes back" if passed else ""}


def publish(queue, sight, me):
    release = "published relaxed" not in queue.faults
    for memory in sight.memory.store(me.thread, READY_WORD, Ready(me.end, False, me.op.tail),
                                     release=release):
        yield after_doorbell_step(queue, me), memory, {}


def pass_on(queue, sight, me):
    memory = sight.memory
    if not me.poster.waited:
        memory = fence(queue, memory, me, "before passing on", release=True)
    ready = Ready(me.end, duty(queue, me, me.poster.ready), me.op.tail)
    if "passed on by a store" in queue.faults:
        for memory in memory.store(me.thread, READY_WORD, ready):
            yield committed(queue, me), memory, {}
        return
    for before, memory in memory.update(me.thread, READY_WORD, lambda _: ready):
        # The code adds the difference to the value that the holder has read: no other thread moves it.
        moved = "" if before == me.poster.ready else "ready moved under its holder"
        yield committed(queue, me), memory, {"wrong": moved}


def committed(queue, me):
    if not me.op.wait:
        return Poster(me.poster.op + 1)
    lag = 0 if "waits for the end" in queue.faults else me.op.tail
    return Poster(me.poster.op, COMPLETION, target=me.end - lag)


def complete(queue, sight, me):
    memory = await_word(sight.memory, me, DONE_WORD, lambda done: done >= me.poster.target)
    if memory is not None:
        early = sight.complete < me.poster.target
        yield Poster(me.poster.op + 1), memory, {"wrong": "early" if early else ""}


STEPS = {RESERVE: reserve, ROOM: write, TURN: take_turn, RECORD: write_record,
         DOORBELL: write_doorbell, PUBLISH: publish, PASS_ON: pass_on, COMPLETION: complete}
