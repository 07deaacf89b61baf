"""What the model of a way that is handed over to kernels (hand_over.py) is made of."""

from typing import NamedTuple

from memory import Strong, Weak
from search import of_parts


class Job(NamedTuple):
    peers: tuple = (0, 0)       # of each thread: whom it touches
    watchers: int = 0           # threads that look, at any time, which channels are touched
    syncs: bool = False         # the last thread has a quiet behind the post of thread 0
    may_refuse: bool = False    # the host may find that there is no way
    may_share: bool = False     # it may find no way of the peer's own, but one that leads to many
    unasked: bool = False       # it may answer before anybody asks
    give_up: bool = False       # threads may leave while they wait for the answer
    is_weak: bool = True
    faults: frozenset = frozenset()

    def count(self):
        return max(self.peers) + 1


FILLED, REFUSED, SHARED = 1, 2, 3       # what is told of a peer; 0: nothing yet

ASKED, WANTED, TOUCHED, POSTED, FIRST = range(5)    # and of each peer:
ANSWER, ENTRY, CLAIM, CHANNEL, OPENED = range(5)


def word(peer, which):
    return FIRST + 5 * peer + which


class Host(NamedTuple):
    step: str = "idle"
    seen: int = 0               # of `asked`
    taken: frozenset = frozenset()  # bits that it has found
    bits: frozenset = frozenset()   # of these, whose way it has not looked at
    peer: int = 0               # whose way it opens
    answered: frozenset = frozenset()


@of_parts
class State(NamedTuple):
    threads: tuple              # the step that each one takes next
    host: Host
    memory: Strong | Weak
    carried: frozenset = frozenset()    # peers
    wrong: str = ""


class Access:
    """What a thread of `job` does to memory: orders may be left out by faults named for them."""

    def __init__(self, job, memory, me):
        self.job, self.memory, self.me = job, memory, me

    def load(self, location, order=None):
        return self.memory.load(self.me, location, acquire=self._has(order))

    def store(self, location, value, order=None):
        return self.memory.store(self.me, location, value, release=self._has(order))

    def update(self, location, change, order=None):
        return self.memory.update(self.me, location, change, release=self._has(order))

    def finds_only(self, location, wanted):
        return all(wanted(value) for value in self.memory.readable(self.me, location))

    def _has(self, order):
        return order is not None and f"{order} relaxed" not in self.job.faults
