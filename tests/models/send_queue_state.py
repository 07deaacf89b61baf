"""What the model of the send queue (send_queue.py) is made of."""

from typing import NamedTuple

from memory import Strong, Weak
from search import of_parts


class Op(NamedTuple):
    """One submission of a thread, or (wqebbs 0) a quiet."""
    wqebbs: int
    more: bool = False      # another of the same call follows: no doorbell for this one alone
    wait: bool = False      # the thread waits for its completion
    tail: int = 0           # WQEBBs of its last request behind the first, which the CQE tells


QUIET = Op(0)


class Queue(NamedTuple):
    depth: int              # WQEBBs
    batch: int              # WQEBBs after which a doorbell is rung in any case
    is_weak: bool = False
    by_the_letter: bool = False  # of PTX: memory.py. Then the wait for room acquires
    looks_ahead: bool = True  # the NIC executes up to the record, also beyond the doorbell
    give_up: bool = False   # threads may leave at every wait (timeout, abort), and requests may fail
    faults: frozenset = frozenset()


class Ready(NamedTuple):
    end: int = 0
    owed: bool = False
    tail: int = 0

    @property
    def target(self):
        """How far `done` comes when everything before is complete."""
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
    ready: Ready | None = None  # as read when its turn came
    waited: bool = False    # for its turn
    target: int = 0         # what `done` must reach


@of_parts
class State(NamedTuple):
    posters: tuple
    memory: Strong | Weak
    resv: int = 0
    rung: int = 0           # the last doorbell that the NIC has taken
    limit: int = 0          # as far as it executes
    complete: int = 0       # the end of the last complete request
    status: bool = False    # the queue is out of use
    wrong: str = ""


# Words of the memory: these, and the WQEBBs behind them.
READY_WORD, DONE_WORD, RECORD_WORD, DOORBELL_WORD, SLOTS = range(5)
