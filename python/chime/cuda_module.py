"""A kernel of PTX, loaded and launched by CUDA's driver."""

from __future__ import annotations

import contextlib
import ctypes
import json
import pathlib
import threading
import weakref
from typing import Any, Dict, Iterator, List, Optional, Sequence, Tuple

from . import _chime
from .errors import Error, LaunchError, SystemRefusedError

_NVIDIAS, _SOFTGPUS = "libcuda.so.1", "libsoftgpu.so"
_RELAXED = 2  # CU_STREAM_CAPTURE_MODE_RELAXED
_PER_THREAD = 2  # CU_STREAM_PER_THREAD: the default stream of Chime's launches
_MAJOR, _MINOR = 75, 76  # CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, _MINOR
_MOST_SHARED = 8  # CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
_WITHOUT_ASKING = 48 * 1024  # bytes of shared memory
_LOG, _LOG_SIZE = 5, 6  # CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES
_LOG_ROOM = 8192
_RELEASE = "cuDevicePrimaryCtxRelease_v2"  # what cuda.h means by cuDevicePrimaryCtxRelease
_NEWER_PTX = 222  # CUDA_ERROR_UNSUPPORTED_PTX_VERSION
_CANNOT_LAUNCH = (1, 209, 701, 720)  # CUDA_ERROR_ INVALID_VALUE, NO_BINARY_FOR_GPU, LAUNCH_OUT_OF_RESOURCES, COOPERATIVE_LAUNCH_TOO_LARGE


def _here() -> pathlib.Path:
    return pathlib.Path(__file__).absolute().parent


def build_facts() -> Dict[str, Any]:
    """What Chime's build has written: folders of headers, the library, the compiler for a GPU, and what the GPU is."""
    build: Dict[str, Any] = json.loads((_here() / "kernel_paths.json").read_text())
    return build


class Driver:
    """The driver, on the calling thread's GPU: of one job, with the modules that it has loaded.

      file  the driver's library, else that of this Chime's GPU: the softgpu's is in the process already
    """

    def __init__(self, file: Optional[str] = None) -> None:
        try:
            self._library = ctypes.CDLL(file or (_SOFTGPUS if build_facts()["gpu"] == "softgpu" else _NVIDIAS))
        except OSError as error:
            raise SystemRefusedError(f"CUDA's driver does not load: {error}") from None
        device, self._context = ctypes.c_int(), ctypes.c_void_p()
        if self._library.cuCtxGetDevice(ctypes.byref(device)) != 0:
            raise SystemRefusedError("this thread has no CUDA context: chime.init() of a job on a GPU gives it one")
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(self._context), device)
        self._device = device.value
        self._loading = threading.Lock()
        self._modules: Dict[str, ctypes.c_void_p] = {}  # by PTX
        self._functions: Dict[Tuple[str, str], ctypes.c_void_p] = {}  # by PTX and name

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

    @contextlib.contextmanager
    def entered(self) -> Iterator[None]:
        """The context is the calling thread's, and then its own again: the thread may use another GPU, or none yet."""
        earlier = ctypes.c_void_p()
        self.call("cuCtxGetCurrent", ctypes.byref(earlier))
        self.call("cuCtxSetCurrent", self._context)
        try:
            with self._uncaptured():
                yield
        finally:
            self._library.cuCtxSetCurrent(earlier)

    @contextlib.contextmanager
    def _uncaptured(self) -> Iterator[None]:
        """The calls spoil no capture of a stream into a graph, which forbids this thread to load modules and to wait."""
        mode = ctypes.c_int(_RELAXED)
        self.call("cuThreadExchangeStreamCaptureMode", ctypes.byref(mode))
        try:
            yield
        finally:
            self._library.cuThreadExchangeStreamCaptureMode(ctypes.byref(mode))

    def architecture(self) -> str:
        """The compute capability of the PE's GPU, as compilers name it: sm_90."""
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

    def function(self, ptx: str, lowered: str) -> ctypes.c_void_p:
        """The kernel of this name, which belongs to the PE. A PTX is loaded once in a job."""
        found = self._functions.get((ptx, lowered))  # without the lock: a load may wait for a kernel that waits for this one
        return found or self._first(ptx, lowered)

    def _first(self, ptx: str, lowered: str) -> ctypes.c_void_p:
        with self._loading, self.entered():
            if (ptx, lowered) not in self._functions:
                function = ctypes.c_void_p()
                self.call("cuModuleGetFunction", ctypes.byref(function), self._module(ptx), lowered.encode())
                self._functions[ptx, lowered] = function
            return self._functions[ptx, lowered]

    def _module(self, ptx: str) -> ctypes.c_void_p:
        if ptx not in self._modules:
            module = self.load(ptx)
            try:
                _chime.cumodule_init(module.value or 0)
            except BaseException:
                self._library.cuModuleUnload(module)
                raise
            self._modules[ptx] = module
        return self._modules[ptx]

    def synchronize(self, stream: int) -> None:
        """Waits for a stream's work."""
        with self.entered():
            self.call("cuStreamSynchronize", ctypes.c_void_p(stream))

    def close(self) -> None:
        """After chime_finalize, which has waited for all kernels. Raises nothing: where the GPU is lost, nothing is left to give back."""
        try:
            with self.entered():
                for module in self._modules.values():
                    self._library.cuModuleUnload(module)
        except SystemRefusedError:
            pass
        release = getattr(self._library, _RELEASE, None) or self._library.cuDevicePrimaryCtxRelease  # the softgpu's name
        release(self._device)


def open_softgpu() -> None:
    """Before init of a wheel's or package's job on the softgpu: libchime.so takes the one that is loaded, as in programs of chime-cc. In a build folder it
    finds its own. Raises SystemRefusedError if it does not load."""
    build = build_facts()
    beside = (_here() / build["library"]).parent / _SOFTGPUS
    if build["gpu"] == "softgpu" and beside.exists():
        try:
            ctypes.CDLL(str(beside))
        except OSError as error:
            raise SystemRefusedError(f"the softgpu does not load: {error}") from None


_driver: Optional[Driver] = None
_kernels: weakref.WeakSet[Module] = weakref.WeakSet()  # those that the program holds, also of earlier jobs


def remember() -> None:
    """The job has begun: its PE's GPU is that of the calling thread, which may take another one later. It loads the kernels that the program has, for
    a launch may be too late: a load waits for kernels that run, and one of them may wait for the launch."""
    global _driver
    with contextlib.suppress(SystemRefusedError):  # driver() says what is wrong
        _driver = Driver()
        for kernel in list(_kernels):
            with contextlib.suppress(Error):  # its launch raises it: another GPU may be too old for it
                kernel.load()


def driver() -> Driver:
    """The job's. Raises SystemRefusedError if there is none."""
    global _driver
    if _driver is None:
        _driver = Driver()
    return _driver


def forget(kernels_have_ended: bool) -> None:
    """The job has ended: the next one's PE may have another GPU. Where a kernel may still run, modules stay: the driver would wait for it to unload them."""
    global _driver
    ended, _driver = _driver, None
    if ended is not None and kernels_have_ended:
        ended.close()


class Module:
    """A kernel of PTX. It is loaded now, and again at the start of each later job."""

    def __init__(self, ptx: str, lowered: str, parameters: Sequence[str]) -> None:
        self.parameters: List[str] = list(parameters)
        self._ptx, self._lowered = ptx, lowered
        self.load()
        _kernels.add(self)

    def load(self) -> None:
        """Into the job, unless it is there. Raises LaunchError with the words of the driver's compiler."""
        driver().function(self._ptx, self._lowered)

    def launch(self, grid: Sequence[int], block: Sequence[int], shared_bytes: int, stream: Optional[int], is_collective: bool, arguments: Any) -> None:
        """Launches it, and waits for it without a stream; `arguments`: an array of the address of each."""
        by = driver()
        function = by.function(self._ptx, self._lowered)
        queue = ctypes.c_void_p(_PER_THREAD if stream is None else stream)
        extents = [ctypes.c_uint(number) for number in (*grid, *block, shared_bytes)]
        with by.entered():
            if shared_bytes > _WITHOUT_ASKING:
                by.call("cuFuncSetAttribute", function, _MOST_SHARED, shared_bytes)
            if is_collective:
                by.call("cuLaunchCooperativeKernel", function, *extents, queue, arguments)
            else:
                by.call("cuLaunchKernel", function, *extents, queue, arguments, None)
            if stream is None:
                by.call("cuStreamSynchronize", queue)
