"""What the model of ways that hosts open (opening.py) is made of."""

from typing import NamedTuple

from search import of_parts


class Job(NamedTuple):
    wants: tuple                # (PE, peer): whom its kernels touch
    places: tuple = (1, 1)      # in each PE's pool
    misfits: frozenset = frozenset()    # (PE, peer): it does not accept the peer's offer
    breaks: frozenset = frozenset()     # (PE, peer): connecting its queue pairs fails, after some are
    mortal: frozenset = frozenset()
    deaths: int = 1
    leavers: frozenset = frozenset()    # they may leave, with a goodbye
    cuts: frozenset = frozenset()       # (PE, peer): it may lose the peer though both live
    is_watched: bool = False    # deaths are found by others, too
    faults: frozenset = frozenset()


@of_parts
class Way(NamedTuple):
    state: str = "unknown"      # asked, connecting, usable, refused
    waits: bool = False         # a kernel does
    answer: bool | None = None
    is_buried: bool = False     # others have found the peer dead
    is_lost: bool = False       # the side channel has told so
    sent: int = 0               # messages


@of_parts
class Place(NamedTuple):
    peer: int | None = None     # for whom it is held
    leads_to: tuple | None = None   # (PE, place): its queue pairs are connected, or were meant to be


@of_parts
class State(NamedTuple):
    ways: tuple                 # ((PE, peer), Way)
    pools: tuple                # of each PE: its places
    wires: tuple = ()           # ((from, to), messages)
    untold: frozenset = frozenset()  # (PE, peer): its side channel is yet to tell it of the loss
    gone: frozenset = frozenset()
    unasked: frozenset = frozenset()  # of job.wants
    late: tuple = ()            # by a fault, what an opener has still to do: (whether it holds its lock, function, arguments)
    wrong: str = ""
