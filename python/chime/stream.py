"""Streams: work in order, beside the host."""

from . import _chime, job
from .errors import InvalidError, UnsupportedError


_queued = {}  # by stream: memory that its work uses, however long the Stream itself is kept


class Stream:
    """A new stream of the CPU device, or an existing CUDA stream: Stream(torch.cuda.Stream().cuda_stream). A context manager."""

    def __init__(self, handle=None):
        if handle is None and job.device() != "cpu":
            raise UnsupportedError("on a GPU make the stream by its library, and pass the number of its cudaStream_t")
        self._is_own = handle is None
        self._handle = _chime.stream_create() if handle is None else int(handle)
        self._held = _queued.setdefault(self._handle, []) if self._is_own else []

    @property
    def handle(self):
        if self._handle is None:
            raise InvalidError("this stream is closed")
        return self._handle

    def hold(self, array):
        """Keeps memory that queued work uses: of an own stream until synchronize(), of another library's as long as this object."""
        self._held.append(array)
        return array

    def synchronize(self):
        """Waits for the queued work, on the CPU device; a CUDA stream is its library's to wait for."""
        if not self._is_own:
            raise UnsupportedError("this stream is another library's: synchronize it there")
        _chime.stream_synchronize(self.handle)
        self._held.clear()

    def close(self):
        if self._is_own and self._handle is not None:
            self.synchronize()
            _chime.stream_destroy(self._handle)
            del _queued[self._handle]
        self._handle = None

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        if kind is None:
            self.close()
