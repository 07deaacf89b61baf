"""The states of the model of a path that a host hands over to kernels (hand_over.py)."""

from typing import NamedTuple

from memory import Strong, Weak
from search import of_parts


class Job(NamedTuple):
    peers: tuple = (0, 0)       # the peer that each thread touches
    watchers: int = 0           # threads that look, at any time, which channels are touched
    syncs: bool = False         # the last thread calls quiet after the post of thread 0
    may_refuse: bool = False    # the host may find that there is no path
    may_share: bool = False     # the host may find no path of the peer's own, but one that leads to many
    unasked: bool = False       # the host may answer before a thread asks
    give_up: bool = False       # threads may leave while they wait for the answer
    is_weak: bool = True
    faults: frozenset = frozenset()

    def count(self):
        return max(self.peers) + 1


FILLED, REFUSED, SHARED = 1, 2, 3       # values of the words of a peer; 0: nothing yet

ASKED, WANTED, TOUCHED, POSTED, FIRST = range(5)    # the memory's words; from FIRST on, for each peer:
ANSWER, ENTRY, CLAIM, CHANNEL, OPENED = range(5)


def word(peer, which):
    return FIRST + 5 * peer + which


class Host(NamedTuple):
    step: str = "idle"
    seen: int = 0               # the last value of `asked`
    taken: frozenset = frozenset()  # bits that it has found
    bits: frozenset = frozenset()   # those of them whose path it has still to open
    peer: int = 0               # the peer whose path it opens
    answered: frozenset = frozenset()


@of_parts
class State(NamedTuple):
    threads: tuple              # the step that each one takes next
    host: Host
    memory: Strong | Weak
    carried: frozenset = frozenset()    # peers
    wrong: str = ""


class Access:
    """The accesses of a thread of `job` to memory. A fault "<order> relaxed" leaves this order out."""

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
