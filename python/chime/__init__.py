"""Chime's host API for Python: symmetric arrays, put and get, signals, atomics, teams, collectives, streams, kernels.

    import chime

    with chime.init() as job:
        inbox = chime.zeros(4)
        chime.put(inbox, [1.0, 2.0, 3.0, 4.0], (job.my_pe + 1) % job.n_pes)
        chime.barrier()
        print(inbox.np)

Failed calls raise chime.Error, which has status, pe and text.
"""

import typing as _typing

import numpy as _numpy

from . import _chime as _extension
from . import numpy_fits as _numpy_fits

_numpy_fits.require(_numpy.__version__, _extension.knows_numpy_2)

from ._chime import version as __version__
from .array import SIGNAL_ADD, SIGNAL_SET, Array, empty, fence, get, put, put_signal, quiet, zeros
from .errors import (AbortedError, CompileError, Error, InvalidError, LaunchError, MismatchError, NetworkError, NotInitializedError, OutOfMemoryError,
                     PeerDeadError, SystemRefusedError, TimeoutError, UnreachableError, UnsupportedError)
from .job import Job, device, finalize, global_exit, init, is_initialized, my_pe, n_pes, node_my_pe, node_n_pes, pe_status, unique_id
from .stream import Stream
from .team import NODE, SAME_MYPE_NODE, SHARED, WORLD, Team, barrier, sync
from .words import (atomic_add, atomic_and, atomic_compare_swap, atomic_fetch, atomic_fetch_add, atomic_fetch_and, atomic_fetch_inc,
                    atomic_fetch_or, atomic_fetch_xor, atomic_inc, atomic_or, atomic_set, atomic_swap, atomic_xor, signal_fetch, signal_op,
                    signal_wait, test, wait)

if _typing.TYPE_CHECKING:
    from .kernels import Kernel, Launch, kernel

__all__ = [
    "SIGNAL_ADD", "SIGNAL_SET", "Array", "empty", "fence", "get", "put", "put_signal", "quiet", "zeros", "AbortedError", "CompileError", "Error", "InvalidError",
    "LaunchError", "MismatchError", "NetworkError", "NotInitializedError", "OutOfMemoryError", "PeerDeadError", "SystemRefusedError",
    "TimeoutError", "UnreachableError", "UnsupportedError", "Job", "device", "finalize", "global_exit", "init", "is_initialized", "my_pe",
    "n_pes", "node_my_pe", "node_n_pes", "pe_status", "unique_id", "Kernel", "Launch", "kernel", "Stream", "NODE", "SAME_MYPE_NODE", "SHARED", "WORLD", "Team", "barrier",
    "sync", "atomic_add", "atomic_and", "atomic_compare_swap", "atomic_fetch", "atomic_fetch_add", "atomic_fetch_and", "atomic_fetch_inc",
    "atomic_fetch_or", "atomic_fetch_xor", "atomic_inc", "atomic_or", "atomic_set", "atomic_swap", "atomic_xor", "signal_fetch", "signal_op",
    "signal_wait", "test", "wait",
]


def __getattr__(name: str) -> _typing.Any:
    # Kernels need modules that take longer to import than all of the rest.
    if name not in ("Kernel", "Launch", "kernel"):
        raise AttributeError(f"module 'chime' has no attribute {name!r}")
    from . import kernels

    return getattr(kernels, name)
