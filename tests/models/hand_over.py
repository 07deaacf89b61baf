"""A freshly connected peer is handed to kernels: design of the connection on demand.

Two PEs. A kernel's thread that finds the peer unusable asks (a flag for the peer, then a summary word), waits until it is
usable or gives up, reads the peer's table entry and posts. The host of each PE takes the summary, looks at the flag, makes a
queue pair, shows its card, and goes through the states by which neither side sends before the other can take it:
receive, tell, be told, send, fill the table, publish. A host also begins when it sees the other's card: both may ask at once.

What must not happen: a post that reads an entry not filled, by a queue pair that cannot send, or to one that cannot receive; a
queue pair made twice; somebody who waits for ever."""

from typing import NamedTuple

from search import explore, of_parts

NONE, MADE, RECEIVES, SENDS = range(4)


class Job(NamedTuple):
    threads: tuple = (2, 1)  # that post, on each PE
    give_up: bool = False
    faults: frozenset = frozenset()


@of_parts
class Pe(NamedTuple):
    threads: tuple  # where each one is
    host: str = "idle"
    asked: bool = False
    summary: bool = False
    queue: int = NONE
    card: bool = False
    told: bool = False  # the other: I can receive
    filled: bool = False
    usable: bool = False
    wrong: str = ""


def thread_moves(job, me, other):
    flag, wake = ("summary", "asked") if "summary before flag" in job.faults else ("asked", "summary")
    for i, at in enumerate(me.threads):
        def go(to, **changes):
            return me._replace(threads=me.threads[:i] + (to,) + me.threads[i + 1:], **changes)

        if at == "look":
            yield go("read" if me.usable else "ask")
        elif at == "ask":
            yield go("wake", **{flag: True})
        elif at == "wake":
            yield go("wait", **{wake: True})
        elif at == "wait":
            if me.usable:
                yield go("read")
            if job.give_up:
                yield go("left")
        elif at == "read":
            yield go("post", wrong="" if me.filled else "entry not filled")
        elif at == "post":
            wrong = "" if other.queue >= RECEIVES else "peer cannot receive"
            yield go("done", wrong=wrong if me.queue == SENDS else "queue cannot send")


def host_moves(job, me, other):
    if me.host == "idle":
        if me.summary:
            yield me._replace(host="look", summary=False)
        if other.card and (me.queue == NONE or "begins again" in job.faults):
            yield me._replace(host="make")
    elif me.host == "look":
        asks = me.asked and (me.queue == NONE or "begins again" in job.faults)
        yield me._replace(host="make" if asks else "idle")
    elif me.host == "make":
        yield me._replace(host="offer", queue=MADE, wrong="made twice" if me.queue != NONE else "")
    elif me.host == "offer":
        yield me._replace(host="meet", card=True)
    elif me.host == "meet":
        if other.card:
            yield me._replace(host="tell", queue=RECEIVES)
    elif me.host == "tell":
        yield me._replace(host="be told", told=True)
    elif me.host == "be told":
        if other.told or "does not wait for the peer" in job.faults:
            yield me._replace(host="send")
    elif me.host == "send":
        yield me._replace(host="fill", queue=SENDS)
    elif me.host == "fill":
        if "published before filled" in job.faults:
            yield me._replace(host="fill late", usable=True)
        else:
            yield me._replace(host="publish", filled=True)
    elif me.host == "fill late":
        yield me._replace(host="idle", filled=True)
    elif me.host == "publish":
        yield me._replace(host="idle", usable=True)


def moves(job, state):
    for i in (0, 1):
        me, other = state[i], state[1 - i]
        for after in (*thread_moves(job, me, other), *host_moves(job, me, other)):
            yield (after, other) if i == 0 else (other, after)


def verdict(state, is_end):
    for pe in state:
        if pe.wrong:
            return pe.wrong
    waits = any(at not in ("done", "left") for pe in state for at in pe.threads)
    return "waits for ever" if is_end and waits else ""


def check(job):
    """(what is wrong or "", states)"""
    start = tuple(Pe(threads=("look",) * n) for n in job.threads)
    return explore(start, lambda state: moves(job, state), verdict)
