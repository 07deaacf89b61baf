"""A kernel of PTX, loaded and launched by CUDA's driver."""

from __future__ import annotations

import ctypes
from typing import Any, List, Optional, Sequence

from . import _chime, job
from .errors import LaunchError, SystemRefusedError

_DRIVER = "libcuda.so.1"
_PER_THREAD = 2  # CU_STREAM_PER_THREAD: the default stream of Chime's launches
_MAJOR, _MINOR = 75, 76  # CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, _MINOR
_MOST_SHARED = 8  # CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
_WITHOUT_ASKING = 48 * 1024  # bytes of shared memory
_LOG, _LOG_SIZE = 5, 6  # CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES
_LOG_ROOM = 8192
_NEWER_PTX = 222  # CUDA_ERROR_UNSUPPORTED_PTX_VERSION
_CANNOT_LAUNCH = (1, 209, 701, 720)  # CUDA_ERROR_ INVALID_VALUE, NO_BINARY_FOR_GPU, LAUNCH_OUT_OF_RESOURCES, COOPERATIVE_LAUNCH_TOO_LARGE


class Driver:
    """The driver, on the PE's GPU. Its primary context, which has the modules, stays until the process ends.

    Made by the thread that has called chime.init(), whose GPU is the PE's.
    """

    def __init__(self, file: str = _DRIVER) -> None:
        try:
            self._library = ctypes.CDLL(file)
        except OSError as error:
            raise SystemRefusedError(f"CUDA's driver does not load: {error}") from None
        device, self._context = ctypes.c_int(), ctypes.c_void_p()
        if self._library.cuCtxGetDevice(ctypes.byref(device)) != 0:
            raise SystemRefusedError("this thread has no CUDA context: the first kernel is compiled by the thread that has called chime.init()")
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(self._context), device)
        self._device = device.value

    def words(self, status: int) -> str:
        """What the driver calls a status."""
        parts = []
        for function in ("cuGetErrorName", "cuGetErrorString"):
            text = ctypes.c_char_p()
            getattr(self._library, function)(status, ctypes.byref(text))
            parts.append((text.value or b"?").decode())
        return ": ".join(parts)

    def call(self, function: str, *arguments: Any) -> None:
        """Raises LaunchError for what the GPU cannot launch, else SystemRefusedError."""
        status = getattr(self._library, function)(*arguments)
        if status != 0:
            kind = LaunchError if function.startswith(("cuLaunch", "cuFunc")) and status in _CANNOT_LAUNCH else SystemRefusedError
            raise kind(f"{function}: {self.words(status)}")

    def enter(self) -> None:
        """Makes the context the calling thread's: a thread that has made no call has none."""
        self.call("cuCtxSetCurrent", self._context)

    def architecture(self) -> str:
        """Of the PE's GPU: sm_90."""
        numbers = (ctypes.c_int(), ctypes.c_int())
        for number, attribute in zip(numbers, (_MAJOR, _MINOR)):
            self.call("cuDeviceGetAttribute", ctypes.byref(number), attribute, self._device)
        return f"sm_{numbers[0].value}{numbers[1].value}"

    def load(self, ptx: str) -> ctypes.c_void_p:
        """The module of this PTX. Raises LaunchError with the words of the driver's compiler."""
        module, log = ctypes.c_void_p(), ctypes.create_string_buffer(_LOG_ROOM)
        options = (ctypes.c_int * 2)(_LOG, _LOG_SIZE)
        values = (ctypes.c_void_p * 2)(ctypes.addressof(log), _LOG_ROOM)
        status = self._library.cuModuleLoadDataEx(ctypes.byref(module), ptx.encode(), 2, options, values)
        if status == 0:
            return module
        why = self.words(status)
        if status == _NEWER_PTX:
            why += ". NVRTC is of a newer CUDA than the driver: update the driver, or name an older libnvrtc.so by compiler="
        raise LaunchError(f"the driver does not load the kernel: {why}\n{log.value.decode(errors='replace')}".strip())


_driver: Optional[Driver] = None


def driver() -> Driver:
    """The process's. Raises SystemRefusedError if there is none."""
    global _driver
    if _driver is None:
        _driver = Driver()
    return _driver


class Module:
    """A kernel that this process has loaded, and that belongs to its PE."""

    def __init__(self, ptx: str, lowered: str, parameters: Sequence[str], by: Driver) -> None:
        self.parameters: List[str] = list(parameters)
        self._driver, self._generation = by, 0
        self._function = ctypes.c_void_p()
        by.enter()
        self._module = by.load(ptx)
        by.call("cuModuleGetFunction", ctypes.byref(self._function), self._module, lowered.encode())

    def launch(self, grid: Sequence[int], block: Sequence[int], shared_bytes: int, stream: Optional[int], is_collective: bool, arguments: Any) -> None:
        """Launches it, and waits for it without a stream; `arguments`: an array of the address of each."""
        self._driver.enter()
        if self._generation != job.generation():  # the PE of an earlier job is another one
            _chime.cumodule_init(self._module.value or 0)
            self._generation = job.generation()
        if shared_bytes > _WITHOUT_ASKING:
            self._driver.call("cuFuncSetAttribute", self._function, _MOST_SHARED, shared_bytes)
        queue = ctypes.c_void_p(_PER_THREAD if stream is None else stream)
        extents = [ctypes.c_uint(number) for number in (*grid, *block, shared_bytes)]
        if is_collective:
            self._driver.call("cuLaunchCooperativeKernel", self._function, *extents, queue, arguments)
        else:
            self._driver.call("cuLaunchKernel", self._function, *extents, queue, arguments, None)
        if stream is None:
            self._driver.call("cuStreamSynchronize", queue)
