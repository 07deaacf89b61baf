"""Kernels that NVRTC compiles: on any machine that has it, for a GPU that need not be there. Skips (77) where NVRTC is not."""

import os
import pathlib
import re
import sys
import tempfile

from pes import OnAllPes, main

import chime
from chime import cuda_module, kernels, nvrtc

PARAMETERS = """
struct Pair { int a; float b; };
enum class Colour : unsigned char { kRed, kGreen };
namespace mine {
template <class T>
CHIME_KERNEL void store(double* out, const T* in, signed char i1, unsigned short u2, long i8, unsigned long u8, bool b, float f4, T other, Pair pair,
                        Colour colour, void* any, const void* none, char** lists) {
  *out = i1 + u2 + i8 + u8 + b + f4 + double(*in) + double(other) + pair.a + int(colour);
}
}
"""
SHIFT = """
CHIME_KERNEL void shift(float* inbox, const float* mine, int n, int right) {
  chimex_float_put_block(inbox, mine, n, right);
}
"""
NOTHING = "CHIME_KERNEL void nothing() {}"
COUNT = """
#include <cooperative_groups.h>
#include <cuda/atomic>
CHIME_KERNEL void count(int* word) {
  cooperative_groups::this_thread_block().sync();
  cuda::atomic_ref<int, cuda::thread_scope_system>(*word).fetch_add(1, cuda::memory_order_release);
}
"""


def compiled(source, name, flags=(), architecture="sm_90", library=None):
    return kernels._compile_by_nvrtc(source, name, architecture, flags, library)


class Kernels(OnAllPes):
    def test_have_names_and_parameters_as_on_the_cpu_device(self):
        name = "mine::store<short>"
        made = compiled(PARAMETERS, name)
        self.assertEqual(chime.kernel(PARAMETERS, name).parameters, made.parameters)
        self.assertEqual(["*f8", "*i2 const", "i1", "u2", "i8", "u8", "b1", "f4", "i2", "x8", "u1", "*v0", "*v0 const", "*u8"], made.parameters)
        self.assertRegex(made.ptx, rf"\.entry {re.escape(made.lowered)}\(")

    def test_show_their_state(self):
        made = compiled(SHIFT, "shift")
        self.assertRegex(made.ptx, r"\.(visible|weak) \.const [^\n]* chime_kernel_state\[")
        self.assertRegex(made.ptx, r"\.target sm_90\b")
        self.assertEqual([], compiled(NOTHING, "nothing").parameters)

    def test_include_what_cuda_brings(self):
        if not any(pathlib.Path(nvrtc.found()[1], folder, "cuda", "atomic").exists() for folder in ("", "cccl")):
            self.skipTest("there is no <cuda/atomic>; of PyPI's packages nvidia-cuda-cccl has it")
        self.assertRegex(compiled(COUNT, "count").ptx, r"\bfence\.[^;]*\.sys;|\batom\.[^;]*\brelease\b[^;]*\.sys\b")

    def test_are_for_the_architecture_that_is_named(self):
        self.assertRegex(compiled(NOTHING, "nothing", architecture="sm_80").ptx, r"\.target sm_80\b")
        for flag in ("-arch=compute_80", "--gpu-architecture=sm_80"):
            self.assertRegex(compiled(NOTHING, "nothing", flags=(flag,)).ptx, r"\.target sm_80\b")

    def test_that_do_not_compile_say_what_nvrtc_says(self):
        for source, name, words in (("\nCHIME_KERNEL void wrong(int* a) {\n  *a = no_such_thing; }", "wrong", ("wrong(3)", "no_such_thing")),
                                    (SHIFT, "elsewhere", ("elsewhere",)),
                                    ("#include <vector>\n" + NOTHING, "nothing", ("vector",))):
            with self.refused(chime.CompileError, "NVRTC", *words):
                compiled(source, name)

    def test_say_what_to_do_about_options_that_nvrtc_lacks(self):
        for flag in ("-O2", "-g", "-gencode=arch=compute_90,code=sm_90", "-Xcompiler=-fPIC"):
            with self.refused(chime.CompileError, f"option {flag}", "NVRTC has compiled", "differ from nvcc's", 'compiler="nvcc"'):
                compiled(NOTHING, "nothing", flags=(flag,))
        with self.refused(chime.CompileError) as refusal:  # the text's own mistake wants no such advice
            compiled("CHIME_KERNEL void wrong(int* a) { *a = no_such_thing; }", "wrong")
        self.assertNotIn("compiler=", str(refusal.error))

    def test_say_what_to_do_about_architectures_that_nvrtc_lacks(self):
        known = nvrtc.Nvrtc().architectures()
        self.assertIn(90, known)
        self.assertEqual(sorted(set(known)), known)
        for architecture, flags in (("sm_1", ()), ("sm_999", ()), ("sm_90", ("-arch=native",))):
            with self.refused(chime.CompileError, flags[0] if flags else architecture, f"-arch=compute_{known[-1]}", "libnvrtc.so", "-arch=native is nvcc's"):
                compiled(NOTHING, "nothing", flags, architecture)
        newest = compiled(NOTHING, "nothing", (f"-arch=compute_{known[-1]}",), "sm_999")  # the advice, followed
        self.assertRegex(newest.ptx, rf"\.target sm_{known[-1]}\b")

    def test_are_compiled_once(self):
        with tempfile.TemporaryDirectory() as folder:
            before, os.environ["XDG_CACHE_HOME"] = os.environ.get("XDG_CACHE_HOME"), folder
            calls, compile_one = [], nvrtc.Nvrtc.compile
            nvrtc.Nvrtc.compile = lambda self, *arguments: calls.append(arguments) or compile_one(self, *arguments)
            try:
                source = '#include "outer.h"\n' + NOTHING
                pathlib.Path(folder, "outer.h").write_text("# include <inner.h>\n")
                for text, flags, compilations in (("// 1\n", (), 1), ("// 1\n", (), 1), ("// two\n", (), 2), ("// 1\n", (), 2), ("// 1\n", ("-DMORE",), 3)):
                    pathlib.Path(folder, "inner.h").write_text(text)
                    compiled(source, "nothing", (f"-I{folder}", *flags))
                    self.assertEqual(compilations, len(calls))
            finally:
                nvrtc.Nvrtc.compile = compile_one
                os.environ.pop("XDG_CACHE_HOME")
                if before is not None:
                    os.environ["XDG_CACHE_HOME"] = before

    def test_are_for_no_other_device(self):
        for compiler in ("nvrtc", "/anywhere/libnvrtc.so.12"):
            with self.refused(chime.UnsupportedError, "CPU device"):
                chime.kernel(SHIFT, "shift", compiler=compiler)
        device, build = kernels.job._device, kernels._build
        kernels.job._device, kernels._build = "cuda", lambda: {**build(), "gpu": "softgpu"}
        try:
            with self.refused(chime.UnsupportedError, "softgpu", "licence"):
                chime.kernel(SHIFT, "shift", compiler="nvrtc")
        finally:
            kernels.job._device, kernels._build = device, build

    def test_are_loaded_by_the_drivers_numbers(self):
        header = pathlib.Path(nvrtc.found()[1], "cuda.h")
        if not header.exists():
            self.skipTest("PyPI's packages have no cuda.h")
        text = header.read_text()
        for number, name in ((cuda_module._MAJOR, "CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR"),
                             (cuda_module._MINOR, "CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR"),
                             (cuda_module._MOST_SHARED, "CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES"),
                             (cuda_module._LOG, "CU_JIT_ERROR_LOG_BUFFER"), (cuda_module._LOG_SIZE, "CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES"),
                             (cuda_module._NEWER_PTX, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION"), (cuda_module._RELAXED, "CU_STREAM_CAPTURE_MODE_RELAXED"),
                             *zip(cuda_module._CANNOT_LAUNCH, ("CUDA_ERROR_INVALID_VALUE", "CUDA_ERROR_NO_BINARY_FOR_GPU", "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES",
                                                               "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE"))):
            self.assertRegex(text, rf"\b{name} *= *{number}\b")
        self.assertRegex(text, rf"define CU_STREAM_PER_THREAD +\(\(CUstream\)0x{cuda_module._PER_THREAD}\)")

    def test_want_a_library_that_loads(self):
        with tempfile.TemporaryDirectory() as folder:
            broken = pathlib.Path(folder, "libnvrtc.so.12")
            broken.write_text("no library")
            with self.refused(chime.UnsupportedError, "does not load", str(broken)):
                compiled(SHIFT, "shift", library=str(broken))

    def test_name_what_is_not_found(self):
        folders = nvrtc._folders
        nvrtc._folders = lambda nvcc: iter(())
        try:
            with self.refused(chime.UnsupportedError, "nvidia-cuda-nvrtc", "CUDA_HOME"):
                compiled(SHIFT, "shift")
        finally:
            nvrtc._folders = folders


if __name__ == "__main__":
    if not nvrtc.found():
        print("skipped: there is no NVRTC; install a CUDA toolkit, or PyPI's nvidia-cuda-nvrtc and nvidia-cuda-runtime")
        sys.exit(77)
    main()
