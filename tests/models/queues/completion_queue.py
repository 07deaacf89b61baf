"""Reading completions, as device/path/nic/completion.cuh does: several pollers, one NIC, a short index.

For each request, in order, the NIC writes data and then a CQE. Posters keep at most `depth` requests between
`done` and the last posted. A step of a poller is one access to shared memory, over one of the memories of
memory.py. From request `fails` on, requests fail or are flushed: their CQEs move `failed`, and `done` stays.
`through`, the larger of the two, says up to which request the NIC has finished with all memory. It decides
when a staging slot that was left to the NIC is free again.

`check` returns the first thing that must not happen:

    too far     `through` passes a request that has not ended
    no data     `done` passes a request that has failed
    data late   a thread finds in `done` what it waits for, and acquires, but does not find the data
    stuck       all requests have ended, with their CQEs written, but polling does not bring `through` there

A collapsed queue loads `done` before the CQE, which later completions overwrite: `done` must not be ahead of
the CQE. A ring loads `done` after the CQE, which only one poller takes: `done` must not be far behind it. A
round that finds nothing new has no fence: a poller acquires its first load only if it finds a value that the
poller has not acquired before. (The code fences once more where a collapsed CQE is older than `done`.)
"""

from functools import lru_cache
from typing import NamedTuple

from memory import Strong, Weak
from search import explore, of_parts


class Queue(NamedTuple):
    ring: bool              # a ring of CQEs with owner bits; else one CQE that each completion overwrites
    depth: int
    cqes: int               # of the ring
    total: int              # number of requests
    wrap: int = 16          # indices that a CQE can hold: 4 bits
    pollers: int = 2
    fails: int | None = None  # the first request that fails
    is_weak: bool = False
    faults: frozenset = frozenset()


class Cqe(NamedTuple):
    counter: int
    is_error: bool
    lap: int


NO_CQE = Cqe(-1, False, -1)


@of_parts
class Poller(NamedTuple):
    step: str = "idle"
    acquired: int = 0       # the value of a first load that it has acquired, in this poll or before
    seen: int = 0           # the value of `done` that it loaded
    index: int = 0          # the number of CQEs taken that it loaded (ring)
    cqe: Cqe = NO_CQE


@of_parts
class State(NamedTuple):
    pollers: tuple
    memory: Strong | Weak
    complete: int = 0       # requests that have ended, with success or failure


DONE, FAILED, TAKEN, DATA, CQES = range(5)


# ---- The NIC, and the posters that give it work ---------------------------------------------------


def nic_moves(queue, state):
    if state.complete == queue.total:
        return
    nic, request = queue.pollers, state.complete
    is_error = queue.fails is not None and request >= queue.fails
    cqe = Cqe(request % queue.wrap, is_error, request // queue.cqes)
    posted = next((memory for done, memory in state.memory.load(nic, DONE)
                   if request < done + queue.depth), None)
    if posted is None:
        return
    for filled in posted.store(nic, DATA, request + 1):
        in_order = "cqe overtakes data" not in queue.faults
        for memory in filled.store(nic, CQES + request % queue.cqes, cqe, release=in_order):
            yield state._replace(memory=memory.trimmed(), complete=request + 1)


# ---- A poll ---------------------------------------------------------------------------------------


def steps_of(queue):
    if not queue.ring:
        early = "cqe before done" in queue.faults
        return ("cqe", "done", "move") if early else ("done", "cqe", "move")
    if "done before cqe" in queue.faults:
        return "done", "taken", "cqe", "take", "move"
    return "taken", "cqe", "done", "take", "move"


def poll(queue, state, which):
    """The states after the next step of one poller. In the last of them it found the newest values."""
    # As in submit.py: many states share a step, except in weak memory.
    steps = poll_steps if queue.is_weak else remembered_poll_steps
    for after, memory in steps(queue, state.memory, which, state.pollers[which]):
        pollers = state.pollers[:which] + (after,) + state.pollers[which + 1:]
        yield state._replace(pollers=pollers, memory=memory)


def poll_steps(queue, memory, which, poller):
    steps = steps_of(queue)
    step = steps[0] if poller.step == "idle" else poller.step
    following = (*steps, "idle")[steps.index(step) + 1]
    results = []
    for after, found in STEPS[step](queue, memory, which, poller):
        if after is None or following == "idle":
            after = Poller(acquired=first_load(queue, after or poller))
        else:
            after = after._replace(step=following)
        results.append((after, found.trimmed()))
    return results


remembered_poll_steps = lru_cache(1 << 16)(poll_steps)


def first_load(queue, poller):
    """The value that the poller has acquired. Strong memory needs none: each load finds the newest value."""
    if not queue.is_weak:
        return 0
    return poller.index if queue.ring else poller.seen


# Each step yields (poller after, memory after); the poller is None if the poll ends here.


def load_done(queue, memory, which, poller):
    for seen, after in memory.load(which, DONE):
        if not queue.ring:
            after = acquire_if_new(queue, after, which, poller, seen)
        yield poller._replace(seen=seen), after


def load_taken(queue, memory, which, poller):
    for index, after in memory.load(which, TAKEN):
        after = acquire_if_new(queue, after, which, poller, index)
        yield poller._replace(index=index), after


def acquire_if_new(queue, memory, which, poller, value):
    """Acquires the first load, so that the CQE loaded next is not older than the value it found."""
    acquire = value != poller.acquired and "first load not acquired" not in queue.faults
    return memory.fence(which, acquire=acquire)


def load_cqe(queue, memory, which, poller):
    for cqe, after in memory.load(which, CQES + poller.index % queue.cqes):
        if says_something(queue, poller, cqe):
            after = after.fence(which, acquire="cqe not acquired" not in queue.faults,
                                release="moved without a release" not in queue.faults)
            yield poller._replace(cqe=cqe), after
        else:
            yield None, after


def says_something(queue, poller, cqe):
    if cqe == NO_CQE:
        return False
    if queue.ring:
        is_of_this_lap = (cqe.lap - poller.index // queue.cqes) % 2 == 0
        return is_of_this_lap or "owner ignored" in queue.faults
    return "cqe before done" in queue.faults or advanced(queue, poller.seen, cqe) != poller.seen


def advanced(queue, seen, cqe):
    """What `done` becomes by a CQE, after `seen` was loaded; `seen` if the CQE says nothing new."""
    ahead = (cqe.counter + 1 - seen) % queue.wrap
    if ahead > queue.depth and "no stale check" not in queue.faults:
        return seen
    return seen + ahead


def take(queue, memory, which, poller):
    def next_one(taken):
        is_mine = taken == poller.index or "no compare" in queue.faults
        return poller.index + 1 if is_mine else None

    for taken, after in memory.update(which, TAKEN, next_one):
        yield poller if next_one(taken) is not None else None, after


def move(queue, memory, which, poller):
    to = advanced(queue, poller.seen, poller.cqe)
    word = DONE
    if poller.cqe.is_error and "failure counted as done" not in queue.faults:
        if "failure not counted" in queue.faults:
            yield None, memory
            return
        if "failure ends those behind" in queue.faults:
            to = memory.newest(DONE) + queue.depth
        word = FAILED
    for _, after in memory.update(which, word, lambda before: to if to > before else None):
        yield poller, after


STEPS = {"done": load_done, "taken": load_taken, "cqe": load_cqe, "take": take, "move": move}


# ---- The search -----------------------------------------------------------------------------------


def moves(queue, state):
    yield from nic_moves(queue, state)
    for which in range(queue.pollers):
        for after in poll(queue, state, which):
            if not queue.is_weak:   # pollers are alike: two states that differ by their order are one
                after = after._replace(pollers=tuple(sorted(after.pollers)))
            yield after


def through(state):
    return max(state.memory.newest(DONE), state.memory.newest(FAILED))


def gets_there(queue, state):
    """Whether one poller alone brings `through` to the last request that has ended."""
    while True:
        before = state
        for _ in steps_of(queue):
            *_, state = poll(queue, state, 0)
            if state.pollers[0].step == "idle":
                break
        if through(state) >= state.complete:
            return True
        if state == before:
            return False


def data_is_there(queue, state):
    """Whether a thread that loads `done` and then acquires finds the data of complete requests."""
    for which in range(queue.pollers):
        for done, memory in state.memory.load(which, DONE):
            memory = memory.fence(which, acquire="wait not acquired" not in queue.faults)
            if min(memory.readable(which, DATA)) < done:
                return False
    return True


def verdict(queue, state):
    if through(state) > state.complete:
        return "too far"
    if queue.fails is not None and state.memory.newest(DONE) > queue.fails:
        return "no data"
    if queue.is_weak and not data_is_there(queue, state):
        return "data late"
    is_idle = all(poller.step == "idle" for poller in state.pollers)
    return "stuck" if is_idle and not gets_there(queue, state) else ""


def check(queue):
    words = (0, 0, 0, 0) + (NO_CQE,) * queue.cqes
    memory = Weak.of(words, queue.pollers + 1, by_the_letter=True) if queue.is_weak else Strong(words)
    return explore(State((Poller(),) * queue.pollers, memory),
                   lambda state: moves(queue, state), lambda state, _: verdict(queue, state))
