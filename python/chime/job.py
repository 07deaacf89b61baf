"""The job: joining it, leaving it, and what it consists of."""

import os
import weakref

from . import _chime
from .errors import InvalidError

_blocks = weakref.WeakSet()  # allocations that live; finalize ends them
_device = "cpu"


class Job:
    """What init returns: a context manager that leaves the job. `my_pe`, `n_pes`: of this process, and of the job."""

    @property
    def my_pe(self):
        return _chime.my_pe()

    @property
    def n_pes(self):
        return _chime.n_pes()

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        # Finalize waits for all PEs, and one that has failed may be waited for by none: the launcher ends the job then.
        if kind is None:
            finalize()


def init(*, comm=None, uid=None, my_pe=None, n_pes=None, settings=None):
    """Joins the job. Collective.

    Without arguments the launcher names the PEs: chime-run, a PMIx launcher (mpirun, srun), else a job of one PE.

      comm          an mpi4py intracommunicator: its ranks become PEs. Collective over it
      uid           from unique_id(), the same on all PEs; with my_pe and n_pes
      settings      {"CHIME_SYMMETRIC_SIZE": "4G"}: before the environment, and that before the default

    Failed calls raise chime.Error. So CHIME_ON_ERROR, which would end the process, is always `return` here.
    """
    global _device
    if is_initialized():
        raise InvalidError("this process is a PE already: call chime.finalize() first")
    wanted = {name: str(value) for name, value in (settings or {}).items()}
    if wanted.setdefault("CHIME_ON_ERROR", "return") != "return":
        raise InvalidError("CHIME_ON_ERROR is 'return' in Python, where failed calls raise exceptions; leave it out")
    if comm is not None and uid is not None:
        raise InvalidError("init takes comm or uid, not both")
    if uid is None and (my_pe is not None or n_pes is not None):
        raise InvalidError("my_pe and n_pes go with uid; a launcher or a communicator numbers the PEs itself")
    if uid is not None and (my_pe is None or n_pes is None):
        raise InvalidError("uid wants my_pe and n_pes, too")
    pairs = list(wanted.items())
    if comm is not None:
        from mpi4py import MPI

        _chime.init_mpi(MPI._addressof(comm), pairs)
    elif uid is not None:
        _chime.init_uniqueid(uid, my_pe, n_pes, pairs)
    else:
        _chime.init_launcher(pairs)
    # `auto` is what the program is compiled for, and Python programs have no kernels when they start.
    is_gpu = wanted.get("CHIME_DEVICE", os.environ.get("CHIME_DEVICE", "auto")) == "cuda"
    _device = "cuda" if is_gpu else "cpu"
    return Job()


def finalize():
    """Leaves the job. Collective; waits for all PEs. Frees all symmetric arrays: views of them (Array.np) must not be used any more."""
    _chime.finalize()
    for block in list(_blocks):
        block.end("chime.finalize() has freed it")


def unique_id():
    """Bytes that name a new job to the PEs that get them. The process that made them must live until all PEs have joined."""
    return _chime.unique_id()


def device():
    """Where symmetric memory lies: "cpu" or "cuda"."""
    return _device


def is_initialized():
    return _chime.is_initialized()


def my_pe():
    return _chime.my_pe()


def n_pes():
    return _chime.n_pes()


def node_my_pe():
    return _chime.node_my_pe()


def node_n_pes():
    return _chime.node_n_pes()


def pe_status(pe):
    """0 if `pe` is alive and reachable, else a chimex_status."""
    return _chime.pe_status(pe)


def global_exit(status):
    """Ends the whole job. Does not return."""
    _chime.global_exit(status)
