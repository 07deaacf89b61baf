#!/usr/bin/env python3
"""nvrtc_test.py <kernels.cu> <include folder>...: NVRTC compiles NVSHMEM's names for kernels, and what is
loaded then has a state that can be seen; where an option is missing, it is said which. Skips (77) where NVRTC or CUDA's headers
for half are not: of a toolkit, or of PyPI's nvidia-cuda-nvrtc and nvidia-cuda-runtime."""

import ctypes
import glob
import os
import pathlib
import re
import shutil
import sys
import sysconfig

OPTIONS = ["-arch=sm_90", "-std=c++20", "-default-device", "-device-int128", "-rdc=true"]


def toolkits():
    """Folders that a toolkit may lie in, and those of PyPI's packages."""
    yield from (os.environ[name] for name in ("CUDA_HOME", "CUDA_PATH") if name in os.environ)
    if nvcc := shutil.which("nvcc"):
        yield str(pathlib.Path(nvcc).resolve().parent.parent)
    yield "/usr/local/cuda"
    yield from glob.glob(os.path.join(sysconfig.get_paths()["purelib"], "nvidia", "*"))


def first(pattern):
    for folder in toolkits():
        if found := sorted(glob.glob(os.path.join(folder, pattern))):
            return found[0]
    return None


def compile_to_ptx(nvrtc, source, options):
    """(PTX or None, what the compiler says)"""
    program, size = ctypes.c_void_p(), ctypes.c_size_t()
    if nvrtc.nvrtcCreateProgram(ctypes.byref(program), source.encode(), b"kernels.cu", 0, None, None) != 0:
        raise RuntimeError("nvrtcCreateProgram")
    words = [option.encode() for option in options]
    failed = nvrtc.nvrtcCompileProgram(program, len(words), (ctypes.c_char_p * len(words))(*words))
    nvrtc.nvrtcGetProgramLogSize(program, ctypes.byref(size))
    log = ctypes.create_string_buffer(size.value)
    nvrtc.nvrtcGetProgramLog(program, log)
    said = log.value.decode()
    if failed:
        return None, said
    nvrtc.nvrtcGetPTXSize(program, ctypes.byref(size))
    ptx = ctypes.create_string_buffer(size.value)
    nvrtc.nvrtcGetPTX(program, ptx)
    return ptx.value.decode(), said


def require(good, what, said):
    if not good:
        print(f"failed: {what}\n{said}")
        sys.exit(1)


def main():
    library, half = first("lib*/libnvrtc.so*"), first("include/cuda_fp16.h")
    if not library or not half:
        print(f"skipped: {'there is no NVRTC' if not library else 'cuda_fp16.h is not there'}; install a CUDA toolkit, or PyPI's "
              "nvidia-cuda-nvrtc and nvidia-cuda-runtime")
        return 77
    nvrtc = ctypes.CDLL(library)
    source = pathlib.Path(sys.argv[1]).read_text()
    ours = [folder for argument in sys.argv[2:] for folder in argument.split(";")]
    folders = [f"-I{folder}" for folder in [*ours, pathlib.Path(half).parent]]
    standard = [f"-I{folder}/chime/nvrtc" for folder in ours if os.path.isdir(f"{folder}/chime/nvrtc")]

    ptx, said = compile_to_ptx(nvrtc, source, OPTIONS + folders + standard)
    require(ptx, "NVRTC compiles the kernels", said)
    require(re.search(r"\.(visible|weak) \.const [^\n]* chime_kernel_state\[", ptx), "their state can be seen", ptx[:4000])
    require(re.search(r"\.visible \.entry send_row\(", ptx), "the kernel is there", ptx[:4000])
    require("warning" not in said, "without a warning", said)

    ptx, said = compile_to_ptx(nvrtc, source, OPTIONS + folders)
    require(ptx is None and "NVRTC has no standard headers" in said, "the folder that is missing is named", said)
    print(f"{library}: compiled")
    return 0


if __name__ == "__main__":
    sys.exit(main())
