"""Kernels from their text: compiled for the job's device, kept in a cache, launched with Arrays and numbers."""

from __future__ import annotations

import ctypes
import hashlib
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np

from . import _chime, cuda_module, errors, job, nvrtc
from .array import Array, local, native, number
from .errors import CompileError, InvalidError, NotInitializedError, UnsupportedError
from .kept import kept, listed
from .stream import Stream

_NVRTC = "nvrtc"
_HERE = pathlib.Path(__file__).absolute().parent  # of the link in a build folder
_ROOM = 1024  # bytes of a failure's reason


class _Request(ctypes.Structure):
    """kernel_launch.hpp's."""

    _fields_ = [
        ("grid", ctypes.c_uint * 3),
        ("block", ctypes.c_uint * 3),
        ("shared_bytes", ctypes.c_size_t),
        ("stream", ctypes.c_void_p),
        ("is_collective", ctypes.c_int),
        ("arguments", ctypes.POINTER(ctypes.c_void_p)),
        ("why", ctypes.c_char_p),
        ("room", ctypes.c_size_t),
    ]


# ---- Compiling ----------------------------------------------------------------------------------


def _build() -> Dict[str, Any]:
    build = cuda_module.build_facts()
    if "/" in (build["cuda"] or ""):  # of a wheel: seen from here
        build["cuda"] = str(_HERE / build["cuda"])
    return build


def _include(build: Dict[str, Any]) -> List[str]:
    return [str(_HERE / folder) for folder in (*build["include"], ".")]


def _wants_nvrtc(compiler: Optional[str]) -> bool:
    """Whether NVRTC compiles: it is named, or nvcc is not there for a GPU of NVIDIA's."""
    if compiler is not None and compiler != _NVRTC and not pathlib.Path(compiler).name.startswith("libnvrtc"):
        return False
    build = _build()
    if compiler is None:
        return job.device() == "cuda" and build["gpu"] == "cuda" and not shutil.which(build["cuda"])
    if job.device() != "cuda":
        raise UnsupportedError("NVRTC compiles for GPUs, and this PE runs on the CPU device: leave compiler= out, or set CHIME_DEVICE=cuda")
    if build["gpu"] != "cuda":
        raise UnsupportedError("this Chime's GPU is the softgpu, which runs what chime-cc compiles: CUDA's licence forbids to translate NVRTC's output. "
                               "Leave compiler= out")
    return True


def _host_compiler() -> List[str]:
    named = os.environ.get("CXX", "")
    try:
        words = shlex.split(named)
    except ValueError as error:
        raise UnsupportedError(f"CXX is {named!r}, which names no compiler: {str(error).lower()}") from None
    if words and not shutil.which(words[0]):
        raise UnsupportedError(f"CXX names the compiler {words[0]}, which is not found: install it, or name another one")
    words = words or list(filter(shutil.which, ("c++", "g++", "clang++")))[:1]
    if not words:
        raise UnsupportedError("there is no C++ compiler for the kernel: install g++ 12 or newer, or name one by compiler= or CXX")
    return words


class _Command(NamedTuple):
    compiler: List[str]  # its name, and what stands before all options: ccache g++
    options: List[str]
    linked: List[str]  # libraries: they stand behind the source, which needs them
    ending: str  # of the source


def _command(compiler: Optional[str], flags: Sequence[str]) -> _Command:
    build = _build()
    include = [f"-I{folder}" for folder in _include(build)]
    library = _HERE / build["library"]
    folder, file = f"-L{library.parent}", f"-l:{library.name}"
    if job.device() == "cpu":
        options = ["-std=c++20", "-O2", "-fPIC", "-fvisibility=hidden", "-shared", *include, *flags]
        return _Command([compiler] if compiler else _host_compiler(), options, [folder, file], ".cpp")
    found = compiler or build["cuda"]
    if not found:
        raise UnsupportedError("this Chime was built without CUDA and without the softgpu: it compiles kernels for the CPU device alone (CHIME_DEVICE=cpu)")
    if pathlib.Path(found).name == "chime-cc":  # which finds Chime itself
        return _Command([found], ["-O2", "-shared", f"-I{_HERE}", *flags], [], ".cu")
    architecture = [] if any("arch" in flag or "gencode" in flag for flag in flags) else ["-arch=native"]
    options = ["-std=c++20", "-O2", "-shared", "-Xcompiler=-fPIC", "-Xcompiler=-fvisibility=hidden", *architecture, *include, *flags]
    return _Command([found], options, [folder, f"-Xlinker={file}"], ".cu")


def _whole_text(source: str, name: str) -> str:
    return f'#include <chime/chime.h>\n#line 1 "{name}"\n{source}\n#line 1 "chime.kernel"\n#include <kernel_launch.hpp>\nCHIME_PYTHON_KERNEL({name})\n'


def _version_of(compiler: Sequence[str]) -> str:
    try:
        return subprocess.run([*compiler, "--version"], capture_output=True, text=True).stdout
    except OSError as error:
        raise UnsupportedError(f"the compiler {compiler[0]} does not start: {error.strerror}; install it, or name another by compiler=") from None


def _key(text: str, command: Sequence[str], version: str, flags: Sequence[str] = ()) -> str:
    """Changes with all that the result depends on but the files that it includes: also the compiler's version, the folder that flags may be relative to,
    and this library, which is built with its headers."""
    library = os.stat(_HERE / _build()["library"])
    headers = [(_HERE / header).read_text() for header in ("kernel_launch.hpp", "kernel_parameters.hpp")]
    parts = (text, *headers, *command, version, os.getcwd() if flags else "", _chime.version, str(library.st_mtime_ns), str(library.st_size))
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def _compile(text: str, name: str, command: _Command, flags: Sequence[str]) -> pathlib.Path:
    """The library with this kernel."""

    def make(scratch: pathlib.Path) -> Tuple[pathlib.Path, List[str]]:
        source, made, rule = scratch / ("kernel" + command.ending), scratch / "kernel.so", scratch / "kernel.d"
        source.write_text(text)
        words = [*command.compiler, str(source), *command.options, "-MD", "-MT", "kernel", "-MF", str(rule), *command.linked, "-o", str(made)]
        done = subprocess.run(words, capture_output=True, text=True)
        if done.returncode != 0:
            raise CompileError(f"{' '.join(command.compiler)} does not compile the kernel {name}:\n{done.stderr or done.stdout}")
        return made, [*listed(rule, source), *filter(os.path.isfile, flags)]

    words = [*command.compiler, *command.options, *command.linked]
    return kept(_key(text, words, _version_of(command.compiler), flags), ".so", make)


def _compile_by_nvrtc(source: str, name: str, architecture: str, flags: Sequence[str], library: Optional[str] = None) -> nvrtc.Compiled:
    """The PTX of this kernel. No GPU takes part."""
    build = _build()
    compiler = nvrtc.Nvrtc(library, build["cuda"])
    text = (f'#include <chime/chime.h>\n#line 1 "{name}"\n{source}\n#line 1 "chime.kernel"\n#include <kernel_parameters.hpp>\n'
            f"CHIME_PYTHON_PARAMETERS({name})\n")
    options = compiler.options(_include(build), architecture, flags)

    def make(scratch: pathlib.Path) -> Tuple[pathlib.Path, List[str]]:
        made = scratch / "kernel.json"
        made.write_text(json.dumps(compiler.compile(text, name, options)._asdict()))
        return made, nvrtc.included(text, options)

    result = kept(_key(text, [str(compiler.file), *options], str(compiler.version), flags), ".json", make)
    return nvrtc.Compiled(**json.loads(result.read_text()))


# ---- Arguments ----------------------------------------------------------------------------------


def _pointer(value: Any, parameter: str, which: str, stream: Optional[Stream]) -> Tuple[int, Any]:
    """The address, and what must stay while the kernel may use it."""
    if value is None or isinstance(value, (int, np.integer)):
        return int(number(value or 0, np.dtype(np.uint64), which, "an address")), None
    if isinstance(value, Array):
        memory = value.live
    elif job.device() == "cpu" or getattr(value, "__cuda_array_interface__", None):
        memory = local(value, which, writable="const" not in parameter, stream=stream)
    else:
        raise InvalidError(f"the {which} lies in the CPU's memory, which a GPU's kernel does not take: pass an Array or a GPU's tensor")
    if not memory.flags.c_contiguous:
        raise InvalidError(f"the {which} has strides {memory.strides}: pass a contiguous array, or its address as a number")
    native(memory.dtype)
    wanted = parameter[1:].split()[0]
    if wanted[0] == "v" or wanted == memory.dtype.str[1:] or (wanted[0] == "x" and int(wanted[1:]) == memory.dtype.itemsize):
        return _chime.address(memory), memory
    raise InvalidError(f"the {which} has elements of type {memory.dtype}, and the kernel's parameter points to {wanted}")


def _number(value: Any, parameter: str, which: str) -> bytes:
    if parameter[0] == "x":
        record = np.asarray(value)
        if record.nbytes != int(parameter[1:]):
            raise InvalidError(f"the {which} has {record.nbytes} bytes, and the kernel's parameter {parameter[1:]}")
        return record.tobytes()
    return number(value, np.dtype(parameter), which, "the kernel's parameter").tobytes()


def _three(extent: Union[int, Sequence[int]], what: str) -> Tuple[int, int, int]:
    numbers = (extent,) if isinstance(extent, (int, np.integer)) else tuple(extent)
    if not 1 <= len(numbers) <= 3 or not all(0 < int(number) < 1 << 32 for number in numbers):
        raise InvalidError(f"the {what} is {extent!r}; it has one to three numbers, each at least 1")
    x, y, z = (*map(int, numbers), 1, 1)[:3]
    return x, y, z


# ---- Kernels ------------------------------------------------------------------------------------


class _Library:
    """A kernel that a compiler has made a library of, with what launches it (kernel_launch.hpp)."""

    def __init__(self, name: str, file: pathlib.Path) -> None:
        self.name, self.file, self._library = name, file, ctypes.CDLL(str(file))
        self._library.chime_python_parameters.restype = ctypes.c_char_p
        self.parameters: List[str] = self._library.chime_python_parameters().decode().split(",")[:-1]

    def launch(self, grid: Sequence[int], block: Sequence[int], shared_bytes: int, stream: Optional[int], is_collective: bool, arguments: Any) -> None:
        why = ctypes.create_string_buffer(_ROOM)
        request = _Request((ctypes.c_uint * 3)(*grid), (ctypes.c_uint * 3)(*block), shared_bytes, stream, is_collective, arguments,
                           ctypes.cast(why, ctypes.c_char_p), _ROOM)
        status = self._library.chime_python_launch(ctypes.byref(request))
        if status != 0:
            raise errors.error(status, -1, f"the kernel {self.name}: {why.value.decode(errors='replace')}")


class Kernel:
    """A compiled kernel, made by kernel(). kernel[grid, block](arguments...) launches it; kernel[grid, block, shared_bytes] with dynamic shared memory."""

    def __init__(self, name: str, code: Union[_Library, cuda_module.Module]) -> None:
        self._name, self._code = name, code
        self._parameters = code.parameters

    @property
    def name(self) -> str:
        """As it was given to kernel()."""
        return self._name

    @property
    def parameters(self) -> List[str]:
        """Their types as numpy spells them; those of pointers begin with `*`."""
        return list(self._parameters)

    def __getitem__(self, config: Tuple[Any, ...]) -> Launch:
        if not isinstance(config, tuple) or not 2 <= len(config) <= 3:
            raise InvalidError("a kernel is launched by kernel[grid, block](...) or kernel[grid, block, shared_bytes](...)")
        return Launch(self, config)

    def __repr__(self) -> str:
        return f"chime.Kernel({self._name}, parameters={', '.join(self._parameters)})"


class Launch:
    """A kernel with its grid: kernel[grid, block]."""

    def __init__(self, kernel: Kernel, config: Tuple[Any, ...]) -> None:
        self._kernel = kernel
        self._grid, self._block = _three(config[0], "grid"), _three(config[1], "block")
        self._shared_bytes = int(config[2]) if len(config) == 3 else 0
        if self._shared_bytes < 0:
            raise InvalidError(f"there are no {self._shared_bytes} bytes of shared memory")

    def __call__(self, *arguments: Any, stream: Optional[Stream] = None, collective: bool = False) -> None:
        """Launches the kernel, and without a stream waits for it.

          arguments   for pointers Arrays, numpy arrays (on the CPU device), tensors, addresses as numbers, or None; and numbers. Element types are checked
          stream      queues the kernel there, and returns
          collective  PEs may wait for each other in the kernel: all its blocks run at once. Every PE launches it

        Raises InvalidError for arguments that do not fit, LaunchError if the device cannot run such a grid, and the error of a kernel that has failed.
        """
        if not job.is_initialized():
            raise NotInitializedError("this process is no PE: call chime.init() first")
        held, values = self._converted(arguments, stream)
        pointers = (ctypes.c_void_p * max(len(values), 1))(*(ctypes.addressof(value) for value in values))
        handle = None if stream is None else stream.handle
        self._kernel._code.launch(self._grid, self._block, self._shared_bytes, handle, collective, pointers)
        if stream is None:
            _chime.fence()  # raises what the kernel has met
        else:
            for memory in held:
                stream.hold(memory)

    def _converted(self, arguments: Tuple[Any, ...], stream: Optional[Stream]) -> Tuple[List[Any], List[Any]]:
        """What must stay, and the bytes of each argument."""
        wanted, name = self._kernel._parameters, self._kernel.name
        if len(arguments) != len(wanted):
            raise InvalidError(f"the kernel {name} takes {len(wanted)} arguments ({', '.join(wanted)}), not {len(arguments)}")
        held, values = [], []
        for number, (value, parameter) in enumerate(zip(arguments, wanted), start=1):
            which = f"argument {number} of {name}"
            if parameter[0] == "*":
                address, memory = _pointer(value, parameter, which, stream)
                content = address.to_bytes(8, "little")
                held += [] if memory is None else [memory]
            else:
                content = _number(value, parameter, which)
            values.append(ctypes.create_string_buffer(content, len(content)))
        return held, values


def kernel(source: str, name: str, *, flags: Sequence[str] = (), compiler: Optional[str] = None) -> Kernel:
    """A kernel from its text, compiled for the job's device: for the CPU device by a C++ compiler, for a GPU by nvcc or NVRTC, for the softgpu by chime-cc.

        shift = chime.kernel('''
          CHIME_KERNEL void shift(float* inbox, const float* mine, int n, int right) {
            chimex_float_put_block(inbox, mine, n, right);
          }''', "shift")
        shift[1, 64](inbox, mine, mine.size, right)

      source    C++20 in Chime's words, which are for every device, or in CUDA's for GPUs and the softgpu; <chime/chime.h> is included
      name      the function's: `shift`, `mine::shift`, `scale<float>`
      flags     more options of the compiler: -I and -D of each; -O0 -g of a C++ compiler and nvcc; for a GPU -arch=sm_90, which is that of the PE's GPU unless
                named. NVRTC's are fewer than nvcc's: it refuses -O2, -g, -gencode, -Xcompiler. Name the compiler where your options need it
      compiler  another one. For a GPU it is nvcc, or called chime-cc, or "nvrtc", or the path of a libnvrtc.so: CUDA's compiler as a library, which
                takes device code alone. Without it nvcc compiles for GPUs, and NVRTC where there is no nvcc

    Results are kept in $XDG_CACHE_HOME/chime/kernels, by text, included files, options, compiler, version of Chime and working folder. PEs of a machine
    compile a kernel once.

    Raises CompileError with the compiler's words, LaunchError if the driver does not load the result, UnsupportedError where there is no compiler,
    SystemRefusedError where the cache cannot be written, NotInitializedError outside of a job.
    """
    if not job.is_initialized():
        raise NotInitializedError("a kernel is compiled for the device of a job: call chime.init() first")
    if not re.fullmatch(r"[A-Za-z_][\w:<>, ]*", name):
        raise InvalidError(f"{name!r} is no kernel's name: it may be like scale, mine::scale or scale<float>")
    if _wants_nvrtc(compiler):
        architecture = cuda_module.driver().architecture()
        made = _compile_by_nvrtc(source, name, architecture, flags, None if compiler == _NVRTC else compiler)
        return Kernel(name, cuda_module.Module(*made))
    library = _compile(_whole_text(source, name), name, _command(compiler, flags), flags)
    try:
        return Kernel(name, _Library(name, library))
    except OSError as error:  # the dynamic linker's: a function that is nowhere
        raise CompileError(f"the kernel {name} does not load: {error}") from None
