"""Exceptions. Each has `status` (a chimex_status), `pe` (the PE concerned, or None) and `text` (what is wrong, where, what to do)."""

from __future__ import annotations

import builtins
from typing import Optional


class Error(RuntimeError):
    """A call of Chime failed. `status`: a chimex_status. `pe`: the PE concerned, or None. `text`: what is wrong, where, what to do."""

    status = 0

    def __init__(self, text: str, status: Optional[int] = None, pe: Optional[int] = None) -> None:
        super().__init__(text)
        self.text = text
        self.status = type(self).status if status is None else status
        self.pe = pe


class InvalidError(Error, ValueError):
    """A wrong argument: a PE out of range, an array that is not symmetric, types or shapes that differ."""

    status = 1


class CompileError(InvalidError):
    """A kernel's text that does not compile: `text` has the compiler's words."""


class NotInitializedError(Error):
    """A call before init or after finalize."""

    status = 2


class OutOfMemoryError(Error, MemoryError):
    """The symmetric heap, or the system, has no room."""

    status = 3


class MismatchError(Error):
    """PEs disagree: about the size of an allocation, or a setting."""

    status = 4


class TimeoutError(Error, builtins.TimeoutError):
    """A bounded wait ended without its event."""

    status = 5


class AbortedError(Error):
    """The job is ending."""

    status = 6


class PeerDeadError(Error, ConnectionError):
    """A PE that the call needs has died; `pe` is its number."""

    status = 7


class UnreachableError(Error, ConnectionError):
    """No path leads to the PE."""

    status = 8


class UnsupportedError(Error):
    """This build or this machine cannot do it."""

    status = 9


class SystemRefusedError(Error):
    """The operating system or a driver refused."""

    status = 10


class LaunchError(Error):
    """A kernel could not be launched."""

    status = 11


class NetworkError(Error, ConnectionError):
    """A NIC could not carry out an operation."""

    status = 12


CLASSES = {kind.status: kind for kind in Error.__subclasses__()}


def error(status: int, pe: int, text: str) -> Error:
    """The exception for a status of the C library; `pe` below 0 means none."""
    return CLASSES.get(status, Error)(text, status, pe if pe >= 0 else None)
