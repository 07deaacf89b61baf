"""Results that come back into the queue's own memory, as device/path/nic/fetch.cuh takes them.

The queue has one WQEBB, and so one slot. A poster waits until the request before is complete and its reader
has the result; then it posts. The NIC writes the result and moves `done`. The reader waits for `done`, takes
the result and frees the slot.

The slot's word is `busy`: 1 from before the request until the reader has the value. With `counts_laps` it is
the number of results taken instead: no poster that waits for this number is misled by an old value.

`check` returns the first thing that must not happen: "result late", "result overwritten", a deadlock.
"""

from typing import NamedTuple

from memory import Weak
from search import explore, of_parts


class Slot(NamedTuple):
    threads: int = 2
    fetches: int = 2            # of each thread
    counts_laps: bool = False
    by_the_letter: bool = False  # PTX's rules alone: memory.py
    faults: frozenset = frozenset()


class Fetch(NamedTuple):
    number: int = 0             # of this thread's fetches
    step: str = "reserve"
    base: int = 0


@of_parts
class State(NamedTuple):
    fetches: tuple
    memory: Weak
    resv: int = 0
    complete: int = 0
    wrong: str = ""


DONE, WORD, REQUEST, RESULT = range(4)


def nic_moves(state):
    nic = len(state.fetches)
    for request, memory in state.memory.load(nic, REQUEST, acquire=True):
        if request == state.complete:
            for filled in memory.store(nic, RESULT, request):
                # As in completion_queue.py: a thread that acquires `done` has the result.
                for completed in filled.store(nic, DONE, request + 1, release=True):
                    yield state._replace(memory=completed.trimmed(), complete=request + 1)


def thread_moves(slot, state, thread):
    fetch = state.fetches[thread]
    for after, memory, changes in STEPS[fetch.step](slot, state, thread, fetch):
        if after.number == slot.fetches:
            memory = memory.leave(thread)
        fetches = state.fetches[:thread] + (after,) + state.fetches[thread + 1:]
        yield state._replace(fetches=fetches, memory=memory.trimmed(), **changes)


def fence(slot, memory, thread, where, acquire=False, release=False):
    planted = f"no fence {where}" in slot.faults
    return memory if planted else memory.fence(thread, acquire=acquire, release=release)


def await_done(state, thread, target):
    for done, memory in state.memory.load(thread, DONE):
        if done >= target:
            yield memory


# Each step yields (fetch after, memory after, what else changes).


def reserve(slot, state, thread, fetch):
    yield fetch._replace(step="room", base=state.resv), state.memory, {"resv": state.resv + 1}


def await_room(slot, state, thread, fetch):
    for memory in await_done(state, thread, fetch.base):
        # So the word loaded next is not older: the poster before set it before its request.
        if not slot.counts_laps:
            memory = fence(slot, memory, thread, "at the room", acquire=True)
        yield fetch._replace(step="slot"), memory, {}


def await_reader(slot, state, thread, fetch):
    free = fetch.base if slot.counts_laps else 0
    for word, memory in state.memory.load(thread, WORD):
        if word != free:
            continue
        taken = [memory] if slot.counts_laps else memory.store(thread, WORD, 1)
        for after in taken:
            yield fetch._replace(step="post"), after, {}


def post(slot, state, thread, fetch):
    memory = fence(slot, state.memory, thread, "at the turn", release=True)
    for after in memory.store(thread, REQUEST, fetch.base):
        yield fetch._replace(step="result"), after, {}


def await_result(slot, state, thread, fetch):
    for memory in await_done(state, thread, fetch.base + 1):
        memory = fence(slot, memory, thread, "at the result", acquire=True)
        yield fetch._replace(step="take"), memory, {}
        if "freed relaxed" in slot.faults:  # then the store may come before the load of the result
            yield fetch._replace(step="free early"), memory, {}


def wrong_result(state, thread, fetch):
    found = set(state.memory.readable(thread, RESULT))
    if found == {fetch.base}:
        return ""
    return "result overwritten" if max(found) > fetch.base else "result late"


def take(slot, state, thread, fetch):
    yield fetch._replace(step="free"), state.memory, {"wrong": wrong_result(state, thread, fetch)}


def free(slot, state, thread, fetch):
    following = Fetch(fetch.number + 1) if fetch.step == "free" else fetch._replace(step="take late")
    release = "freed relaxed" not in slot.faults
    word = fetch.base + 1 if slot.counts_laps else 0
    for memory in state.memory.store(thread, WORD, word, release=release):
        yield following, memory, {}


def take_late(slot, state, thread, fetch):
    yield Fetch(fetch.number + 1), state.memory, {"wrong": wrong_result(state, thread, fetch)}


STEPS = {"reserve": reserve, "room": await_room, "slot": await_reader, "post": post,
         "result": await_result, "take": take, "free": free, "free early": free,
         "take late": take_late}


def moves(slot, state):
    yield from nic_moves(state)
    for thread, fetch in enumerate(state.fetches):
        if fetch.number < slot.fetches:
            yield from thread_moves(slot, state, thread)


def verdict(slot, state, last):
    if state.wrong or not last:
        return state.wrong
    return "deadlock" if any(fetch.number < slot.fetches for fetch in state.fetches) else ""


def check(slot):
    """(what is wrong or "", states seen)"""
    memory = Weak.of((0, 0, -1, -1), slot.threads + 1, slot.by_the_letter)
    return explore(State((Fetch(),) * slot.threads, memory), lambda state: moves(slot, state),
                   lambda state, last: verdict(slot, state, last))
