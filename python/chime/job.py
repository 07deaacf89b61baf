"""The job: joining it, leaving it, and what it consists of."""

from __future__ import annotations

import os
import weakref
from typing import TYPE_CHECKING, Any, Dict, Mapping, NoReturn, Optional, Type

from . import _chime, cuda_module
from .errors import InvalidError

if TYPE_CHECKING:
    from types import TracebackType

    from typing_extensions import Self

    from .array import _Block

_blocks: weakref.WeakSet[_Block] = weakref.WeakSet()  # allocations that live; finalize ends them
_device = "cpu"


class Job:
    """What init returns: a context manager that leaves the job, unless an exception has left its block."""

    @property
    def my_pe(self) -> int:
        """This process's number, 0 to n_pes - 1. Raises NotInitializedError after finalize."""
        return _chime.my_pe()

    @property
    def n_pes(self) -> int:
        """How many PEs the job has. Raises NotInitializedError after finalize."""
        return _chime.n_pes()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], value: Optional[BaseException], trace: Optional[TracebackType]) -> None:
        # Finalize waits for all PEs, and one that has failed may be waited for by none: the launcher ends the job then.
        if kind is None:
            finalize()


def init(*, comm: Any = None, uid: Optional[bytes] = None, my_pe: Optional[int] = None, n_pes: Optional[int] = None,
         settings: Optional[Mapping[str, Any]] = None) -> Job:
    """Joins the job. Collective.

    Without arguments the launcher names the PEs: chime-run, a PMIx launcher (mpirun, srun), else a job of one PE.

      comm          an mpi4py intracommunicator: its ranks become PEs. Collective over it
      uid           from unique_id(), the same on all PEs
      my_pe, n_pes  with uid: this process's number, and how many PEs call
      settings      {"CHIME_SYMMETRIC_SIZE": "4G"}: before the environment, and that before the default

    Failed calls raise chime.Error. So CHIME_ON_ERROR, which would end the process, is always `return` here.

    Raises InvalidError for arguments and settings that do not fit or a process that is a PE, MismatchError if PEs disagree, TimeoutError if a PE does
    not come, UnreachableError if no path leads to one.
    """
    global _device
    if is_initialized():
        raise InvalidError("this process is a PE already: call chime.finalize() first")
    wanted: Dict[str, str] = {name: str(value) for name, value in (settings or {}).items()}
    if wanted.setdefault("CHIME_ON_ERROR", "return") != "return":
        raise InvalidError("CHIME_ON_ERROR is 'return' in Python, where failed calls raise exceptions; leave it out")
    if comm is not None and uid is not None:
        raise InvalidError("init takes comm or uid, not both")
    if uid is None and (my_pe is not None or n_pes is not None):
        raise InvalidError("my_pe and n_pes go with uid; a launcher or a communicator numbers the PEs itself")
    if uid is not None and (my_pe is None or n_pes is None):
        raise InvalidError("uid wants my_pe and n_pes, too")
    # `auto` is what the program is compiled for, and Python programs have no kernels when they start.
    is_gpu = wanted.get("CHIME_DEVICE", os.environ.get("CHIME_DEVICE", "auto")) == "cuda"
    if is_gpu:
        cuda_module.open_softgpu()
    pairs = list(wanted.items())
    if comm is not None:
        from mpi4py import MPI

        _chime.init_mpi(MPI._addressof(comm), pairs)
    elif uid is not None and my_pe is not None and n_pes is not None:
        _chime.init_uniqueid(uid, my_pe, n_pes, pairs)
    else:
        _chime.init_launcher(pairs)
    _device = "cuda" if is_gpu else "cpu"
    if is_gpu:
        cuda_module.remember()
    return Job()


def finalize() -> None:
    """Leaves the job. Collective; waits for all PEs. Frees all symmetric arrays: views of them (Array.np) must not be used any more.

    Raises NotInitializedError outside of a job.
    """
    has_met = False
    try:
        _chime.finalize()
        has_met = True
    finally:
        if not _chime.is_initialized():  # a refused call leaves the job as it is
            cuda_module.forget(kernels_have_ended=has_met)
            for block in list(_blocks):
                block.end("chime.finalize() has freed it")


def unique_id() -> bytes:
    """Bytes that name a new job to the PEs that get them. The process that made them must live until all PEs have joined.

    Raises SystemRefusedError where it can listen at no address.
    """
    return _chime.unique_id()


def device() -> str:
    """Where symmetric memory lies: "cpu" or "cuda". Raises nothing."""
    return _device


def is_initialized() -> bool:
    """Whether this process is a PE: between init() and finalize(). Raises nothing."""
    return _chime.is_initialized()


def my_pe() -> int:
    """This process's number, 0 to n_pes() - 1. Raises NotInitializedError outside of a job."""
    return _chime.my_pe()


def n_pes() -> int:
    """How many PEs the job has. Raises NotInitializedError outside of a job."""
    return _chime.n_pes()


def node_my_pe() -> int:
    """This process's number among the PEs of its machine. Raises NotInitializedError outside of a job."""
    return _chime.node_my_pe()


def node_n_pes() -> int:
    """How many of the job's PEs run on this machine. Raises NotInitializedError outside of a job."""
    return _chime.node_n_pes()


def pe_status(pe: int) -> int:
    """0 if a PE is alive and reachable, else the `status` of the exception that names the reason.

      pe      0 to n_pes - 1

    Raises NotInitializedError outside of a job.
    """
    return _chime.pe_status(pe)


def global_exit(status: int) -> NoReturn:
    """Ends the whole job, and does not return.

      status  the processes' exit status, 0 to 255

    Raises NotInitializedError outside of a job.
    """
    _chime.global_exit(status)
