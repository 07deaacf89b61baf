"""Teams, and the collectives of their members."""

from . import _chime
from .array import native, symmetric
from .errors import InvalidError, NotInitializedError
from .words import _seconds

_BROADCAST, _FCOLLECT, _ALLTOALL, _REDUCE, _REDUCESCATTER, _INSCAN, _EXSCAN, _COLLECT = range(8)
_OPS = {"sum": 0, "prod": 1, "min": 2, "max": 3, "and": 4, "or": 5, "xor": 6, "maxloc": 7}
_INT, _UINT, _FLOAT, _BFLOAT16, _DOUBLE2 = range(5)


def _pair(dst, src):
    to, source = symmetric(dst, "destination"), symmetric(src, "source")
    native(to.dtype)
    if to.dtype != source.dtype:
        raise InvalidError(f"the element types differ: the destination has {to.dtype} and the source {source.dtype}")
    for view, name in ((to, "destination"), (source, "source")):
        if not view.flags.c_contiguous:
            raise InvalidError(f"the {name} of a collective must be contiguous; it has strides {view.strides}")
    return to, source


def _holds(view, n, name):
    if view.size < n:
        raise InvalidError(f"the {name} has {view.size} elements, and the collective needs {n}")


def _element(dtype, op):
    if op == "maxloc":
        return _DOUBLE2
    kind = {"i": _INT, "u": _UINT, "f": _FLOAT}.get(dtype.kind)
    if dtype.name == "bfloat16":
        kind = _BFLOAT16
    if kind is None or dtype.itemsize > 8 or (op in ("and", "or", "xor") and kind not in (_INT, _UINT)):
        raise InvalidError(f"'{op}' does not take elements of type {dtype}")
    return kind


class Team:
    """Some of the job's PEs. A context manager: leaving it destroys the team, which is collective over its members."""

    def __init__(self, handle, is_made=False):
        self.handle, self._is_made = handle, is_made

    def __repr__(self):
        return f"chime.Team(handle={self.handle})"

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        if kind is None and self._is_made and self.handle >= 0:
            self.destroy()

    def _live(self):
        if self.handle < 0:
            raise InvalidError("this PE is no member of the team, or the team is destroyed")
        return self.handle

    @property
    def my_pe(self):
        """This PE's rank in the team; -1 if it is no member."""
        return _chime.team_my_pe(self.handle)

    @property
    def n_pes(self):
        return _chime.team_n_pes(self.handle)

    def is_member(self):
        return self.handle >= 0

    def translate(self, pe, other):
        """The rank in `other` of this team's `pe`; -1 if it has none."""
        return _chime.team_translate(self._live(), pe, other.handle)

    def lane(self, lane):
        """The team's lane: calls of different lanes run at once."""
        return Team(_chime.team_lane(self._live(), lane))

    def split_strided(self, start, stride, size):
        """A team of `size` members, from rank `start` on, `stride` apart. Collective, like all splits."""
        return Team(_chime.team_split_strided(self._live(), start, stride, size), True)

    def split_2d(self, xrange):
        """This PE's row and column of the members, laid out in rows of `xrange`."""
        return tuple(Team(handle, True) for handle in _chime.team_split_2d(self._live(), xrange))

    def split_list(self, ranks):
        return Team(_chime.team_split_list(self._live(), list(ranks)), True)

    def shrink(self):
        """A team of the members that live (CHIME_ON_PEER_FAILURE=report)."""
        return Team(_chime.team_shrink(self._live()), True)

    def destroy(self):
        handle, self.handle = self._live(), -1
        _chime.team_destroy(handle)

    def barrier(self, *, timeout=None, stream=None):
        """Completes what this PE has sent, and waits for all members. timeout: seconds, else CHIME_TIMEOUT."""
        self._meet(True, timeout, stream)

    def sync(self, *, timeout=None, stream=None):
        """Waits for all members."""
        self._meet(False, timeout, stream)

    def _meet(self, is_barrier, timeout, stream):
        seconds, on = self._mode(timeout, stream)
        _chime.meet(is_barrier, self._live(), seconds, on)

    @staticmethod
    def _mode(timeout, stream):
        if timeout is not None and stream is not None:
            raise InvalidError("a collective on a stream has no timeout")
        return _seconds(timeout), -1 if stream is None else stream.handle

    def _count(self):
        self._live()
        n = self.n_pes
        if n < 1:
            raise NotInitializedError("this PE is in no such team")
        return n

    def _move(self, kind, to, source, n, root, timeout, stream):
        seconds, on = self._mode(timeout, stream)
        _chime.move(kind, self._live(), _chime.address(to), _chime.address(source), n * source.itemsize, 1, root, seconds, on)

    def broadcast(self, dst, src, root, *, timeout=None, stream=None):
        """`root`'s src to every member's dst."""
        to, source = _pair(dst, src)
        _holds(to, source.size, "destination")
        if not 0 <= root < self._count():
            raise InvalidError(f"the team has no member {root}: its members are 0 to {self._count() - 1}")
        self._move(_BROADCAST, to, source, source.size, root, timeout, stream)

    def fcollect(self, dst, src, *, timeout=None, stream=None):
        """All members' src, of equal sizes, one after another in each dst."""
        to, source = _pair(dst, src)
        _holds(to, source.size * self._count(), "destination")
        self._move(_FCOLLECT, to, source, source.size, 0, timeout, stream)

    def collect(self, dst, src, *, timeout=None, stream=None):
        """As fcollect; sizes may differ between members, and dst must hold them all (checked only by CHIME_CHECK=2)."""
        to, source = _pair(dst, src)
        self._move(_COLLECT, to, source, source.size, 0, timeout, stream)

    def alltoall(self, dst, src, *, timeout=None, stream=None):
        """Block j of src to member j, where it is block i of dst, i being this PE's rank."""
        to, source = _pair(dst, src)
        self._whole(source, "source")
        _holds(to, source.size, "destination")
        self._move(_ALLTOALL, to, source, source.size // self._count(), 0, timeout, stream)

    def _whole(self, view, name):
        if view.size % self._count():
            raise InvalidError(f"the {name} has {view.size} elements, which {self._count()} members cannot share equally")

    def alltoalls(self, dst, src, dst_stride, src_stride, n, *, timeout=None, stream=None):
        """alltoall of n elements for each member that lie dst_stride and src_stride elements apart."""
        to, source = _pair(dst, src)
        for view, stride, name in ((to, dst_stride, "destination"), (source, src_stride, "source")):
            if stride < 1:
                raise InvalidError(f"the stride of the {name} is {stride}; it must be at least 1")
            _holds(view, (n * self._count() - 1) * stride + 1 if n else 0, name)
        seconds, on = self._mode(timeout, stream)
        addresses = _chime.address(to), _chime.address(source)
        _chime.alltoalls(self._live(), *addresses, dst_stride, src_stride, n, to.itemsize, seconds, on)

    def alltoallv(self, dst, src, dst_counts, dst_offsets, src_counts, src_offsets, *, timeout=None):
        """src_counts[j] elements from src_offsets[j] on go to member j. At most dst_counts[i] come from member i, to dst_offsets[i].

        Returns how many came from each member.
        """
        to, source = _pair(dst, src)
        lists = [list(map(int, values)) for values in (dst_counts, dst_offsets, src_counts, src_offsets)]
        if any(len(values) != self._count() or min(values) < 0 for values in lists):
            raise InvalidError(f"offsets and counts have one entry for each of the {self._count()} members, none negative")
        for view, name, counts, offsets in ((to, "destination", *lists[:2]), (source, "source", *lists[2:])):
            for count, offset in zip(counts, offsets):
                _holds(view, offset + count if count else 0, name)
        seconds, _ = self._mode(timeout, None)
        return _chime.alltoallv(self._live(), _chime.address(to), _chime.address(source), *lists, to.itemsize, seconds)

    def _reduce(self, kind, dst, src, op, stream, shares=1):
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

    def reduce(self, dst, src, op="sum", *, stream=None):
        """Element by element over the members, in every dst: sum, prod, min, max, and, or, xor; maxloc of pairs."""
        self._reduce(_REDUCE, dst, src, op, stream)

    def reducescatter(self, dst, src, op="sum", *, stream=None):
        """Member i gets block i of the reduction."""
        self._no_maxloc(op)
        self._whole(symmetric(src, "source"), "source")
        self._reduce(_REDUCESCATTER, dst, src, op, stream, self._count())

    def inscan(self, dst, src, *, stream=None):
        """Sums over the members up to this one."""
        self._reduce(_INSCAN, dst, src, "sum", stream)

    def exscan(self, dst, src, *, stream=None):
        """Sums over the members before this one."""
        self._reduce(_EXSCAN, dst, src, "sum", stream)

    @staticmethod
    def _no_maxloc(op):
        if op == "maxloc":
            raise InvalidError("maxloc is an operation of reduce alone")


WORLD, SHARED, NODE, SAME_MYPE_NODE = map(Team, range(4))


def barrier(*, timeout=None, stream=None):
    """WORLD.barrier()."""
    WORLD.barrier(timeout=timeout, stream=stream)


def sync(*, timeout=None, stream=None):
    """WORLD.sync()."""
    WORLD.sync(timeout=timeout, stream=stream)
