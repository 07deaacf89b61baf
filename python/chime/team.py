"""Teams, and the collectives of their members."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Iterable, List, Optional, Sequence, Tuple, Type

from . import _chime
from .array import native, symmetric
from .errors import InvalidError, NotInitializedError
from .words import _seconds

if TYPE_CHECKING:
    import numpy as np
    from types import TracebackType

    from numpy.typing import NDArray
    from typing_extensions import Self

    from .array import Array
    from .stream import Stream

_BROADCAST, _FCOLLECT, _ALLTOALL, _REDUCE, _REDUCESCATTER, _INSCAN, _EXSCAN, _COLLECT = range(8)
_OPS = {"sum": 0, "prod": 1, "min": 2, "max": 3, "and": 4, "or": 5, "xor": 6, "maxloc": 7}
_INT, _UINT, _FLOAT, _BFLOAT16, _DOUBLE2 = range(5)


def _pair(dst: Array, src: Array) -> Tuple[NDArray[Any], NDArray[Any]]:
    to, source = symmetric(dst, "destination"), symmetric(src, "source")
    native(to.dtype)
    if to.dtype != source.dtype:
        raise InvalidError(f"the element types differ: the destination has {to.dtype} and the source {source.dtype}")
    for view, name in ((to, "destination"), (source, "source")):
        if not view.flags.c_contiguous:
            raise InvalidError(f"the {name} of a collective must be contiguous; it has strides {view.strides}")
    return to, source


def _holds(view: NDArray[Any], n: int, name: str) -> None:
    if view.size < n:
        raise InvalidError(f"the {name} has {view.size} elements, and the collective needs {n}")


def _element(dtype: np.dtype[Any], op: str) -> int:
    if op == "maxloc":
        return _DOUBLE2
    kind = {"i": _INT, "u": _UINT, "f": _FLOAT}.get(dtype.kind)
    if dtype.name == "bfloat16":
        kind = _BFLOAT16
    if kind is None or dtype.itemsize > 8 or (op in ("and", "or", "xor") and kind not in (_INT, _UINT)):
        raise InvalidError(f"'{op}' does not take elements of type {dtype}")
    return kind


class Team:
    """Some of the job's PEs, numbered from 0: WORLD, SHARED, NODE, SAME_MYPE_NODE, and what splits of them make. A context manager: leaving it
    destroys a team that a split has made, which is collective over its members.

    A call on a team that this PE is no member of, or that is destroyed, raises InvalidError.
    """

    def __init__(self, handle: int, is_made: bool = False) -> None:
        self.handle, self._is_made = handle, is_made

    def __repr__(self) -> str:
        return f"chime.Team(handle={self.handle})"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], value: Optional[BaseException], trace: Optional[TracebackType]) -> None:
        if kind is None and self._is_made and self.handle >= 0:
            self.destroy()

    def _live(self) -> int:
        if self.handle < 0:
            raise InvalidError("this PE is no member of the team, or the team is destroyed")
        return self.handle

    @property
    def my_pe(self) -> int:
        """This PE's rank in the team; -1 if it is no member. Raises NotInitializedError outside of a job."""
        return _chime.team_my_pe(self.handle)

    @property
    def n_pes(self) -> int:
        """How many members it has; -1 if this PE is none. Raises NotInitializedError outside of a job."""
        return _chime.team_n_pes(self.handle)

    def is_member(self) -> bool:
        """Whether this PE is one, and the team is not destroyed. Raises nothing."""
        return self.handle >= 0

    def translate(self, pe: int, other: Team) -> int:
        """A member's rank in another team; -1 if it has none.

          pe        a rank of this team
          other     the other team

        Raises InvalidError if this PE is no member.
        """
        return _chime.team_translate(self._live(), pe, other.handle)

    def lane(self, lane: int) -> Team:
        """The same members: calls of different lanes run at once.

          lane      0 to CHIME_TEAM_LANES - 1; 0 is the team itself

        Raises InvalidError for another lane.
        """
        handle = _chime.team_lane(self._live(), lane)
        if handle < 0:
            raise InvalidError(f"the team has no lane {lane}: its lanes are 0 to CHIME_TEAM_LANES - 1")
        return Team(handle)

    def split_strided(self, start: int, stride: int, size: int) -> Team:
        """A team of members at equal distances. Collective over this team, like all splits; what is no member gets a team that it is none of.

          start     rank of the first
          stride    from one to the next; may be negative
          size      how many

        Raises InvalidError where that names no members, OutOfMemoryError if there are too many teams.
        """
        return Team(_chime.team_split_strided(self._live(), start, stride, size), True)

    def split_2d(self, xrange: int) -> Tuple[Team, Team]:
        """This PE's row and column of the members.

          xrange    how many stand in a row; the last may be shorter

        Raises InvalidError if it is below 1, OutOfMemoryError if there are too many teams.
        """
        row, column = _chime.team_split_2d(self._live(), xrange)
        return Team(row, True), Team(column, True)

    def split_list(self, ranks: Iterable[int]) -> Team:
        """A team of the members that a list names, in its order.

          ranks     of this team, each once; the same list on all members

        Raises InvalidError for other lists, MismatchError if members name different ones, OutOfMemoryError if there are too many teams.
        """
        return Team(_chime.team_split_list(self._live(), list(ranks)), True)

    def shrink(self) -> Team:
        """A team of the members that live: for jobs that go on after a PE has died (CHIME_ON_PEER_FAILURE=report). Collective over those.

        Raises AbortedError if the job ends instead, OutOfMemoryError if there are too many teams.
        """
        return Team(_chime.team_shrink(self._live()), True)

    def destroy(self) -> None:
        """Ends the team. Collective over its members.

        Raises InvalidError for a team that no split has made.
        """
        if not self._is_made:
            raise InvalidError("only a team that a split has made is destroyed; this one lasts as long as its job, or as the team that it is a lane of")
        _chime.team_destroy(self._live())
        self.handle = -1

    def barrier(self, *, timeout: Optional[float] = None, stream: Optional[Stream] = None) -> None:
        """Completes what this PE has sent, and waits for all members.

          timeout   seconds, else CHIME_TIMEOUT
          stream    which waits instead of the host: the call returns at once

        Raises TimeoutError if a member does not come, PeerDeadError if one has died.
        """
        self._meet(True, timeout, stream)

    def sync(self, *, timeout: Optional[float] = None, stream: Optional[Stream] = None) -> None:
        """Waits for all members; what was sent need not be there.

          timeout   seconds, else CHIME_TIMEOUT
          stream    which waits instead of the host: the call returns at once

        Raises TimeoutError if a member does not come, PeerDeadError if one has died.
        """
        self._meet(False, timeout, stream)

    def _meet(self, is_barrier: bool, timeout: Optional[float], stream: Optional[Stream]) -> None:
        seconds, on = self._mode(timeout, stream)
        _chime.meet(is_barrier, self._live(), seconds, on)

    @staticmethod
    def _mode(timeout: Optional[float], stream: Optional[Stream]) -> Tuple[float, int]:
        if timeout is not None and stream is not None:
            raise InvalidError("a collective on a stream has no timeout")
        return _seconds(timeout), -1 if stream is None else stream.handle

    def _count(self) -> int:
        self._live()
        n = self.n_pes
        if n < 1:
            raise NotInitializedError("this PE is in no such team")
        return n

    def _move(self, kind: int, to: NDArray[Any], source: NDArray[Any], n: int, root: int, timeout: Optional[float],
              stream: Optional[Stream]) -> None:
        seconds, on = self._mode(timeout, stream)
        _chime.move(kind, self._live(), _chime.address(to), _chime.address(source), n * source.itemsize, 1, root, seconds, on)

    def broadcast(self, dst: Array, src: Array, root: int, *, timeout: Optional[float] = None, stream: Optional[Stream] = None) -> None:
        """One member's src to every member's dst.

          dst, src  contiguous Arrays of one element type; dst holds as many as src, or more
          root      the rank that sends
          timeout   seconds, else CHIME_TIMEOUT
          stream    queues the call there, and returns

        Raises InvalidError for arrays that do not fit, PeerDeadError if a member has died, TimeoutError if one does not come.
        """
        to, source = _pair(dst, src)
        _holds(to, source.size, "destination")
        if not 0 <= root < self._count():
            raise InvalidError(f"the team has no member {root}: its members are 0 to {self._count() - 1}")
        self._move(_BROADCAST, to, source, source.size, root, timeout, stream)

    def fcollect(self, dst: Array, src: Array, *, timeout: Optional[float] = None, stream: Optional[Stream] = None) -> None:
        """All members' src, of equal sizes, one after another in each dst.

          dst, src  contiguous Arrays of one element type; dst holds those of all members
          timeout   seconds, else CHIME_TIMEOUT
          stream    queues the call there, and returns

        Raises InvalidError for arrays that do not fit, PeerDeadError if a member has died, TimeoutError if one does not come.
        """
        to, source = _pair(dst, src)
        _holds(to, source.size * self._count(), "destination")
        self._move(_FCOLLECT, to, source, source.size, 0, timeout, stream)

    def collect(self, dst: Array, src: Array, *, timeout: Optional[float] = None, stream: Optional[Stream] = None) -> None:
        """All members' src, whose sizes may differ, one after another in each dst.

          dst, src  contiguous Arrays of one element type; dst must hold those of all members (checked only by CHIME_CHECK=2)
          timeout   seconds, else CHIME_TIMEOUT
          stream    queues the call there, and returns

        Raises InvalidError for arrays that do not fit, PeerDeadError if a member has died, TimeoutError if one does not come.
        """
        to, source = _pair(dst, src)
        self._move(_COLLECT, to, source, source.size, 0, timeout, stream)

    def alltoall(self, dst: Array, src: Array, *, timeout: Optional[float] = None, stream: Optional[Stream] = None) -> None:
        """Block j of src to member j, where it is block i of dst, i being this PE's rank.

          dst, src  contiguous Arrays of one element type, of one block for each member
          timeout   seconds, else CHIME_TIMEOUT
          stream    queues the call there, and returns

        Raises InvalidError for arrays that do not fit, PeerDeadError if a member has died, TimeoutError if one does not come.
        """
        to, source = _pair(dst, src)
        self._whole(source, "source")
        _holds(to, source.size, "destination")
        self._move(_ALLTOALL, to, source, source.size // self._count(), 0, timeout, stream)

    def _whole(self, view: NDArray[Any], name: str) -> None:
        if view.size % self._count():
            raise InvalidError(f"the {name} has {view.size} elements, which {self._count()} members cannot share equally")

    def alltoalls(self, dst: Array, src: Array, dst_stride: int, src_stride: int, n: int, *, timeout: Optional[float] = None,
                  stream: Optional[Stream] = None) -> None:
        """alltoall() of elements that lie apart.

          dst, src  contiguous Arrays of one element type
          dst_stride, src_stride  from element to element, in elements; at least 1
          n         how many go to each member
          timeout   seconds, else CHIME_TIMEOUT
          stream    queues the call there, and returns

        Raises InvalidError for arrays that do not fit, PeerDeadError if a member has died, TimeoutError if one does not come.
        """
        to, source = _pair(dst, src)
        for view, stride, name in ((to, dst_stride, "destination"), (source, src_stride, "source")):
            if stride < 1:
                raise InvalidError(f"the stride of the {name} is {stride}; it must be at least 1")
            _holds(view, (n * self._count() - 1) * stride + 1 if n else 0, name)
        seconds, on = self._mode(timeout, stream)
        addresses = _chime.address(to), _chime.address(source)
        _chime.alltoalls(self._live(), *addresses, dst_stride, src_stride, n, to.itemsize, seconds, on)

    def alltoallv(self, dst: Array, src: Array, dst_counts: Sequence[int], dst_offsets: Sequence[int], src_counts: Sequence[int],
                  src_offsets: Sequence[int], *, timeout: Optional[float] = None) -> List[int]:
        """Different numbers of elements to each member. Returns how many came from each. Counts and offsets are in elements, one for each member.

          dst, src  contiguous Arrays of one element type
          dst_counts   how many member i may send
          dst_offsets  where in dst they begin
          src_counts   how many go to member j
          src_offsets  where in src they begin
          timeout   seconds, else CHIME_TIMEOUT

        Raises InvalidError for arrays that do not fit, PeerDeadError if a member has died, TimeoutError if one does not come.
        """
        to, source = _pair(dst, src)
        room, to_offsets, counts, offsets = lists = [list(map(int, values)) for values in (dst_counts, dst_offsets, src_counts, src_offsets)]
        if any(len(values) != self._count() or min(values) < 0 for values in lists):
            raise InvalidError(f"offsets and counts have one entry for each of the {self._count()} members, none negative")
        for view, name, sizes, begins in ((to, "destination", room, to_offsets), (source, "source", counts, offsets)):
            for size, begin in zip(sizes, begins):
                _holds(view, begin + size if size else 0, name)
        seconds, _ = self._mode(timeout, None)
        return _chime.alltoallv(self._live(), _chime.address(to), _chime.address(source), room, to_offsets, counts, offsets, to.itemsize, seconds)

    def _reduce(self, kind: int, dst: Array, src: Array, op: str, stream: Optional[Stream], shares: int = 1) -> None:
        to, source = _pair(dst, src)
        if op not in _OPS:
            raise InvalidError(f"the operation is {op!r}; it may be {', '.join(_OPS)}")
        n, size = source.size // shares, source.itemsize
        if op == "maxloc":
            if source.dtype != "float64" or source.shape[-1:] != (2,) or _chime.address(source) % 16 or _chime.address(to) % 16:
                raise InvalidError("maxloc takes float64 arrays of shape (..., 2): value and location")
            n, size = n // 2, 16
        _holds(to, source.size // shares, "destination")
        element = _element(source.dtype, op)
        _, on = self._mode(None, stream)
        _chime.reduce(kind, self._live(), _chime.address(to), _chime.address(source), n, size, _OPS[op], element, on)

    def reduce(self, dst: Array, src: Array, op: str = "sum", *, stream: Optional[Stream] = None) -> None:
        """Element by element over the members, in every dst.

          dst, src  contiguous Arrays of one element type; dst holds as many as src, or more
          op        "sum", "prod", "min", "max", of integers "and", "or", "xor"; of pairs of float64 "maxloc": (value, location)
          stream    queues the call there, and returns

        Raises InvalidError for arrays that do not fit, PeerDeadError if a member has died, TimeoutError if one does not come.
        """
        self._reduce(_REDUCE, dst, src, op, stream)

    def reducescatter(self, dst: Array, src: Array, op: str = "sum", *, stream: Optional[Stream] = None) -> None:
        """Member i gets block i of the reduction.

          dst, src  contiguous Arrays of one element type; src has one block for each member
          op        as in reduce(), without maxloc
          stream    queues the call there, and returns

        Raises InvalidError for arrays that do not fit, PeerDeadError if a member has died, TimeoutError if one does not come.
        """
        self._no_maxloc(op)
        self._whole(symmetric(src, "source"), "source")
        self._reduce(_REDUCESCATTER, dst, src, op, stream, self._count())

    def inscan(self, dst: Array, src: Array, *, stream: Optional[Stream] = None) -> None:
        """Sums over the members up to this one.

          dst, src  contiguous Arrays of one element type; dst holds as many as src, or more
          stream    queues the call there, and returns

        Raises InvalidError for arrays that do not fit, PeerDeadError if a member has died, TimeoutError if one does not come.
        """
        self._reduce(_INSCAN, dst, src, "sum", stream)

    def exscan(self, dst: Array, src: Array, *, stream: Optional[Stream] = None) -> None:
        """Sums over the members before this one: zeros on the first.

          dst, src  contiguous Arrays of one element type; dst holds as many as src, or more
          stream    queues the call there, and returns

        Raises InvalidError for arrays that do not fit, PeerDeadError if a member has died, TimeoutError if one does not come.
        """
        self._reduce(_EXSCAN, dst, src, "sum", stream)

    @staticmethod
    def _no_maxloc(op: str) -> None:
        if op == "maxloc":
            raise InvalidError("maxloc is an operation of reduce alone")


WORLD, SHARED, NODE, SAME_MYPE_NODE = map(Team, range(4))


def barrier(*, timeout: Optional[float] = None, stream: Optional[Stream] = None) -> None:
    """Completes what this PE has sent, and waits for all PEs.

      timeout   seconds, else CHIME_TIMEOUT
      stream    which waits instead of the host: the call returns at once

    Raises TimeoutError if a PE does not come, PeerDeadError if one has died.
    """
    WORLD.barrier(timeout=timeout, stream=stream)


def sync(*, timeout: Optional[float] = None, stream: Optional[Stream] = None) -> None:
    """Waits for all PEs; what was sent need not be there.

      timeout   seconds, else CHIME_TIMEOUT
      stream    which waits instead of the host: the call returns at once

    Raises TimeoutError if a PE does not come, PeerDeadError if one has died.
    """
    WORLD.sync(timeout=timeout, stream=stream)
