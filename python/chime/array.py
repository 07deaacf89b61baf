"""Symmetric arrays, and what moves their elements."""

import sys

import numpy as np

from . import _chime, job
from .errors import InvalidError, OutOfMemoryError, UnsupportedError

SIGNAL_SET, SIGNAL_ADD = 0, 1


class _Block:
    """One allocation of the symmetric heap. All PEs free it together, so the garbage collector, which runs on each PE when it likes, may not:
    an array that is dropped stays allocated until finalize."""

    def __init__(self, address):
        self.address, self.reason = address, ""
        job._blocks.add(self)

    def end(self, reason):
        self.address, self.reason = None, reason
        job._blocks.discard(self)


class Array:
    """An array at the same offset of every PE's symmetric heap. Made by empty() and zeros().

    Indexing gives an Array of a part of it. `np` is this PE's part as a numpy array without a copy (on the CPU device). A context manager: leaving it
    frees the memory, which is collective.
    """

    __slots__ = ("_block", "_view", "__weakref__")

    def __init__(self, block, view):
        self._block, self._view = block, view

    @property
    def live(self):
        """The description of its memory; raises if it is freed."""
        if self._block.address is None:
            raise InvalidError(f"this symmetric array is no more: {self._block.reason}")
        return self._view

    @property
    def np(self):
        if job.device() != "cpu":
            raise UnsupportedError("this array lies in a GPU's memory: take it by __cuda_array_interface__ (cupy, torch.as_tensor), or get() it")
        return self.live

    shape = property(lambda self: self._view.shape)
    dtype = property(lambda self: self._view.dtype)
    ndim = property(lambda self: self._view.ndim)
    size = property(lambda self: self._view.size)
    nbytes = property(lambda self: self._view.nbytes)
    strides = property(lambda self: self._view.strides)

    @property
    def address(self):
        return _chime.address(self.live)

    def __len__(self):
        return len(self._view)

    def __getitem__(self, key):
        if not isinstance(key, str):  # the name of a field
            key = key if isinstance(key, tuple) else (key,)
            key = key if any(one is Ellipsis for one in key) else key + (Ellipsis,)
        part = self.live[key]
        if not np.may_share_memory(part, self._view) and part.size:
            raise InvalidError("symmetric arrays are indexed by numbers and slices; other indices would copy")
        return Array(self._block, part)

    def __setitem__(self, key, value):
        self.np[key] = value

    def __array__(self, dtype=None):
        return np.asarray(self.np, dtype=dtype)

    @property
    def __array_interface__(self):
        return self.np.__array_interface__

    @property
    def __cuda_array_interface__(self):
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

    def __dlpack__(self, **options):
        if job.device() != "cpu":
            raise BufferError("DLPack is for the CPU device; take __cuda_array_interface__ of memory of a GPU")
        return self.live.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.np.__dlpack_device__()

    def reshape(self, *shape):
        part = self.live.reshape(*shape)
        if part.size and not np.may_share_memory(part, self._view):
            raise InvalidError("this shape needs a copy: reshape a contiguous array")
        return Array(self._block, part)

    def at(self, pe):
        """`pe`'s elements as a numpy array, where its memory is mapped; else None."""
        self.np  # on the CPU device, and not freed
        address = _chime.peer(self.address, pe)
        return _chime.view(address, self.shape, self.strides, self.dtype, self._block) if address else None

    def free(self):
        """Frees the whole allocation. Collective. Arrays and views of it must not be used afterwards; Arrays say so."""
        address = self._block.address
        if address is None:
            raise InvalidError(f"this symmetric array is no more: {self._block.reason}")
        self._block.end("free() has freed it")
        _chime.free(address)

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        # After an exception other PEs may not come; the memory stays until finalize.
        if kind is None and self._block.address is not None:
            self.free()

    def __repr__(self):
        if self._block.address is None:
            return f"chime.Array(shape={self.shape}, dtype={self.dtype}, no more: {self._block.reason})"
        return f"chime.Array(shape={self.shape}, dtype={self.dtype}, address={self.address:#x})"


def _allocated(shape, dtype, is_clear):
    dtype = np.dtype(dtype)
    if dtype.hasobject:
        raise InvalidError(f"elements of type {dtype} hold Python objects, which mean nothing on another PE")
    if dtype.itemsize == 0:
        raise InvalidError(f"elements of type {dtype} have no bytes")
    shape = tuple(map(int, shape)) if np.iterable(shape) else (int(shape),)
    count = 1
    for extent in shape:
        if extent < 0:
            raise InvalidError(f"the shape {shape} has a negative extent")
        count *= extent
    if count * dtype.itemsize > sys.maxsize:
        raise OutOfMemoryError(f"{count * dtype.itemsize} bytes are more than a process has addresses for")
    address = _chime.allocate(max(count * dtype.itemsize, 1), is_clear)
    block = _Block(address)
    return Array(block, _chime.view(address, shape, (), dtype, block))


def empty(shape, dtype=np.float64):
    """A symmetric array with any contents. Collective: with the same arguments on every PE."""
    return _allocated(shape, dtype, False)


def zeros(shape, dtype=np.float64):
    """A symmetric array of zeros. Collective, like empty()."""
    return _allocated(shape, dtype, True)


def native(dtype):
    """Raises if the bytes of elements are not in this machine's order, which arithmetic needs."""
    if not dtype.isnative:
        raise InvalidError(f"elements of type {dtype} have another byte order: take {dtype.newbyteorder('=')}")


def symmetric(array, name):
    """The memory of an Array; raises for anything else."""
    if type(array) is not Array:
        raise InvalidError(f"the {name} is no symmetric array but a {type(array).__name__}: make it by chime.zeros() or chime.empty()")
    return array.live


def local(array, name, writable=False):
    """The memory of an Array, a numpy array, or anything that shows one without a copy (a tensor)."""
    if type(array) is Array:
        return array.live
    if type(array) is not np.ndarray:
        interface = getattr(array, "__cuda_array_interface__", None) if job.device() == "cuda" else None
        if interface:
            return _chime.view(interface["data"][0], interface["shape"], interface.get("strides") or (), np.dtype(interface["typestr"]), array)
        seen = np.asarray(array)
        if writable and not np.may_share_memory(seen, np.asarray(array)):
            raise InvalidError(f"the {name} is a {type(array).__name__}, which cannot receive: pass an array")
        array = seen
    if writable and not array.flags.writeable:
        raise InvalidError(f"the {name} is read-only")
    return array


def put(dst, src, pe, *, nbi=False, stream=None):
    """Copies local `src` to `pe`'s `dst`. The source may be reused at once, unless nbi or a stream; quiet() completes it there.

    Shapes and element types must be equal; numbers and lists become what `dst` has. Strides may be any that are positive: columns of a plate are one
    call.
    """
    to = symmetric(dst, "destination")
    if np.isscalar(src):
        src = np.full(to.shape, src, to.dtype)
    elif isinstance(src, (list, tuple)):
        src = np.array(src, to.dtype)
    if stream is None:
        _chime.put(to, local(src, "source"), pe, nbi)
    else:
        _chime.put_on_stream(to, stream.hold(local(src, "source")), pe, nbi, stream.handle)


def get(dst, src, pe, *, nbi=False, stream=None):
    """Copies `pe`'s `src` to local `dst`. With nbi, quiet() completes it."""
    to = local(dst, "destination", writable=True)
    if stream is None:
        _chime.get(to, symmetric(src, "source"), pe, nbi)
    else:
        _chime.get_on_stream(stream.hold(to), symmetric(src, "source"), pe, nbi, stream.handle)


def put_signal(dst, src, sig, value, pe, *, op=SIGNAL_SET, nbi=False, stream=None):
    """put(), and then the update of the signal `sig` at `pe`: who sees the signal sees this call's data."""
    to, word = symmetric(dst, "destination"), signal_address(sig)
    if stream is None:
        _chime.put_signal(to, local(src, "source"), word, value, op, pe, nbi)
    else:
        _chime.put_signal_on_stream(to, stream.hold(local(src, "source")), word, value, op, pe, nbi, stream.handle)


def signal_address(sig):
    """Of a signal: an Array of one element of type uint64."""
    view = symmetric(sig, "signal")
    if view.size != 1 or view.dtype != np.uint64:
        raise InvalidError(f"a signal is one element of type uint64, not {view.shape} of {view.dtype}: index it")
    return _chime.address(view)


def fence():
    """Orders puts, atomics and signal updates at each PE."""
    _chime.fence()


def quiet(*, stream=None):
    """Completes all that this PE has sent."""
    _chime.quiet() if stream is None else _chime.quiet_on_stream(stream.handle)
