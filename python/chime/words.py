"""Signals, waits on words, and atomics."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Optional, Tuple, overload

import numpy as np

from . import _chime
from .array import SIGNAL_SET, native, number, signal_address, signal_value, symmetric
from .errors import InvalidError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .array import Array
    from .stream import Stream

_COMPARISONS = {"==": 0, "!=": 1, ">": 2, "<=": 3, "<": 4, ">=": 5}
_FETCH, _SET, _ADD, _AND, _OR, _XOR, _SWAP, _COMPARE_SWAP, _INC, _FLOAT_ADD = range(10)
_OLD = 0x100  # the call returns the old value


def _comparison(cmp: str) -> int:
    if cmp not in _COMPARISONS:
        raise InvalidError(f"the comparison is {cmp!r}; it may be {', '.join(_COMPARISONS)}")
    return _COMPARISONS[cmp]


def _seconds(timeout: Optional[float]) -> float:
    if timeout is None:
        return -1.0
    if not 0 <= timeout <= 1e9:  # nor what is no number
        raise InvalidError(f"the timeout is {timeout} s; it may be None or from 0 to 1e9")
    return float(timeout)


def signal_op(sig: Array, value: int, pe: int, *, op: int = SIGNAL_SET, stream: Optional[Stream] = None) -> None:
    """Sets `pe`'s signal, or adds to it.

      sig     one element of type uint64
      value   0 to 2**64 - 1
      pe      0 to n_pes - 1
      op      SIGNAL_SET, or SIGNAL_ADD
      stream  queues the call there, and returns

    Raises InvalidError for another signal, value or PE, PeerDeadError if the PE has died.
    """
    word, value = signal_address(sig), signal_value(value)
    _chime.signal_op(word, value, op, pe) if stream is None else _chime.signal_op_on_stream(word, value, op, pe, stream.handle)


def signal_fetch(sig: Array) -> int:
    """The value of this PE's signal.

      sig     one element of type uint64

    Raises InvalidError for another signal.
    """
    return _chime.signal_fetch(signal_address(sig))


@overload
def signal_wait(sig: Array, cmp: str, value: int, *, timeout: Optional[float] = None) -> int: ...
@overload
def signal_wait(sig: Array, cmp: str, value: int, *, stream: Stream) -> None: ...
@overload
def signal_wait(sig: Array, cmp: str, value: int, *, timeout: Optional[float], stream: Optional[Stream]) -> Optional[int]: ...


def signal_wait(sig: Array, cmp: str, value: int, *, timeout: Optional[float] = None, stream: Optional[Stream] = None) -> Optional[int]:
    """Waits until this PE's signal compares true, and returns its value. Ctrl-C ends the wait.

      sig      one element of type uint64
      cmp      "==", "!=", ">", "<=", "<" or ">=": the signal stands on the left
      value    0 to 2**64 - 1
      timeout  seconds; None waits for ever
      stream   which waits instead of the host: the call returns None at once

    Raises InvalidError for other arguments, TimeoutError after the timeout, PeerDeadError some time after a PE has died.
    """
    word, compared, value = signal_address(sig), _comparison(cmp), signal_value(value)
    if stream is None:
        return _chime.signal_wait(word, compared, value, _seconds(timeout))
    if timeout is not None:
        raise InvalidError("a wait on a stream has no timeout")
    _chime.signal_wait_on_stream(word, compared, value, stream.handle)
    return None


def _word(array: Array, kinds: str, sizes: Tuple[int, ...], what: str) -> NDArray[Any]:
    view = symmetric(array, "word")
    if view.size != 1:
        raise InvalidError(f"{what} takes one element, not {view.shape}: index the array")
    native(view.dtype)
    if view.dtype.kind not in kinds or view.dtype.itemsize not in sizes:
        raise InvalidError(f"{what} does not take elements of type {view.dtype}")
    return view


def _one(value: Any, dtype: np.dtype[Any], which: str = "value") -> NDArray[Any]:
    if isinstance(value, (int, float)):  # what is mostly given, at once
        return number(value, dtype, which, "the element")
    given = np.asarray(value, object)
    if given.size != 1:
        raise InvalidError(f"one {which} is wanted, not {given.size}")
    return number(given.item(), dtype, which, "the element")


def wait(word: Array, cmp: str, value: Any, *, timeout: Optional[float] = None) -> None:
    """Waits until this PE's element compares true. Ctrl-C ends the wait.

      word     an integer of 2, 4 or 8 bytes: an Array of one element
      cmp      "==", "!=", ">", "<=", "<" or ">=": the element stands on the left
      value    one number of its type
      timeout  seconds; None waits for ever

    Raises InvalidError for other arguments, TimeoutError after the timeout, PeerDeadError some time after a PE has died.
    """
    view = _word(word, "iu", (2, 4, 8), "wait")
    _chime.wait(view, _comparison(cmp), _one(value, view.dtype), _seconds(timeout))


def test(word: Array, cmp: str, value: Any) -> bool:
    """Whether this PE's element compares true now.

      word    an integer of 2, 4 or 8 bytes: an Array of one element
      cmp     "==", "!=", ">", "<=", "<" or ">=": the element stands on the left
      value   one number of its type

    Raises InvalidError for other arguments.
    """
    view = _word(word, "iu", (2, 4, 8), "test")
    return _chime.test(view, _comparison(cmp), _one(value, view.dtype))


def _amo(op: int, word: Array, pe: int, value: Any = 0, compare: Any = 0) -> Any:
    kind, is_float = op & 0xFF, symmetric(word, "word").dtype.kind == "f"
    if kind in (_FETCH, _SET, _SWAP):
        view = _word(word, "iuf", (2, 4, 8) if is_float else (4, 8), "this atomic")
    elif kind == _ADD:
        view = _word(word, "iuf", (2, 4, 8) if is_float else (4, 8), "an atomic add")
        op = op - _ADD + _FLOAT_ADD if is_float else op
    else:
        view = _word(word, "iu", (4, 8), "this atomic")
    dtype = view.dtype
    return _chime.amo(op, view, _one(value, dtype), _one(compare, dtype, "compare"), pe)[()]


def atomic_fetch(word: Array, pe: int) -> Any:
    """Returns `pe`'s element, read at once.

      word    an integer of 4 or 8 bytes, or a float of 2, 4 or 8: an Array of one element
      pe      0 to n_pes - 1

    Raises InvalidError for another type or PE, PeerDeadError if the PE has died.
    """
    return _amo(_FETCH | _OLD, word, pe)


def atomic_set(word: Array, value: Any, pe: int) -> None:
    """Sets `pe`'s element at once.

      word    an integer of 4 or 8 bytes, or a float of 2, 4 or 8: an Array of one element
      value   one number of its type
      pe      0 to n_pes - 1

    Raises InvalidError for another type, value or PE, PeerDeadError if the PE has died.
    """
    _amo(_SET, word, pe, value)


def atomic_swap(word: Array, value: Any, pe: int) -> Any:
    """Sets `pe`'s element, and returns what it was before.

      word    an integer of 4 or 8 bytes, or a float of 2, 4 or 8: an Array of one element
      value   one number of its type
      pe      0 to n_pes - 1

    Raises InvalidError for another type, value or PE, PeerDeadError if the PE has died.
    """
    return _amo(_SWAP | _OLD, word, pe, value)


def atomic_compare_swap(word: Array, compare: Any, value: Any, pe: int) -> Any:
    """Sets `pe`'s element if it is `compare`; returns what it was before.

      word    an integer of 4 or 8 bytes: an Array of one element
      compare what it must be
      value   one number of its type
      pe      0 to n_pes - 1

    Raises InvalidError for another type, value or PE, PeerDeadError if the PE has died.
    """
    return _amo(_COMPARE_SWAP | _OLD, word, pe, value, compare)


def atomic_inc(word: Array, pe: int) -> None:
    """Adds 1 to `pe`'s element.

      word    an integer of 4 or 8 bytes: an Array of one element
      pe      0 to n_pes - 1

    Raises InvalidError for another type or PE, PeerDeadError if the PE has died.
    """
    _amo(_INC, word, pe, 1)


def atomic_fetch_inc(word: Array, pe: int) -> Any:
    """Adds 1 to `pe`'s element, and returns what it was before.

      word    an integer of 4 or 8 bytes: an Array of one element
      pe      0 to n_pes - 1

    Raises InvalidError for another type or PE, PeerDeadError if the PE has died.
    """
    return _amo(_INC | _OLD, word, pe, 1)


def atomic_add(word: Array, value: Any, pe: int) -> None:
    """Adds to `pe`'s element.

      word    an integer of 4 or 8 bytes, or a float of 2, 4 or 8: an Array of one element
      value   one number of its type
      pe      0 to n_pes - 1

    Raises InvalidError for another type, value or PE, PeerDeadError if the PE has died.
    """
    _amo(_ADD, word, pe, value)


def atomic_fetch_add(word: Array, value: Any, pe: int) -> Any:
    """Adds to `pe`'s element, and returns what it was before.

      word    an integer of 4 or 8 bytes, or a float of 2, 4 or 8: an Array of one element
      value   one number of its type
      pe      0 to n_pes - 1

    Raises InvalidError for another type, value or PE, PeerDeadError if the PE has died.
    """
    return _amo(_ADD | _OLD, word, pe, value)


def atomic_and(word: Array, value: Any, pe: int) -> None:
    """Ands bits into `pe`'s element.

      word    an integer of 4 or 8 bytes: an Array of one element
      value   one number of its type
      pe      0 to n_pes - 1

    Raises InvalidError for another type, value or PE, PeerDeadError if the PE has died.
    """
    _amo(_AND, word, pe, value)


def atomic_fetch_and(word: Array, value: Any, pe: int) -> Any:
    """Ands bits into `pe`'s element, and returns what it was before.

      word    an integer of 4 or 8 bytes: an Array of one element
      value   one number of its type
      pe      0 to n_pes - 1

    Raises InvalidError for another type, value or PE, PeerDeadError if the PE has died.
    """
    return _amo(_AND | _OLD, word, pe, value)


def atomic_or(word: Array, value: Any, pe: int) -> None:
    """Ors bits into `pe`'s element.

      word    an integer of 4 or 8 bytes: an Array of one element
      value   one number of its type
      pe      0 to n_pes - 1

    Raises InvalidError for another type, value or PE, PeerDeadError if the PE has died.
    """
    _amo(_OR, word, pe, value)


def atomic_fetch_or(word: Array, value: Any, pe: int) -> Any:
    """Ors bits into `pe`'s element, and returns what it was before.

      word    an integer of 4 or 8 bytes: an Array of one element
      value   one number of its type
      pe      0 to n_pes - 1

    Raises InvalidError for another type, value or PE, PeerDeadError if the PE has died.
    """
    return _amo(_OR | _OLD, word, pe, value)


def atomic_xor(word: Array, value: Any, pe: int) -> None:
    """Exclusive-ors bits into `pe`'s element.

      word    an integer of 4 or 8 bytes: an Array of one element
      value   one number of its type
      pe      0 to n_pes - 1

    Raises InvalidError for another type, value or PE, PeerDeadError if the PE has died.
    """
    _amo(_XOR, word, pe, value)


def atomic_fetch_xor(word: Array, value: Any, pe: int) -> Any:
    """Exclusive-ors bits into `pe`'s element, and returns what it was before.

      word    an integer of 4 or 8 bytes: an Array of one element
      value   one number of its type
      pe      0 to n_pes - 1

    Raises InvalidError for another type, value or PE, PeerDeadError if the PE has died.
    """
    return _amo(_XOR | _OLD, word, pe, value)
