"""Streams: work in order, beside the host."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any, Dict, Optional, Type

from . import _chime, job
from .errors import InvalidError, UnsupportedError

if TYPE_CHECKING:
    from types import TracebackType

    from numpy.typing import NDArray
    from typing_extensions import Self

_queued: Dict[int, Dict[int, Any]] = {}  # by stream: memory that its work uses, by call, however long the Stream itself is kept
_calls = itertools.count()


class Stream:
    """Work in order, beside the host: a new stream of the CPU device, or an existing CUDA stream. A context manager: leaving it closes the stream.

      handle  the number of a cudaStream_t: Stream(torch.cuda.Stream().cuda_stream). Without it the CPU device makes a stream

    Raises UnsupportedError for a new stream on a GPU, NotInitializedError outside of a job.
    """

    def __init__(self, handle: Optional[int] = None) -> None:
        if handle is None and job.device() != "cpu":
            raise UnsupportedError("on a GPU make the stream by its library, and pass the number of its cudaStream_t")
        self._is_own = handle is None
        made = _chime.stream_create() if handle is None else int(handle)
        self._handle: Optional[int] = made
        self._held: Dict[int, Any] = _queued.setdefault(made, {}) if self._is_own else {}

    @property
    def handle(self) -> int:
        """Its number: a cudaStream_t, or the CPU device's stream. Raises InvalidError if it is closed."""
        if self._handle is None:
            raise InvalidError("this stream is closed")
        return self._handle

    def hold(self, array: NDArray[Any]) -> None:
        """Keeps memory that queued work uses: until synchronize() of an own stream, and as long as this object for another library's stream.

          array   what is kept

        Call it when the work is in the queue. If it came before, another thread's synchronize() could come in between: it would let the memory go and
        not wait for the work. Raises nothing.
        """
        self._held[next(_calls)] = array

    def synchronize(self) -> None:
        """Waits for the queued work.

        Raises UnsupportedError for a CUDA stream, which is its library's to wait for, and the error of queued work that has failed.
        """
        if not self._is_own:
            raise UnsupportedError("this stream is another library's: synchronize it there")
        awaited = list(self._held)  # not what other threads queue meanwhile
        _chime.stream_synchronize(self.handle)
        for call in awaited:
            self._held.pop(call, None)
        _chime.fence()  # raises what kernels have met

    def close(self) -> None:
        """Waits for the queued work, and ends an own stream. Raises what synchronize() raises."""
        if self._is_own and self._handle is not None:
            self.synchronize()
            _chime.stream_destroy(self._handle)
            del _queued[self._handle]
        self._handle = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], value: Optional[BaseException], trace: Optional[TracebackType]) -> None:
        if kind is None:
            self.close()
