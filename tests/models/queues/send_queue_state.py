"""The states of the model of the send queue (send_queue.py)."""

from typing import NamedTuple

from memory import Strong, Weak
from search import of_parts


class Op(NamedTuple):
    """One submission of a thread; with wqebbs 0 a quiet."""
    wqebbs: int
    more: bool = False      # the same call submits again: this submission needs no doorbell of its own
    wait: bool = False      # the thread waits for its completion
    tail: int = 0           # WQEBBs of its last request behind the first; the CQE names the first


QUIET = Op(0)


class Queue(NamedTuple):
    depth: int              # WQEBBs
    batch: int              # WQEBBs after which a poster posts a doorbell in any case
    is_weak: bool = False
    by_the_letter: bool = False  # PTX's rules alone: memory.py. Then the wait for room acquires
    looks_ahead: bool = True  # the NIC executes up to the record, which may be beyond the doorbell
    give_up: bool = False   # threads may leave at every wait (timeout, abort), and requests may fail
    faults: frozenset = frozenset()


class Ready(NamedTuple):
    end: int = 0
    owed: bool = False
    tail: int = 0

    @property
    def target(self):
        """What `done` reaches when all requests up to here are complete."""
        return self.end - self.tail


class Request(NamedTuple):
    base: int = -1
    end: int = -1
    tail: int = 0


RESERVE, ROOM, TURN, RECORD, DOORBELL, PUBLISH, PASS_ON, COMPLETION, LEFT = range(9)
WAITS = (ROOM, TURN, COMPLETION)


@of_parts
class Poster(NamedTuple):
    op: int = 0
    step: int = RESERVE
    base: int = 0
    ready: Ready | None = None  # its value when the poster's turn came
    waited: bool = False    # the poster waited for its turn
    target: int = 0         # what `done` must reach


@of_parts
class State(NamedTuple):
    posters: tuple
    memory: Strong | Weak
    resv: int = 0
    doorbell: int = 0       # the last one that the NIC has taken
    limit: int = 0          # the NIC executes up to here
    complete: int = 0       # the end of the last complete request
    status: bool = False    # the queue is out of use
    wrong: str = ""


# The memory's words: these four, then the WQEBBs.
READY_WORD, DONE_WORD, RECORD_WORD, DOORBELL_WORD, SLOTS = range(5)
