"""Symmetric arrays, and what moves their elements."""

from __future__ import annotations

import functools
import math
import operator
import sys
import warnings
import weakref
from typing import TYPE_CHECKING, Any, List, Mapping, Optional, Sequence, Tuple, Type, Union

import numpy as np

from . import _chime, cuda_module, job
from .errors import InvalidError, OutOfMemoryError, UnsupportedError

if TYPE_CHECKING:
    from types import TracebackType

    from numpy import dtype as DType  # in the class below np is a property
    from numpy.typing import ArrayLike, DTypeLike, NDArray
    from typing_extensions import Self

    from .stream import Stream

SIGNAL_SET, SIGNAL_ADD = 0, 1


class _Loan:
    """What a block's numpy views keep alive, and nothing else does."""

    __slots__ = ("block", "__weakref__")

    def __init__(self, block: _Block) -> None:
        self.block = block


class _Block:
    """One allocation of the symmetric heap. All PEs free it together. The garbage collector runs on each PE at another time, so it frees nothing: an array
    that is dropped stays allocated until finalize."""

    def __init__(self, address: int) -> None:
        self.address: Optional[int] = address
        self.reason = ""
        self._loan: Optional[weakref.ref[_Loan]] = None
        job._blocks.add(self)

    def end(self, reason: str) -> None:
        self.address, self.reason = None, reason
        job._blocks.discard(self)

    def is_lent(self) -> bool:
        return self._loan is not None and self._loan() is not None

    def lend(self) -> _Loan:
        loan = None if self._loan is None else self._loan()
        if loan is None:
            loan = _Loan(self)
            self._loan = weakref.ref(loan)
        return loan


def _is_plain(index: Any) -> bool:
    return index is None or index is Ellipsis or (isinstance(index, (int, np.integer, slice)) and not isinstance(index, bool))


def _strides_of(view: NDArray[Any], extents: Sequence[int]) -> Optional[Tuple[int, ...]]:
    """Those that give a view with elements other extents, of the same product; None where only a copy has them."""
    runs: List[Tuple[int, int]] = []  # elements that lie at equal distances, and that distance
    for extent, stride in zip(view.shape, view.strides):
        if runs and runs[-1][1] == extent * stride:
            runs[-1] = (runs[-1][0] * extent, stride)
        elif extent > 1:
            runs.append((extent, stride))
    strides, left, stride = [], 1, view.itemsize  # left: elements of the last run without an axis yet
    for extent in reversed(extents):
        if left == 1 and extent > 1:
            left, stride = runs.pop()
        if left % extent:
            return None
        strides.append(stride)
        left, stride = left // extent, stride * extent
    return tuple(reversed(strides))


class Array:
    """An array at the same offset of every PE's symmetric heap. Made by empty() and zeros().

    Indexing by numbers and slices gives an Array of a part of it, without a copy; anything else raises InvalidError. `np` is this PE's part as a numpy
    array without a copy (on the CPU device). A context manager: leaving it frees the memory, which is collective. Every use of an Array that is freed
    raises InvalidError.
    """

    __slots__ = ("_block", "_view", "__weakref__")

    def __init__(self, block: _Block, view: NDArray[Any]) -> None:
        self._block, self._view = block, view

    @property
    def live(self) -> NDArray[Any]:
        """The description of its memory, for this package. Raises InvalidError if it is freed."""
        if self._block.address is None:
            raise InvalidError(f"this symmetric array is no more: {self._block.reason}")
        return self._view

    @property
    def np(self) -> NDArray[Any]:
        """This PE's elements as a numpy array, without a copy. It must not be used after free(), and finalize().

        Raises InvalidError if it is freed, UnsupportedError where the memory is a GPU's.
        """
        if job.device() != "cpu":
            raise UnsupportedError("this array lies in a GPU's memory: take it by __cuda_array_interface__ (cupy, torch.as_tensor), or get() it")
        view = self.live
        return _chime.view(_chime.address(view), view.shape, view.strides, view.dtype, self._block.lend())

    @property
    def shape(self) -> Tuple[int, ...]:
        """Its extents, in elements."""
        return self._view.shape

    @property
    def dtype(self) -> DType[Any]:
        """The type of its elements."""
        return self._view.dtype

    @property
    def ndim(self) -> int:
        """How many extents it has."""
        return self._view.ndim

    @property
    def size(self) -> int:
        """How many elements it has."""
        return self._view.size

    @property
    def nbytes(self) -> int:
        """The bytes of its elements."""
        return self._view.nbytes

    @property
    def strides(self) -> Tuple[int, ...]:
        """From element to element along each extent, in bytes."""
        return self._view.strides

    @property
    def address(self) -> int:
        """Where its first element lies in this process: what C functions and kernels take. Raises InvalidError if it is freed."""
        return _chime.address(self.live)

    def __len__(self) -> int:
        return len(self._view)

    def __getitem__(self, key: Any) -> Array:
        if not isinstance(key, str):  # the name of a field
            key = key if isinstance(key, tuple) else (key,)
            if not all(map(_is_plain, key)):  # numpy would read the memory, which may be a GPU's
                raise InvalidError("symmetric arrays are indexed by numbers and slices; other indices would copy")
            key = key if any(one is Ellipsis for one in key) else key + (Ellipsis,)
        return Array(self._block, self.live[key])

    def __setitem__(self, key: Any, value: ArrayLike) -> None:
        self.np[key] = value

    def __array__(self, dtype: DTypeLike = None, copy: Optional[bool] = None) -> NDArray[Any]:
        seen = self.np
        if copy is False and dtype is not None and np.dtype(dtype) != seen.dtype:
            raise InvalidError(f"elements of type {seen.dtype} are of type {np.dtype(dtype)} only in a copy, and copy=False forbids one")
        return np.array(seen, dtype=dtype) if copy else np.asarray(seen, dtype=dtype)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        """What cupy and torch read of a GPU's memory. Raises AttributeError on the CPU device."""
        if job.device() != "cuda":
            raise AttributeError("this array lies in the CPU's memory: use .np")
        view = self.live
        return {
            "shape": view.shape,
            "typestr": view.dtype.str,
            "data": (_chime.address(view), False),
            "strides": None if view.flags.c_contiguous else view.strides,
            "version": 3,
        }

    def __dlpack__(self, **options: Any) -> Any:
        if job.device() != "cpu":
            raise BufferError("DLPack is for the CPU device; take __cuda_array_interface__ of memory of a GPU")
        return self.np.__dlpack__(**options)

    def __dlpack_device__(self) -> Tuple[int, int]:
        return self.np.__dlpack_device__()

    def reshape(self, *shape: Union[int, Tuple[int, ...]]) -> Array:
        """The same elements with other extents.

          shape   extents as numbers or one tuple; one of them may be -1

        Raises InvalidError where that needs a copy, ValueError where the number of elements differs.
        """
        view, address = self.live, self.address
        like = _chime.view(address, view.shape, (), np.dtype(np.int8), self._block)  # contiguous: numpy copies and reads nothing
        extents = like.reshape(*shape).shape
        strides = _strides_of(view, extents) if view.size else ()
        if strides is None:
            raise InvalidError("this shape needs a copy: reshape a contiguous array")
        return Array(self._block, _chime.view(address, extents, strides, view.dtype, self._block))

    def at(self, pe: int) -> Optional[NDArray[Any]]:
        """`pe`'s elements as a numpy array, where its memory is mapped here; else None.

          pe      0 to n_pes - 1

        Raises InvalidError for another PE or an Array that is freed, UnsupportedError where the memory is a GPU's.
        """
        self.np  # on the CPU device, and not freed
        address = _chime.peer(self.address, pe)
        return _chime.view(address, self.shape, self.strides, self.dtype, self._block.lend()) if address else None

    def free(self) -> None:
        """Frees the whole allocation, also that of a part. Collective: every PE calls it, in the same order.

        Arrays of it refuse afterwards. Views by numpy or DLPack do not: a ResourceWarning (python -X dev shows it) says so
        if this PE still has some.

        Raises InvalidError if it is freed already, TimeoutError if a PE does not come in CHIME_TIMEOUT.
        """
        self._free(stacklevel=3)

    def _free(self, stacklevel: int) -> None:
        address = self._block.address
        if address is None:
            raise InvalidError(f"this symmetric array is no more: {self._block.reason}")
        if self._block.is_lent():
            warnings.warn("numpy or DLPack views of this symmetric array are still in use, and must not be: free() frees their memory. "
                          "Drop them before", ResourceWarning, stacklevel)
        self._block.end("free() has freed it")
        _chime.free(address)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], value: Optional[BaseException], trace: Optional[TracebackType]) -> None:
        # After an exception other PEs may not come; the memory stays until finalize.
        if kind is None and self._block.address is not None:
            self._free(stacklevel=3)

    def __repr__(self) -> str:
        if self._block.address is None:
            return f"chime.Array(shape={self.shape}, dtype={self.dtype}, no more: {self._block.reason})"
        return f"chime.Array(shape={self.shape}, dtype={self.dtype}, address={self.address:#x})"


def _allocated(shape: Union[int, Tuple[int, ...]], dtype: DTypeLike, is_clear: bool) -> Array:
    dtype = np.dtype(dtype)
    if dtype.hasobject:
        raise InvalidError(f"elements of type {dtype} hold Python objects, which mean nothing on another PE")
    if dtype.itemsize == 0:
        raise InvalidError(f"elements of type {dtype} have no bytes")
    extents = (int(shape),) if isinstance(shape, (int, np.integer)) else tuple(map(int, shape))
    count = 1
    for extent in extents:
        if extent < 0:
            raise InvalidError(f"the shape {extents} has a negative extent")
        count *= extent
    if count * dtype.itemsize > sys.maxsize:
        raise OutOfMemoryError(f"{count * dtype.itemsize} bytes are more than a process has addresses for")
    address = _chime.allocate(max(count * dtype.itemsize, 1), is_clear)
    block = _Block(address)
    return Array(block, _chime.view(address, extents, (), dtype, block))


def empty(shape: Union[int, Tuple[int, ...]], dtype: DTypeLike = np.float64) -> Array:
    """A symmetric array with any contents. Collective: with the same arguments on every PE.

      shape   its extents, in elements
      dtype   of its elements: what numpy takes, but no objects

    Raises InvalidError for other shapes and types, OutOfMemoryError if the symmetric heap (CHIME_SYMMETRIC_SIZE) has no room, MismatchError if PEs ask for
    different sizes.
    """
    return _allocated(shape, dtype, False)


def zeros(shape: Union[int, Tuple[int, ...]], dtype: DTypeLike = np.float64) -> Array:
    """A symmetric array of zeros. Collective: with the same arguments on every PE.

      shape   its extents, in elements
      dtype   of its elements: what numpy takes, but no objects

    Raises what empty() raises.
    """
    return _allocated(shape, dtype, True)


def native(dtype: np.dtype[Any]) -> None:
    """Raises if the bytes of elements are not in this machine's order, which arithmetic needs."""
    if not dtype.isnative:
        raise InvalidError(f"elements of type {dtype} have another byte order: take {dtype.newbyteorder('=')}")


@functools.lru_cache(maxsize=None)
def _range_of(dtype: np.dtype[Any]) -> Tuple[float, float]:
    if dtype.kind == "f":
        return float(np.finfo(dtype).min), float(np.finfo(dtype).max)
    return (0, 1) if dtype.kind == "b" else (np.iinfo(dtype).min, np.iinfo(dtype).max)


def _integer(value: Any) -> int:
    return int(value) if isinstance(value, np.bool_) else operator.index(value)


def _real(value: Any) -> float:
    if isinstance(value, (str, bytes, bytearray, np.complexfloating)):  # float() would take them
        raise TypeError
    return float(value)


def number(value: Any, dtype: np.dtype[Any], which: str, whose: str) -> NDArray[Any]:
    """A number in one element. Raises where the element would hold another one; floats are rounded."""
    try:
        exact = _real(value) if dtype.kind == "f" else _integer(value)
    except (TypeError, ValueError, OverflowError):
        raise InvalidError(f"the {which} is {value!r}, and {whose} is a number of type {dtype}") from None
    least, most = _range_of(dtype)
    if least <= exact <= most:
        return np.array(exact, dtype)
    if dtype.kind == "f":
        with np.errstate(over="ignore"):
            element = np.array(exact, dtype)
        if np.isfinite(element) or not math.isfinite(exact):
            return element
    raise InvalidError(f"the {which} is {exact!r}, which {whose} of type {dtype} does not hold")


def _elements(values: Any, dtype: np.dtype[Any]) -> NDArray[Any]:
    """A number or text, or lists of them, as elements. Raises where an element would hold something else; floats are rounded."""
    if dtype.kind in "biuf" and np.isscalar(values):  # what is mostly given, at once
        return number(values, dtype, "value", "an element")
    given = np.asarray(values)
    if dtype.kind not in "biufSU" or given.size == 0:
        return np.array(values, dtype)
    if dtype.kind in "SU":
        made = np.array(values, dtype)
        if (made.astype(given.dtype) == given).all():
            return made
        raise InvalidError(f"elements of type {dtype} do not hold texts of type {given.dtype}")
    if given.dtype.kind in "biuf":
        with np.errstate(over="ignore", invalid="ignore"):
            made = given.astype(dtype)
        if dtype.kind == "f":
            is_held = np.isfinite(made) | ~np.isfinite(given)
        else:
            is_held = (made == given) & (given.dtype.kind != "f")
        if is_held.all():
            return made
    ones = [number(value, dtype, "value", "an element") for value in np.array(values, object).flat]  # the first that is wrong says so
    return np.array(ones, dtype).reshape(given.shape)


def symmetric(array: Array, name: str) -> NDArray[Any]:
    """The memory of an Array; raises for anything else."""
    if type(array) is Array and array._block.address is not None:  # what a put takes, at once
        return array._view
    if type(array) is not Array:
        raise InvalidError(f"the {name} is no symmetric array but a {type(array).__name__}: make it by chime.zeros() or chime.empty()")
    return array.live


def _shown(interface: Mapping[str, Any], owner: Any, name: str, writable: bool, stream: Optional[Stream]) -> NDArray[Any]:
    """A GPU's memory by its __cuda_array_interface__, when the work of the interface's stream is done; work on that stream itself need not wait."""
    address, is_read_only = interface["data"]
    if writable and is_read_only:
        raise InvalidError(f"the {name} is read-only")
    if interface.get("mask") is not None:
        raise InvalidError(f"the {name} has a mask, which would be left out: pass its elements and its mask as two arrays")
    producer = interface.get("stream")
    if producer is not None and (stream is None or stream.handle != producer):
        cuda_module.driver().synchronize(producer)
    return _chime.view(address, interface["shape"], interface.get("strides") or (), np.dtype(interface["typestr"]), owner)


def local(array: Any, name: str, writable: bool = False, stream: Optional[Stream] = None) -> NDArray[Any]:
    """The memory of an Array, a numpy array, or anything that shows one without a copy (a tensor). `stream`: the one that will use it."""
    if type(array) is Array:
        return symmetric(array, name)
    if type(array) is not np.ndarray:
        interface = getattr(array, "__cuda_array_interface__", None) if job.device() == "cuda" else None
        if interface:
            return _shown(interface, array, name, writable, stream)
        if isinstance(array, np.ma.MaskedArray) and array.mask is not np.ma.nomask:
            raise InvalidError(f"the {name} has a mask, which would be left out: pass its elements and its mask as two arrays")
        seen = np.asarray(array)
        if writable and not np.may_share_memory(seen, np.asarray(array)):
            raise InvalidError(f"the {name} is a {type(array).__name__}, which cannot receive: pass an array")
        array = seen
    memory: NDArray[Any] = array
    if writable and not memory.flags.writeable:
        raise InvalidError(f"the {name} is read-only")
    return memory


def put(dst: Array, src: Any, pe: int, *, nbi: bool = False, stream: Optional[Stream] = None) -> None:
    """Copies local `src` to `pe`'s `dst`; quiet() and barriers complete it there.

      dst     its shape and element type are src's. Strides may be any that are positive: columns of a plate are one call
      src     an Array, a numpy array, a tensor; numbers and lists become what dst has, where it holds them
      pe      0 to n_pes - 1
      nbi     may return before src is read: leave it as it is until quiet()
      stream  queues the call there, and returns

    Raises InvalidError for shapes, types, strides or a PE that do not fit, PeerDeadError if the PE has died.
    """
    to = symmetric(dst, "destination")
    if type(src) is np.ndarray:
        source = src
    elif type(src) is Array:
        source = symmetric(src, "source")
    elif np.isscalar(src):
        source = np.full(to.shape, _elements(src, to.dtype), to.dtype)
    else:
        source = _elements(src, to.dtype) if isinstance(src, (list, tuple)) else local(src, "source", stream=stream)
    if stream is None:
        _chime.put(to, source, pe, nbi)
    else:
        try:
            _chime.put_on_stream(to, source, pe, nbi, stream.handle)
        finally:
            stream.hold(source)


def get(dst: Any, src: Array, pe: int, *, nbi: bool = False, stream: Optional[Stream] = None) -> None:
    """Copies `pe`'s `src` to local `dst`, which has it when the call returns.

      dst     an Array, a writable numpy array or a tensor, with src's shape and element type
      src     strides may be any that are positive
      pe      0 to n_pes - 1
      nbi     may return before; quiet() completes it
      stream  queues the call there, and returns

    Raises InvalidError for shapes, types, strides or a PE that do not fit, PeerDeadError if the PE has died.
    """
    to = local(dst, "destination", writable=True, stream=stream)
    if stream is None:
        _chime.get(to, symmetric(src, "source"), pe, nbi)
    else:
        try:
            _chime.get_on_stream(to, symmetric(src, "source"), pe, nbi, stream.handle)
        finally:
            stream.hold(to)


def put_signal(dst: Array, src: Any, sig: Array, value: int, pe: int, *, op: int = SIGNAL_SET, nbi: bool = False,
               stream: Optional[Stream] = None) -> None:
    """put() of contiguous elements, and then the update of the signal `sig` at `pe`: what sees the signal sees this call's data.

      dst     its shape and element type are src's
      src     an Array, a numpy array or a tensor
      sig     one element of type uint64
      value   0 to 2**64 - 1
      pe      0 to n_pes - 1
      op      SIGNAL_SET, or SIGNAL_ADD
      nbi     may return before src is read: leave it as it is until quiet()
      stream  queues the call there, and returns

    Raises InvalidError for shapes, types, strides, a signal or a PE that do not fit, PeerDeadError if the PE has died.
    """
    to, word, value = symmetric(dst, "destination"), signal_address(sig), signal_value(value)
    source = local(src, "source", stream=stream)
    if stream is None:
        _chime.put_signal(to, source, word, value, op, pe, nbi)
    else:
        try:
            _chime.put_signal_on_stream(to, source, word, value, op, pe, nbi, stream.handle)
        finally:
            stream.hold(source)


def signal_address(sig: Array) -> int:
    """Where a signal lies: an Array of one element of type uint64."""
    view = symmetric(sig, "signal")
    if view.size != 1 or view.dtype != np.uint64:
        raise InvalidError(f"a signal is one element of type uint64, not {view.shape} of {view.dtype}: index it")
    return _chime.address(view)


def signal_value(value: Any) -> int:
    """What a signal is set to, raised by, or compared with."""
    if type(value) is int and 0 <= value < 1 << 64:  # at once
        return value
    return int(number(value, np.dtype(np.uint64), "value", "a signal"))


def fence() -> None:
    """Orders this PE's puts, atomics and signal updates: at each PE those before the call come first.

    Raises NotInitializedError outside of a job.
    """
    _chime.fence()


def quiet(*, stream: Optional[Stream] = None) -> None:
    """Completes all that this PE has sent, and its gets.

      stream  queues the call there, and returns

    Raises PeerDeadError if a PE that something was sent to has died, NetworkError if a NIC has failed.
    """
    _chime.quiet() if stream is None else _chime.quiet_on_stream(stream.handle)
