"""NVRTC, CUDA's compiler as a library: a kernel's text to PTX, its name as the compiler writes it, and its parameters."""

from __future__ import annotations

import ctypes
import glob
import os
import pathlib
import re
import shutil
import struct
import sysconfig
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Sequence, Tuple

from .errors import CompileError, SystemRefusedError, UnsupportedError

_OLDEST = (12, 4)  # CUDA whose headers Chime's need
_TABLE = "chime_python_table"  # kernel_parameters.hpp
_ENTRY = struct.Struct("=c??xI")  # its Parameter
_INVALID_OPTION = 5  # NVRTC_ERROR_INVALID_OPTION
_OTHER_OPTIONS = ("\nNVRTC has compiled, which chime.kernel takes where there is no nvcc. Its options differ from nvcc's: it has no -O0, -O2, -g, -gencode or "
                  "-Xcompiler; -G and -lineinfo serve debuggers. Leave the option out, or install nvcc and choose it by compiler=\"nvcc\"")


class Compiled(NamedTuple):
    """What NVRTC has made of a text."""

    ptx: str
    lowered: str  # the kernel's name in it
    parameters: List[str]  # as numpy spells them


# ---- Where it is --------------------------------------------------------------------------------


def _folders(nvcc: Optional[str]) -> Iterator[pathlib.Path]:
    """Where a toolkit may lie, and PyPI's packages of its parts."""
    yield from (pathlib.Path(os.environ[name]) for name in ("CUDA_HOME", "CUDA_PATH") if os.environ.get(name))
    for found in filter(None, (shutil.which("nvcc"), nvcc and shutil.which(nvcc))):
        yield pathlib.Path(found).resolve().parent.parent
    yield pathlib.Path("/usr/local/cuda")
    yield from sorted(pathlib.Path(folder) for folder in glob.glob(os.path.join(sysconfig.get_paths()["purelib"], "nvidia", "*")))


def _first(folders: Sequence[pathlib.Path], pattern: str) -> Optional[pathlib.Path]:
    for folder in folders:
        if found := sorted(folder.glob(pattern)):
            return found[0]
    return None


def found(file: Optional[str] = None, nvcc: Optional[str] = None) -> Optional[Tuple[pathlib.Path, pathlib.Path]]:
    """The library and the folder of CUDA's headers, or None.

      file  the library, if it is named
      nvcc  of the toolkit that Chime was built with
    """
    folders = list(_folders(nvcc))
    if file:
        folders.insert(0, pathlib.Path(file).resolve().parent.parent)
    library = pathlib.Path(file) if file else _first(folders, "lib*/libnvrtc.so*")
    header = _first(folders, "include/cuda_fp16.h")
    return (library, header.parent) if library and header else None


# ---- Compiling ----------------------------------------------------------------------------------

_INCLUDE = re.compile(r"""^\s*#\s*include\s*[<"]([^>"\n]+)[>"]""", re.MULTILINE)
_FOLDER = re.compile(r"(?:-I|--include-path=)(.+)")


def included(text: str, options: Sequence[str]) -> List[str]:
    """The files that a text includes, and others that it only might, for NVRTC names none: includes are followed whatever #if says. Not those that a macro
    names."""
    folders = [match[1] for match in map(_FOLDER.match, options) if match]
    files: Dict[str, None] = {}
    waiting = [(text, "")]
    while waiting:
        content, beside = waiting.pop()
        for name in _INCLUDE.findall(content):
            places = (os.path.join(folder, name) for folder in ([beside] if beside else []) + folders)
            file = next(filter(os.path.isfile, places), None)
            if file and file not in files:
                files[file] = None
                waiting.append((pathlib.Path(file).read_text(errors="replace"), os.path.dirname(file)))
    return list(files)


class Nvrtc:
    """The library. Raises UnsupportedError where it is not, is too old or does not load."""

    def __init__(self, file: Optional[str] = None, nvcc: Optional[str] = None) -> None:
        place = found(file, nvcc)
        if place is None:
            raise UnsupportedError("NVRTC or CUDA's headers (cuda_fp16.h) are not found: install a CUDA toolkit of 12.4 or newer or PyPI's nvidia-cuda-nvrtc "
                                   "and nvidia-cuda-runtime, and name its folder by CUDA_HOME")
        self.file, self.headers = place
        try:
            self._library = ctypes.CDLL(str(self.file))
        except OSError as error:
            raise UnsupportedError(f"NVRTC does not load: {error}. compiler= names another libnvrtc.so") from None
        self._library.nvrtcGetErrorString.restype = ctypes.c_char_p
        self.version = self._asked_version()
        if self.version < _OLDEST:
            raise UnsupportedError(f"{self.file} is of CUDA {_dotted(self.version)}, and Chime needs {_dotted(_OLDEST)} or newer: name another by compiler=")

    def _asked_version(self) -> Tuple[int, int]:
        major, minor = ctypes.c_int(), ctypes.c_int()
        self._call("nvrtcVersion", ctypes.byref(major), ctypes.byref(minor))
        return major.value, minor.value

    def options(self, include: Sequence[str], architecture: str, flags: Sequence[str]) -> List[str]:
        """All options of a compilation.

          include       folders of Chime's headers
          architecture  sm_90, unless the flags name one
          flags         the user's
        """
        standard = [f"{folder}/chime/nvrtc" for folder in include if pathlib.Path(folder, "chime", "nvrtc").is_dir()]
        libraries = [folder for folder in (self.headers / "cccl",) if folder.is_dir()]  # <cuda/atomic> and others: since CUDA 13 in their own folder
        named = any(_ARCHITECTURE.match(flag) for flag in flags)
        # What is found by its name in a module that is loaded: NVRTC shows it with -rdc=true alone.
        return [*([] if named else [f"-arch={architecture}"]), "-std=c++20", "-default-device", "-device-int128", "-rdc=true",
                *(f"-I{folder}" for folder in (*include, *standard, *libraries, self.headers)), *flags]

    def compile(self, text: str, name: str, options: Sequence[str]) -> Compiled:
        """Compiles one kernel; `name` may be of a template: `scale<float>`. Raises CompileError with NVRTC's log."""
        program = ctypes.c_void_p()
        self._call("nvrtcCreateProgram", ctypes.byref(program), text.encode(), f"{name}.cu".encode(), 0, None, None)
        try:
            self._call("nvrtcAddNameExpression", program, name.encode())
            words = (ctypes.c_char_p * len(options))(*(option.encode() for option in options))
            status = self._library.nvrtcCompileProgram(program, len(options), words)
            if status != 0:
                log = self._text(program, "ProgramLog").strip() or self._words(status)
                advice = self._advice(log) if status == _INVALID_OPTION else ""
                raise CompileError(f"NVRTC {_dotted(self.version)} does not compile the kernel {name} ({_architecture_in(options)}):\n{log}{advice}")
            lowered = ctypes.c_char_p()
            self._call("nvrtcGetLoweredName", program, name.encode(), ctypes.byref(lowered))
            ptx = self._text(program, "PTX")
            return Compiled(ptx, (lowered.value or b"").decode(), parameters_in(ptx))
        finally:
            self._library.nvrtcDestroyProgram(ctypes.byref(program))

    def architectures(self) -> List[int]:
        """Those it compiles for, the oldest first: 75 is compute_75 and sm_75."""
        count = ctypes.c_int()
        self._call("nvrtcGetNumSupportedArchs", ctypes.byref(count))
        numbers = (ctypes.c_int * count.value)()
        self._call("nvrtcGetSupportedArchs", numbers)
        return sorted(numbers)

    def _advice(self, log: str) -> str:
        """What to do about an option that it refuses."""
        if "--gpu-architecture" not in log:
            return _OTHER_OPTIONS
        known = self.architectures()
        return (f"\n{self.file} compiles for compute_{', '.join(map(str, known))}. For a newer GPU pass flags=[\"-arch=compute_{known[-1]}\"], "
                "which the driver translates, or name a newer CUDA's libnvrtc.so by compiler=; for an older GPU name an older CUDA's. -arch=native is nvcc's: "
                "leave it out, for NVRTC compiles for the PE's GPU anyway")

    def _text(self, program: ctypes.c_void_p, what: str) -> str:
        size = ctypes.c_size_t()
        self._call(f"nvrtcGet{what}Size", program, ctypes.byref(size))
        text = ctypes.create_string_buffer(size.value)
        self._call(f"nvrtcGet{what}", program, text)
        return text.value.decode(errors="replace")

    def _words(self, status: int) -> str:
        return (self._library.nvrtcGetErrorString(status) or b"").decode()

    def _call(self, function: str, *arguments: Any) -> None:
        status = getattr(self._library, function)(*arguments)
        if status != 0:
            raise SystemRefusedError(f"{function} of {self.file}: {self._words(status)}")


_ARCHITECTURE = re.compile(r"-arch\b|--gpu-architecture\b")


def _architecture_in(options: Sequence[str]) -> str:
    return next((option for option in options if _ARCHITECTURE.match(option)), "no -arch")


def _dotted(version: Tuple[int, ...]) -> str:
    return ".".join(map(str, version))


def parameters_in(ptx: str) -> List[str]:
    """The table of kernel_parameters.hpp, which is a constant of the PTX."""
    place = re.search(rf"\.const [^\n]*\b{_TABLE}\[(\d+)\](?: = \{{([^}}]*)\}})?;", ptx)
    if not place:
        raise SystemRefusedError(f"the compiler's PTX has no constant {_TABLE}: report it, with NVRTC's version")
    content = bytes(int(number) for number in (place[2] or "").split(",") if number.strip())
    table = _ENTRY.iter_unpack(content.ljust(int(place[1]), b"\0"))
    return [("*" if is_pointer else "") + kind.decode() + str(size) + (" const" if is_const else "")
            for kind, is_pointer, is_const, size in table if kind != b"\0"]
