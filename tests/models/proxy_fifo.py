"""A FIFO of requests to the proxy, as proxy/README.md designs it.

A poster stores its data, takes a place by an atomic add, waits for room, fences, and stores its request into the slot, word
by word: each word says in which lap it was written (one bit: the lap's parity), so that the slot is valid when all of its words
are, and nobody clears it. The proxy takes slots in their order, reads the data that the request names, writes the result where the
request says, and tells `done`, the one word that posters read of it. They keep a copy of it, `seen`, which whoever polls moves
on: in the GPU's memory it costs nobody a read of the host's. A poster that waits for its result changes its data after that.

`check` returns the first thing that must not happen: "torn", "old request", "data late", "data changed", "result late", a
deadlock.
"""

from typing import NamedTuple

from memory import Weak
from search import explore, of_parts


class Fifo(NamedTuple):
    threads: int = 2
    requests: int = 2           # of each
    depth: int = 1              # slots
    words: int = 2              # of a slot
    by_the_letter: bool = False  # of PTX: memory.py
    acquires_room: bool = False
    faults: frozenset = frozenset()

    def word(self, index, number):
        return FIRST + self.threads * 2 + index % self.depth * self.words + number

    def lap(self, index):
        return index // self.depth % 2


class Poster(NamedTuple):
    number: int = 0             # of this thread's requests
    step: str = "data"
    base: int = 0
    word: int = 0


class Proxy(NamedTuple):
    index: int = 0
    step: str = "words"
    read: tuple = ()


@of_parts
class State(NamedTuple):
    posters: tuple
    proxy: Proxy
    memory: Weak
    owners: tuple = ()          # of the places taken: (thread, number)
    wrong: str = ""


DONE, SEEN, FIRST = 0, 1, 2


def data_of(thread):
    return FIRST + thread * 2


def result_of(thread):
    return FIRST + thread * 2 + 1


def fence(fifo, memory, thread, where, acquire=False, release=False):
    planted = f"no fence {where}" in fifo.faults
    return memory if planted else memory.fence(thread, acquire=acquire, release=release)


# ---- The poster. Each step yields (poster after, memory after, what else changes). --------------


def store_data(fifo, state, thread, poster):
    for memory in state.memory.store(thread, data_of(thread), poster.number + 1):
        yield poster._replace(step="reserve"), memory, {}


def reserve(fifo, state, thread, poster):
    taken = {"owners": state.owners + ((thread, poster.number),)}
    waits = "no room wait" not in fifo.faults and len(state.owners) >= fifo.depth
    yield poster._replace(step="room" if waits else "fence", base=len(state.owners)), state.memory, taken


def told(fifo, state, thread, target):
    """Waits until `seen` has reached the target; a look at `done` moves it on."""
    for seen, memory in state.memory.load(thread, SEEN):
        if seen >= target:
            yield True, memory
    release = "seen told relaxed" not in fifo.faults
    acquire = "done not acquired" not in fifo.faults
    for done, memory in state.memory.load(thread, DONE, acquire=acquire):
        for _, after in memory.update(thread, SEEN, lambda seen: done if done > seen else None, release=release):
            if after is not memory and after != state.memory:
                yield False, after


def await_room(fifo, state, thread, poster):
    for is_there, memory in told(fifo, state, thread, poster.base + 1 - fifo.depth):
        if is_there and fifo.acquires_room:
            memory = memory.fence(thread, acquire=True)
        yield poster._replace(step="fence" if is_there else "room"), memory, {}


def before_the_request(fifo, state, thread, poster):
    memory = fence(fifo, state.memory, thread, "before the request", release=True)
    yield poster._replace(step="write"), memory, {}


def write(fifo, state, thread, poster):
    value = (fifo.lap(poster.base), (thread, poster.number))
    for memory in state.memory.store(thread, fifo.word(poster.base, poster.word), value):
        last = poster.word + 1 == fifo.words
        yield poster._replace(step="result" if last else "write", word=0 if last else poster.word + 1), memory, {}


def await_result(fifo, state, thread, poster):
    for is_there, memory in told(fifo, state, thread, poster.base + 1):
        if not is_there:
            yield poster, memory, {}
            continue
        memory = fence(fifo, memory, thread, "at the result", acquire=True)
        found = set(memory.readable(thread, result_of(thread)))
        yield Poster(poster.number + 1), memory, {"wrong": "" if found == {poster.number + 1} else "result late"}


STEPS = {"data": store_data, "reserve": reserve, "room": await_room, "fence": before_the_request, "write": write,
         "result": await_result}


def poster_moves(fifo, state, thread):
    poster = state.posters[thread]
    for after, memory, changes in STEPS[poster.step](fifo, state, thread, poster):
        if after.number == fifo.requests:
            memory = memory.leave(thread)
        posters = state.posters[:thread] + (after,) + state.posters[thread + 1:]
        yield state._replace(posters=posters, memory=memory.trimmed(), **changes)


# ---- The proxy ----------------------------------------------------------------------------------


def read_word(fifo, state):
    me, proxy = fifo.threads, state.proxy
    for value, memory in state.memory.load(me, fifo.word(proxy.index, len(proxy.read))):
        if value is None:
            continue
        lap, request = value
        has_lap = len(proxy.read) == 0 or "one lap bit a slot" not in fifo.faults
        if has_lap and lap != fifo.lap(proxy.index) and "no lap bit" not in fifo.faults:
            continue
        read = proxy.read + (request,)
        if len(read) < fifo.words:
            yield state._replace(proxy=proxy._replace(read=read), memory=memory.trimmed())
            continue
        yield taken(fifo, state._replace(proxy=proxy._replace(read=read), memory=memory))


def taken(fifo, state):
    """All words are there: is it the request that took this place?"""
    proxy = state.proxy
    owner = state.owners[proxy.index] if proxy.index < len(state.owners) else None
    if len(set(proxy.read)) > 1:
        return state._replace(wrong="torn")
    if proxy.read[0] != owner:
        return state._replace(wrong="old request")
    memory = fence(fifo, state.memory, fifo.threads, "behind the words", acquire=True)
    step = "tell early" if "told before it is done" in fifo.faults else "carry out"
    return state._replace(proxy=proxy._replace(step=step), memory=memory.trimmed())


def carry_out(fifo, state):
    me, proxy = fifo.threads, state.proxy
    thread, number = proxy.read[0]
    found = set(state.memory.readable(me, data_of(thread)))
    wrong = "" if found == {number + 1} else "data changed" if max(found) > number + 1 else "data late"
    for memory in state.memory.store(me, result_of(thread), number + 1):
        after = Proxy(proxy.index + 1) if proxy.step == "carry out late" else proxy._replace(step="tell")
        yield state._replace(proxy=after, memory=memory.trimmed(), wrong=wrong)


def tell(fifo, state):
    me, proxy = fifo.threads, state.proxy
    release = "done told relaxed" not in fifo.faults
    for memory in state.memory.store(me, DONE, proxy.index + 1, release=release):
        after = Proxy(proxy.index + 1) if proxy.step == "tell" else proxy._replace(step="carry out late")
        yield state._replace(proxy=after, memory=memory.trimmed())


PROXY_STEPS = {"words": read_word, "carry out": carry_out, "tell": tell, "tell early": tell, "carry out late": carry_out}


# ---- The whole ----------------------------------------------------------------------------------


def moves(fifo, state):
    if state.wrong:
        return
    yield from PROXY_STEPS[state.proxy.step](fifo, state)
    for thread, poster in enumerate(state.posters):
        if poster.number < fifo.requests:
            yield from poster_moves(fifo, state, thread)


def verdict(fifo, state, last):
    if state.wrong or not last:
        return state.wrong
    return "deadlock" if any(poster.number < fifo.requests for poster in state.posters) else ""


def check(fifo):
    """(what is wrong or "", states seen)"""
    values = (0, 0) + (0,) * (fifo.threads * 2) + (None,) * (fifo.depth * fifo.words)
    memory = Weak.of(values, fifo.threads + 1, fifo.by_the_letter)
    return explore(State((Poster(),) * fifo.threads, Proxy(), memory), lambda state: moves(fifo, state),
                   lambda state, last: verdict(fifo, state, last))
