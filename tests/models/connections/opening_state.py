"""The states of the model of paths that hosts open (opening.py)."""

from typing import NamedTuple

from search import of_parts


class Job(NamedTuple):
    wants: tuple                # (PE, peer): the peers that its kernels touch
    places: tuple = (1, 1)      # in each PE's pool
    misfits: frozenset = frozenset()    # (PE, peer): it does not accept the peer's offer
    breaks: frozenset = frozenset()     # (PE, peer): connecting fails when some of its queue pairs are connected
    mortal: frozenset = frozenset()     # PEs that may die
    deaths: int = 1
    leavers: frozenset = frozenset()    # PEs that may leave, with a goodbye
    cuts: frozenset = frozenset()       # (PE, peer): it may lose the peer though both live
    is_watched: bool = False    # a watch, too, may find a death
    faults: frozenset = frozenset()


@of_parts
class Path(NamedTuple):
    state: str = "unknown"      # asked, connecting, usable, refused
    waits: bool = False         # a kernel waits for it
    answer: bool | None = None
    is_buried: bool = False     # a watch has found the peer dead
    is_lost: bool = False       # the side channel has reported the peer's loss
    sent: int = 0               # messages to the peer


@of_parts
class Place(NamedTuple):
    """A QP set of a PE's pool."""
    peer: int | None = None     # the peer that it is held for
    leads_to: tuple | None = None   # (PE, place): its queue pairs are connected to these, perhaps not all


@of_parts
class State(NamedTuple):
    paths: tuple                 # ((PE, peer), Path)
    pools: tuple                # each PE's places
    wires: tuple = ()           # ((from, to), messages)
    pending: frozenset = frozenset()  # (PE, peer): its side channel will report the peer's loss
    gone: frozenset = frozenset()
    unasked: frozenset = frozenset()  # those of job.wants that no kernel has asked for yet
    late: tuple = ()            # by a fault, what an opener still has to do: (whether it holds its lock, function, arguments)
    wrong: str = ""
