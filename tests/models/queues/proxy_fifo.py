"""A FIFO of requests to the proxy, as device/path/proxy/README.md designs it.

A poster takes an answer and stores its data. It reserves a slot by an atomic add, waits for room, and fences. Then it stores its
request into the slot, word by word. Each word holds the parity of the lap in which it was written: the slot is valid when all its
words have this lap's parity, and no agent clears it. The proxy takes slots in their order, and counts in `taken` those it has read.
It ends requests in any order: it reads the data that the request names, writes the value into the answer, and then which request has
ended. The poster waits for its own request, takes the value, frees the answer, and only then changes its data.

`check` returns the first thing that must not happen: "torn", "old request", "data late", "data changed", "value late", "value
changed", a deadlock.
"""

from typing import NamedTuple

from memory import Weak
from search import explore, of_parts


class Fifo(NamedTuple):
    threads: int = 2
    requests: int = 2           # of each thread
    depth: int = 1              # slots
    answers: int = 1
    words: int = 2              # of a slot
    silent: int = -1            # the thread whose requests never end
    by_the_letter: bool = False  # PTX's rules alone: memory.py
    acquires_room: bool = False
    faults: frozenset = frozenset()

    def has(self, fault):
        return fault in self.faults

    def data(self, thread):
        return FIRST + thread

    def busy(self, answer):
        return FIRST + self.threads + 3 * answer

    def ended(self, answer):
        return self.busy(answer) + 1

    def value(self, answer):
        return self.busy(answer) + 2

    def word(self, index, number):
        return FIRST + self.threads + 3 * self.answers + index % self.depth * self.words + number

    def lap(self, index):
        return index // self.depth % 2


class Poster(NamedTuple):
    number: int = 0             # of this thread's requests
    step: str = "answer"
    answer: int = 0
    base: int = 0
    word: int = 0


class UnderWay(NamedTuple):
    index: int
    request: tuple              # thread, number, answer
    step: str = "carry out"


class Proxy(NamedTuple):
    index: int = 0
    step: str = "words"
    read: tuple = ()
    under_way: tuple = ()


@of_parts
class State(NamedTuple):
    posters: tuple
    proxy: Proxy
    memory: Weak
    owners: tuple = ()          # of the reserved slots: (thread, number, answer)
    wrong: str = ""


TAKEN, FIRST = 0, 1


def fence(fifo, memory, thread, where, acquire=False, release=False):
    return memory if fifo.has(f"no fence {where}") else memory.fence(thread, acquire=acquire, release=release)


# ---- The poster. Each step yields (poster after, memory after, what else changes). --------------


def take_answer(fifo, state, thread, poster):
    for answer in range(fifo.answers):
        for busy, memory in state.memory.update(thread, fifo.busy(answer), lambda busy: 1 if busy == 0 else None):
            if busy != 0:
                continue
            memory = memory.fence(thread, acquire=True)
            yield poster._replace(step="data", answer=answer), memory, {}


def store_data(fifo, state, thread, poster):
    for memory in state.memory.store(thread, fifo.data(thread), poster.number + 1):
        yield poster._replace(step="reserve"), memory, {}


def reserve(fifo, state, thread, poster):
    taken = {"owners": state.owners + ((thread, poster.number, poster.answer),)}
    waits = not fifo.has("no room wait") and len(state.owners) >= fifo.depth
    yield poster._replace(step="room" if waits else "fence", base=len(state.owners)), state.memory, taken


def await_room(fifo, state, thread, poster):
    for taken, memory in state.memory.load(thread, TAKEN, acquire=fifo.acquires_room):
        if taken >= poster.base + 1 - fifo.depth:
            yield poster._replace(step="fence"), memory, {}


def before_the_request(fifo, state, thread, poster):
    memory = fence(fifo, state.memory, thread, "before the request", release=True)
    yield poster._replace(step="write"), memory, {}


def write(fifo, state, thread, poster):
    value = (fifo.lap(poster.base), (thread, poster.number, poster.answer))
    for memory in state.memory.store(thread, fifo.word(poster.base, poster.word), value):
        last = poster.word + 1 == fifo.words
        yield poster._replace(step="end" if last else "write", word=0 if last else poster.word + 1), memory, {}


def await_end(fifo, state, thread, poster):
    for ended, memory in state.memory.load(thread, fifo.ended(poster.answer), acquire=not fifo.has("end not acquired")):
        if ended == poster.base + 1 or (fifo.has("any end believed") and ended != 0):
            yield poster._replace(step="free" if fifo.has("freed before it is read") else "value"), memory, {}


def take_value(fifo, state, thread, poster):
    expected = (thread, poster.number)
    found = state.memory.readable(thread, fifo.value(poster.answer))  # oldest first
    after = Poster(poster.number + 1) if poster.step == "value late" else poster._replace(step="free")
    wrong = "" if set(found) == {expected} else "value changed" if found[0] == expected else "value late"
    yield after, state.memory, {"wrong": wrong}


def free_answer(fifo, state, thread, poster):
    after = poster._replace(step="value late") if fifo.has("freed before it is read") else Poster(poster.number + 1)
    for memory in state.memory.store(thread, fifo.busy(poster.answer), 0, release=True):
        yield after, memory, {}


STEPS = {"answer": take_answer, "data": store_data, "reserve": reserve, "room": await_room, "fence": before_the_request,
         "write": write, "end": await_end, "value": take_value, "free": free_answer, "value late": take_value}


def poster_moves(fifo, state, thread):
    poster = state.posters[thread]
    for after, memory, changes in STEPS[poster.step](fifo, state, thread, poster):
        if after.number == fifo.requests:
            memory = memory.leave(thread)
        posters = state.posters[:thread] + (after,) + state.posters[thread + 1:]
        yield state._replace(posters=posters, memory=memory.trimmed(), **changes)


# ---- The proxy: takes the next request, or ends one that it has taken ---------------------------


def read_word(fifo, state):
    me, proxy = fifo.threads, state.proxy
    for value, memory in state.memory.load(me, fifo.word(proxy.index, len(proxy.read))):
        if value is None:
            continue
        lap, request = value
        has_lap = len(proxy.read) == 0 or not fifo.has("one lap bit a slot")
        if has_lap and lap != fifo.lap(proxy.index) and not fifo.has("no lap bit"):
            continue
        read = proxy.read + (request,)
        if len(read) < fifo.words:
            yield state._replace(proxy=proxy._replace(read=read), memory=memory.trimmed())
            continue
        yield taken(fifo, state._replace(proxy=proxy._replace(read=read), memory=memory))


def taken(fifo, state):
    """All words are there: checks that they are the request that reserved this slot."""
    proxy = state.proxy
    owner = state.owners[proxy.index] if proxy.index < len(state.owners) else None
    if len(set(proxy.read)) > 1:
        return state._replace(wrong="torn")
    if proxy.read[0] != owner:
        return state._replace(wrong="old request")
    memory = fence(fifo, state.memory, fifo.threads, "behind the words", acquire=True)
    step = "end early" if fifo.has("ended before it is done") else "carry out"
    under_way = proxy.under_way + (UnderWay(proxy.index, proxy.read[0], step),)
    return state._replace(proxy=proxy._replace(step="count", under_way=under_way), memory=memory.trimmed())


def count_taken(fifo, state):
    proxy = state.proxy
    for memory in state.memory.store(fifo.threads, TAKEN, proxy.index + 1, release=True):
        after = Proxy(proxy.index + 1, under_way=proxy.under_way)
        yield state._replace(proxy=after, memory=memory.trimmed())


def carry_out(fifo, state, one):
    """Yields (step after, memory, wrong)."""
    me = fifo.threads
    thread, number, answer = one.request
    found = set(state.memory.readable(me, fifo.data(thread)))
    wrong = "" if found == {number + 1} else "data changed" if max(found) > number + 1 else "data late"
    for memory in state.memory.store(me, fifo.value(answer), (thread, number)):
        yield "over" if one.step == "carry out late" else "end", memory, wrong


def end(fifo, state, one):
    release = not fifo.has("end stored relaxed")
    for memory in state.memory.store(fifo.threads, fifo.ended(one.request[2]), one.index + 1, release=release):
        yield "carry out late" if one.step == "end early" else "over", memory, ""


def end_any(fifo, state):
    for place, one in enumerate(state.proxy.under_way):
        if one.request[0] == fifo.silent:
            continue
        step = carry_out if one.step in ("carry out", "carry out late") else end
        for after, memory, wrong in step(fifo, state, one):
            kept = () if after == "over" else (one._replace(step=after),)
            under_way = state.proxy.under_way[:place] + kept + state.proxy.under_way[place + 1:]
            yield state._replace(proxy=state.proxy._replace(under_way=under_way), memory=memory.trimmed(), wrong=wrong)


# ---- The whole ----------------------------------------------------------------------------------


def moves(fifo, state):
    if state.wrong:
        return
    yield from (read_word if state.proxy.step == "words" else count_taken)(fifo, state)
    yield from end_any(fifo, state)
    for thread, poster in enumerate(state.posters):
        if poster.number < fifo.requests:
            yield from poster_moves(fifo, state, thread)


def verdict(fifo, state, last):
    if state.wrong or not last:
        return state.wrong
    waits = [poster.number < fifo.requests for thread, poster in enumerate(state.posters) if thread != fifo.silent]
    return "deadlock" if any(waits) else ""


def check(fifo):
    """(what is wrong or "", states seen)"""
    values = (0,) + (0,) * fifo.threads + (0, 0, None) * fifo.answers + (None,) * (fifo.depth * fifo.words)
    memory = Weak.of(values, fifo.threads + 1, fifo.by_the_letter)
    return explore(State((Poster(),) * fifo.threads, Proxy(), memory), lambda state: moves(fifo, state),
                   lambda state, last: verdict(fifo, state, last))
