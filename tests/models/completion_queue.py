"""Reading completions, as device/path/nic/complete.cuh does: several pollers, one NIC, a short index.

The NIC writes a CQE per request, in order; posters keep at most `depth` requests between `done` and the
last posted. A poller takes one access to shared memory per step. From request `fails` on they fail or are
flushed: their CQEs move `failed`, and `done` stands still. `through`, the larger of the two, is how far the
NIC touches no memory of requests any more: by it a staging slot that was left to the NIC is taken again.

`check` returns the first thing that must not happen: "too far" (`through` passes what has ended), "no data"
(done passes what has failed) or "stuck" (all has ended and is written, and polling on does not bring
`through` there).

Where `done` is loaded matters, and differs: before a CQE that others overwrite, because it must not be
ahead of it; after a CQE that only one poller takes, because it must not be far behind it.
"""

from typing import NamedTuple

from search import explore


class Queue(NamedTuple):
    ring: bool              # a ring of CQEs with owner bits; else one that each completion overwrites
    depth: int
    cqes: int               # of the ring
    total: int              # requests in all
    wrap: int = 16          # indices that a CQE can tell: 4 bits
    pollers: int = 2
    fails: int | None = None  # the first request that does
    faults: frozenset = frozenset()


class Poller(NamedTuple):
    step: str = "idle"
    seen: int = 0           # `done` as loaded
    index: int = 0          # CQEs taken as loaded (ring)
    counter: int = 0        # of the CQE
    is_error: bool = False


class State(NamedTuple):
    pollers: tuple
    complete: int = 0       # requests that have ended, well or not
    done: int = 0
    failed: int = 0
    taken: int = 0          # CQEs (ring)
    wrong: str = ""


def nic_cqe(queue, complete, entry):
    """(counter, is an error, lap) of the newest CQE in `entry`, None if there was none. Request i has
    counter i."""
    newest = complete - 1 - (complete - 1 - entry) % queue.cqes
    if not 0 <= newest < complete:
        return None
    return newest % queue.wrap, queue.fails is not None and newest >= queue.fails, newest // queue.cqes


def first_step(queue):
    early = "cqe before done" if not queue.ring else "done before cqe"
    steps = ("taken", "done") if queue.ring else ("done", "cqe")
    return steps[early in queue.faults]


def advanced(queue, seen, counter):
    """What a CQE with `counter` says of `done`, of which `seen` is known; `seen` if it says nothing."""
    ahead = (counter + 1 - seen) % queue.wrap
    if ahead > queue.depth and "no stale check" not in queue.faults:
        return seen
    return seen + ahead


def news(queue, state, poller):
    """What a poller changes who has read a CQE."""
    to = advanced(queue, poller.seen, poller.counter)
    if not poller.is_error or "failure counted as done" in queue.faults:
        return {"done": max(state.done, to)}
    if "failure not counted" in queue.faults:
        return {}
    if "failure ends those behind" in queue.faults:
        to = state.done + queue.depth
    return {"failed": max(state.failed, to)}


def collapsed_step(queue, state, poller):
    """(poller after, changes of shared state)"""
    if poller.step == "done":
        after = "max" if "cqe before done" in queue.faults else "cqe"
        return poller._replace(step=after, seen=state.done), {}
    if poller.step == "cqe":
        if state.complete == 0:
            return Poller(), {}
        after = "done" if "cqe before done" in queue.faults else "max"
        counter, is_error, _ = nic_cqe(queue, state.complete, 0)
        return poller._replace(step=after, counter=counter, is_error=is_error), {}
    return Poller(), news(queue, state, poller)


def ring_step(queue, state, poller):
    early = "done before cqe" in queue.faults
    if poller.step == "done":
        return poller._replace(step="taken" if early else "take", seen=state.done), {}
    if poller.step == "taken":
        return poller._replace(step="cqe", index=state.taken), {}
    if poller.step == "cqe":
        cqe = nic_cqe(queue, state.complete, poller.index % queue.cqes)
        lap = poller.index // queue.cqes
        if cqe is None or (cqe[2] - lap) % 2 != 0 and "owner ignored" not in queue.faults:
            return Poller(), {}
        return poller._replace(step="take" if early else "done", counter=cqe[0],
                               is_error=cqe[1]), {}
    if poller.step == "take":
        if state.taken != poller.index and "no compare" not in queue.faults:
            return Poller(), {}
        return poller._replace(step="max"), {"taken": poller.index + 1}
    return Poller(), news(queue, state, poller)


def poll(queue, state, which):
    """The state after the next step of one poller."""
    poller = state.pollers[which]
    if poller.step == "idle":
        poller = poller._replace(step=first_step(queue))
    after, shared = (ring_step if queue.ring else collapsed_step)(queue, state, poller)
    pollers = state.pollers[:which] + (after,) + state.pollers[which + 1:]
    return state._replace(pollers=pollers, **shared)


def moves(queue, state):
    if state.complete < min(queue.total, state.done + queue.depth):
        yield state._replace(complete=state.complete + 1)
    for which in range(queue.pollers):
        yield poll(queue, state, which)


def through(state):
    return max(state.done, state.failed)


def gets_there(queue, state):
    """Whether one poller, left alone, brings `through` to what has ended."""
    while True:
        before = state
        for _ in range(5):      # a whole poll, at most
            state = poll(queue, state, 0)
            if state.pollers[0].step == "idle":
                break
        if through(state) >= state.complete:
            return True
        if state == before:
            return False


def verdict(queue, state):
    if through(state) > state.complete:
        return "too far"
    if queue.fails is not None and state.done > queue.fails:
        return "no data"
    idle = all(poller.step == "idle" for poller in state.pollers)
    return "stuck" if idle and not gets_there(queue, state) else ""


def check(queue):
    start = State(pollers=(Poller(),) * queue.pollers)
    return explore(start, lambda state: moves(queue, state), lambda state, _: verdict(queue, state))
