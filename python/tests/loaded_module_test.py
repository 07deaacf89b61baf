"""loaded_module_test.py <driver> <chime-cc>: how kernels that NVRTC has compiled are loaded and launched, seen on the softgpu's driver with PTX that clang has
made of the same text, since NVRTC's is for NVIDIA's GPUs alone. Its driver has neither cuModuleLoadDataEx nor CUDA's numbers of a device's attributes: for
what only NVIDIA's has see nvrtc_test.py. Needs CHIME_DEVICE=cuda."""

import concurrent.futures
import contextlib
import ctypes
import gc
import os
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
PER_THREAD = 2  # CU_STREAM_PER_THREAD
NON_BLOCKING, GLOBAL = 1, 0  # CU_STREAM_NON_BLOCKING, CU_STREAM_CAPTURE_MODE_GLOBAL
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
MARK = "__global__ void mark(int* word, int value) { if (chime_my_pe() >= 0) *word = value; }"
FAILS = "__global__ void lose(int* word) { chime_int_p(word, 1, chime_n_pes() + 7); }"


class Emulated(cuda_module.Driver):
    loads = 0

    def load(self, ptx):
        module = ctypes.c_void_p()
        self.call("cuModuleLoadData", ctypes.byref(module), ptx.encode())
        Emulated.loads += 1
        return module


def compiled(source, name):
    """PTX, the kernel's name in it, and parameters: by clang instead of NVRTC, once for all PEs."""
    instance = f"template __global__ decltype({name}) {name};" if "<" in name else ""
    text = f"#include <chime/chime.h>\n{source}\n{instance}\n#include <kernel_parameters.hpp>\nCHIME_PYTHON_PARAMETERS({name})\n"
    command = [CHIME_CC, "--ptx", "-O1", f"-I{pathlib.Path(kernels.__file__).resolve().parent}"]

    def make(scratch):
        file = scratch / "kernel.cu"
        file.write_text(text)
        subprocess.run([*command, str(file)], check=True, cwd=scratch)
        return file.with_suffix(".ptx"), []

    ptx = kernels.kept(kernels._key(text, command, kernels._version_of([CHIME_CC])), ".ptx", make).read_text()
    lowered = re.search(rf"\.entry (_Z\d+{name.partition('<')[0]}\w*)\(", ptx)[1]
    return ptx, lowered, nvrtc.parameters_in(ptx)


def loaded(source, name):
    return chime.Kernel(name, cuda_module.Module(*compiled(source, name)))


def load_another(number):
    """A kernel whose PTX is another one, and which wants no compiler."""
    ptx, *rest = compiled(MARK, "mark")
    cuda_module.Module(f"{ptx}\n// {number}\n", *rest)


class Threads:
    """What the driver knows of the calling thread and of its GPU."""

    def __init__(self):
        self.library = ctypes.CDLL(DRIVER)

    def asked(self, function, kind, *arguments):
        value = kind()
        if (status := getattr(self.library, function)(ctypes.byref(value), *arguments)) != 0:
            raise AssertionError(f"{function}: {status}")
        return value.value

    def context(self):
        return self.asked("cuCtxGetCurrent", ctypes.c_void_p)

    def device(self):
        return self.asked("cuCtxGetDevice", ctypes.c_int)

    def take_another_gpu(self):
        """Another GPU becomes the thread's; returns its context."""
        another = (self.device() + 1) % self.asked("cuDeviceGetCount", ctypes.c_int)
        context = self.asked("cuDevicePrimaryCtxRetain", ctypes.c_void_p, another)
        self.take(context)
        return context

    def take(self, context):
        if (status := self.library.cuCtxSetCurrent(ctypes.c_void_p(context))) != 0:
            raise AssertionError(f"cuCtxSetCurrent: {status}")


THREADS = Threads()


@contextlib.contextmanager
def captured():
    """Within it a stream is captured into a graph, in the mode that forbids most. What spoils the capture fails here at the end. The softgpu records nothing,
    and launches nothing there: kernels are launched beside it."""
    stream, graph = THREADS.asked("cuStreamCreate", ctypes.c_void_p, NON_BLOCKING), ctypes.c_void_p()
    if (status := THREADS.library.cuStreamBeginCapture(ctypes.c_void_p(stream), GLOBAL)) != 0:
        raise AssertionError(f"cuStreamBeginCapture: {status}")
    yield
    if (status := THREADS.library.cuStreamEndCapture(ctypes.c_void_p(stream), ctypes.byref(graph))) != 0:
        raise AssertionError(f"the capture is spoilt: cuStreamEndCapture: {status}")
    THREADS.library.cuStreamDestroy(ctypes.c_void_p(stream))


def fetched(word):
    """This PE's."""
    got = np.zeros(1, np.int32)
    chime.get(got, word, chime.my_pe())
    return int(got[0])


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

    def test_are_loaded_once(self):
        first = loaded(MARK, "mark")
        before, word = Emulated.loads, chime.zeros(1, np.int32)
        for value, mark in ((3, first), (4, loaded(MARK, "mark")), (5, first)):
            mark[1, 1](word, value)
            self.assertEqual(value, fetched(word))
        self.assertEqual(before, Emulated.loads)
        load_another(1)
        self.assertEqual(before + 1, Emulated.loads)

    def test_leave_a_thread_its_gpu(self):
        mark, word = loaded(MARK, "mark"), chime.zeros(1, np.int32)

        def launches(value):
            before = THREADS.context()
            mark[1, 1](word, value)
            assert THREADS.context() == before, "a launch changes the context"
            try:
                mark[1, 4096](word, value)
            except chime.LaunchError:
                assert THREADS.context() == before, "a launch that is refused changes the context"
            else:
                raise AssertionError("4096 threads are launched")
            load_another(value)
            assert THREADS.context() == before, "a load changes the context"

        def thread_without():
            assert THREADS.context() is None
            launches(6)

        def thread_with_another():
            mark[1, 1](word, 1)  # takes no GPU
            THREADS.take(another)
            launches(7)

        own = THREADS.context()
        another = THREADS.take_another_gpu()
        THREADS.take(own)
        self.assertNotEqual(own, another)
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            pool.submit(thread_without).result(100)
        self.assertEqual(6, fetched(word))
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            pool.submit(thread_with_another).result(100)
        self.assertEqual(7, fetched(word))

    def test_spoil_no_capture(self):
        mark, word = loaded(MARK, "mark"), chime.zeros(1, np.int32)
        with captured():
            load_another(-1)
            mark[1, 1](word, 4)
        self.assertEqual(4, fetched(word))

    def test_want_a_driver_and_a_module(self):
        with self.refused(chime.SystemRefusedError, "cuModuleLoadData", "CUDA_ERROR"):
            Emulated(DRIVER).load("no PTX")
        with self.refused(chime.SystemRefusedError, "does not load"):
            cuda_module.Driver("libno-such-driver.so")


def begin_without_nvidias_driver():
    """A job on the softgpu asks nothing of a libcuda.so.1, which the machine may have too. This one counts."""
    with tempfile.TemporaryDirectory() as folder:
        text, library = pathlib.Path(folder, "libcuda.cpp"), pathlib.Path(folder, "libcuda.so.1")
        text.write_text('extern "C" { int asked; int cuCtxGetDevice(int*) { ++asked; return 3; } }')
        subprocess.run([os.environ.get("CXX", "c++"), "-shared", "-fPIC", "-Wl,-soname,libcuda.so.1", str(text), "-o", str(library)], check=True)
        nvidias = ctypes.CDLL(str(library))
    ctypes.CDLL("libcuda.so.1")  # it is this one
    with chime.init():
        pass
    if (asked := ctypes.c_int.in_dll(nvidias, "asked").value) != 0:
        sys.exit(f"a job on the softgpu asks NVIDIA's driver {asked} times")


def load_when_a_later_job_begins():
    """So that its first launch loads nothing: it may come while kernels wait for it. One that the program has dropped is not loaded."""
    with chime.init():
        mark = loaded(MARK, "mark")
        load_another(2)
    gc.collect()
    before = Emulated.loads
    with chime.init():
        word, loads = chime.zeros(1, np.int32), Emulated.loads - before
        with captured():
            mark[1, 1](word, 9)
        if (loads, Emulated.loads - before) != (1, 1):
            chime.global_exit(4)


def run_again_on_another_gpu():
    """A kernel of an ended job, in the next one, whose PE has another GPU, and whose thread leaves that before the first launch."""
    with chime.init():
        mark, gpu, word = loaded(MARK, "mark"), THREADS.device(), chime.zeros(1, np.int32)
        mark[1, 1](word, 1)
        loads = Emulated.loads
    if cuda_module._driver is not None:
        sys.exit("the driver outlives its job")
    THREADS.take_another_gpu()
    with chime.init():
        word, own = chime.zeros(1, np.int32), THREADS.context()
        is_another = THREADS.device() != gpu
        THREADS.take_another_gpu()
        mark[1, 1](word, 8)
        THREADS.take(own)
        if (is_another, fetched(word), Emulated.loads) != (True, 8, loads + 1):
            chime.global_exit(3)


def end_with_a_failure():
    """finalize raises what a kernel has met, and the job has ended all the same."""
    chime.init()
    lose, word, n = loaded(FAILS, "lose"), chime.zeros(1, np.int32), chime.n_pes()
    lose[1, 1](word, stream=chime.Stream(PER_THREAD))
    try:
        chime.finalize()
    except chime.Error as error:
        if f"{n + 7}" not in str(error) or cuda_module._driver is not None:
            sys.exit(f"finalize raises {error}; the driver is {cuda_module._driver}")
    else:
        sys.exit("finalize does not raise what a kernel has met")
    try:
        word.live
    except chime.InvalidError:
        return
    sys.exit("an Array outlives its job")


if __name__ == "__main__":
    begin_without_nvidias_driver()
    cuda_module.Driver = Emulated
    main()
    load_when_a_later_job_begins()
    run_again_on_another_gpu()
    end_with_a_failure()
