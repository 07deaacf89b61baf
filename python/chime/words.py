"""Signals, waits on words, and atomics."""

import numpy as np

from . import _chime
from .array import SIGNAL_SET, native, signal_address, symmetric
from .errors import InvalidError

_COMPARISONS = {"==": 0, "!=": 1, ">": 2, "<=": 3, "<": 4, ">=": 5}
_FETCH, _SET, _ADD, _AND, _OR, _XOR, _SWAP, _COMPARE_SWAP, _INC, _FLOAT_ADD = range(10)
_OLD = 0x100  # the call returns the old value


def _comparison(cmp):
    if cmp not in _COMPARISONS:
        raise InvalidError(f"the comparison is {cmp!r}; it may be {', '.join(_COMPARISONS)}")
    return _COMPARISONS[cmp]


def _seconds(timeout):
    if timeout is None:
        return -1.0
    if not 0 <= timeout <= 1e9:  # nor what is no number
        raise InvalidError(f"the timeout is {timeout} s; it may be None or from 0 to 1e9")
    return float(timeout)


def signal_op(sig, value, pe, *, op=SIGNAL_SET, stream=None):
    """Sets `pe`'s signal, or adds to it (op=SIGNAL_ADD)."""
    word = signal_address(sig)
    _chime.signal_op(word, value, op, pe) if stream is None else _chime.signal_op_on_stream(word, value, op, pe, stream.handle)


def signal_fetch(sig):
    """The value of this PE's signal."""
    return _chime.signal_fetch(signal_address(sig))


def signal_wait(sig, cmp, value, *, timeout=None, stream=None):
    """Waits until this PE's signal compares true ("==", "!=", ">", "<=", "<", ">="); returns its value. On a stream, the stream waits.

    timeout: seconds; then chime.TimeoutError. Ctrl-C ends the wait.
    """
    if stream is None:
        return _chime.signal_wait(signal_address(sig), _comparison(cmp), value, _seconds(timeout))
    if timeout is not None:
        raise InvalidError("a wait on a stream has no timeout")
    return _chime.signal_wait_on_stream(signal_address(sig), _comparison(cmp), value, stream.handle)


def _word(array, kinds, sizes, what):
    view = symmetric(array, "word")
    if view.size != 1:
        raise InvalidError(f"{what} takes one element, not {view.shape}: index the array")
    native(view.dtype)
    if view.dtype.kind not in kinds or view.dtype.itemsize not in sizes:
        raise InvalidError(f"{what} does not take elements of type {view.dtype}")
    return view


def _one(value, dtype):
    one = np.array(value, dtype)
    if one.size != 1:
        raise InvalidError(f"one value is wanted, not {one.size}")
    return one


def wait(word, cmp, value, *, timeout=None):
    """Waits until this PE's element compares true; an integer of 2, 4 or 8 bytes. Timeout and Ctrl-C as signal_wait."""
    view = _word(word, "iu", (2, 4, 8), "wait")
    _chime.wait(view, _comparison(cmp), _one(value, view.dtype), _seconds(timeout))


def test(word, cmp, value):
    """Whether this PE's element compares true now."""
    view = _word(word, "iu", (2, 4, 8), "test")
    return _chime.test(view, _comparison(cmp), _one(value, view.dtype))


def _amo(op, word, pe, value=0, compare=0):
    kind = op & 0xFF
    if kind in (_FETCH, _SET, _SWAP):
        view = _word(word, "iuf", (4, 8) if word.dtype.kind != "f" else (2, 4, 8), "this atomic")
    elif kind == _ADD:
        view = _word(word, "iuf", (4, 8) if word.dtype.kind != "f" else (2, 4, 8), "an atomic add")
        op = op - _ADD + _FLOAT_ADD if view.dtype.kind == "f" else op
    else:
        view = _word(word, "iu", (4, 8), "this atomic")
    dtype = view.dtype
    return _chime.amo(op, view, _one(value, dtype), _one(compare, dtype), pe)[()]


def atomic_fetch(word, pe):
    """The value of `word`, an Array of one element, at `pe`."""
    return _amo(_FETCH | _OLD, word, pe)


def atomic_set(word, value, pe):
    _amo(_SET, word, pe, value)


def atomic_swap(word, value, pe):
    """Sets it, and returns the value before."""
    return _amo(_SWAP | _OLD, word, pe, value)


def atomic_compare_swap(word, compare, value, pe):
    """Sets it if it is `compare`; returns the value before."""
    return _amo(_COMPARE_SWAP | _OLD, word, pe, value, compare)


def atomic_inc(word, pe):
    _amo(_INC, word, pe, 1)


def atomic_add(word, value, pe):
    _amo(_ADD, word, pe, value)


def atomic_and(word, value, pe):
    _amo(_AND, word, pe, value)


def atomic_or(word, value, pe):
    _amo(_OR, word, pe, value)


def atomic_xor(word, value, pe):
    _amo(_XOR, word, pe, value)


def atomic_fetch_inc(word, pe):
    return _amo(_INC | _OLD, word, pe, 1)


def atomic_fetch_add(word, value, pe):
    return _amo(_ADD | _OLD, word, pe, value)


def atomic_fetch_and(word, value, pe):
    return _amo(_AND | _OLD, word, pe, value)


def atomic_fetch_or(word, value, pe):
    return _amo(_OR | _OLD, word, pe, value)


def atomic_fetch_xor(word, value, pe):
    return _amo(_XOR | _OLD, word, pe, value)
