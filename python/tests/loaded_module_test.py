"""loaded_module_test.py <driver> <chime-cc>: how kernels that NVRTC has compiled are loaded and launched, seen on the softgpu's driver with PTX that clang has
made of the same text, since NVRTC's is for NVIDIA's GPUs alone. Its driver has neither cuModuleLoadDataEx nor CUDA's numbers of a device's attributes: for
what only NVIDIA's has see nvrtc_test.py. Needs CHIME_DEVICE=cuda."""

import ctypes
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np
from pes import OnAllPes, main

import chime
from chime import cuda_module, kernels, nvrtc

DRIVER, CHIME_CC = sys.argv[1:]
del sys.argv[1:]

SHIFT = """
template <class T>
__global__ void shift(T* inbox, const T* mine, int part, uint64_t* arrived, unsigned long turn) {
  extern __shared__ unsigned char scratch[];
  scratch[0] = 1;
  const int right = (chime_my_pe() + 1) % chime_n_pes();
  chimex_putmem_signal_block(inbox + blockIdx.x * part, mine + blockIdx.x * part, part * sizeof(T), arrived + blockIdx.x, turn, CHIME_SIGNAL_SET, right);
  chimex_signal_wait_until_block(arrived + blockIdx.x, CHIME_CMP_GE, turn);
}
"""
FAILS = "__global__ void lose(int* word) { chime_int_p(word, 1, chime_n_pes() + 7); }"


class Emulated(cuda_module.Driver):
    def load(self, ptx):
        module = ctypes.c_void_p()
        self.call("cuModuleLoadData", ctypes.byref(module), ptx.encode())
        return module


def loaded(source, name):
    """The kernel, by clang instead of NVRTC."""
    with tempfile.TemporaryDirectory() as folder:
        text = pathlib.Path(folder, "kernel.cu")
        instance = f"template __global__ decltype({name}) {name};" if "<" in name else ""
        text.write_text(f"#include <chime/chime.h>\n{source}\n{instance}\n#include <kernel_parameters.hpp>\nCHIME_PYTHON_PARAMETERS({name})\n")
        here = pathlib.Path(kernels.__file__).resolve().parent
        subprocess.run([CHIME_CC, "--ptx", "-O1", f"-I{here}", str(text)], check=True, cwd=folder)
        ptx = text.with_suffix(".ptx").read_text()
    lowered = re.search(rf"\.entry (_Z\d+{name.partition('<')[0]}\w*)\(", ptx)[1]
    driver = Emulated(DRIVER)
    return chime.Kernel(name, cuda_module.Module(ptx, lowered, nvrtc.parameters_in(ptx), driver))


class Modules(OnAllPes):
    def test_put_signal_and_wait_for_each_other(self):
        blocks, part = 4, 100
        shift = loaded(SHIFT, "shift<float>")
        self.assertEqual(["*f4", "*f4 const", "i4", "*u8", "u8"], shift.parameters)
        inbox, mine, arrived = chime.zeros(blocks * part, np.float32), chime.zeros(blocks * part, np.float32), chime.zeros(blocks, np.uint64)
        for turn, shared, collective in ((1, 16, True), (2, 64 * 1024, False)):
            numbers = np.arange(blocks * part, dtype=np.float32) + 1000 * self.me + turn
            chime.put(mine, numbers, self.me)
            chime.barrier()
            shift[blocks, 64, shared](inbox, mine, part, arrived, turn, collective=collective)
            got = np.zeros(blocks * part, np.float32)
            chime.get(got, inbox, self.me)
            self.assert_same(np.arange(blocks * part) + 1000 * self.left + turn, got)
            chime.barrier()
        with self.refused(chime.InvalidError, "5 arguments"):
            shift[blocks, 64](inbox)
        with self.refused(chime.LaunchError, "cuLaunch"):
            shift[1, 4096](inbox, mine, part, arrived, 3)

    def test_raise_what_a_kernel_meets(self):
        lose = loaded(FAILS, "lose")
        with chime.zeros(1, np.int32) as word, self.refused(chime.Error, f"{self.n + 7}"):
            lose[1, 1](word)

    def test_want_a_driver_and_a_module(self):
        with self.refused(chime.SystemRefusedError, "cuModuleLoadData", "CUDA_ERROR"):
            Emulated(DRIVER).load("no PTX")
        with self.refused(chime.SystemRefusedError, "does not load"):
            cuda_module.Driver("libno-such-driver.so")


if __name__ == "__main__":
    main()
