"""python_package.py <prefix>: a PE of Python's whose kernel is compiled, and runs, by what lies in the prefix alone; of the job's device."""

import os
import pathlib
import sys

import chime
import numpy as np
from chime import kernels

prefix = os.path.realpath(sys.argv[1])
TELL = "CHIME_KERNEL void tell(int* word) { chime_int_p(word, 100 + chime_my_pe(), (chime_my_pe() + 1) % chime_n_pes()); }"

with chime.init() as job:
    word, got = chime.zeros(1, np.int32), np.zeros(1, np.int32)
    quickly = ("-O0",) if chime.device() == "cpu" else ()
    chime.kernel(TELL, "tell", flags=quickly)[1, 1](word)
    chime.barrier()
    chime.get(got, word, job.my_pe)
    left = (job.my_pe - 1) % job.n_pes
    assert got[0] == 100 + left, f"PE {job.my_pe} got {got[0]} from PE {left}"

    names = {pathlib.Path(line.split()[-1]) for line in open("/proc/self/maps")}
    loaded = {str(path) for path in names if path.name.startswith(("_chime", "libchime", "libsoftgpu"))}
    libraries = ["_chime", "libchime.so", *(["libsoftgpu.so"] if chime.device() == "cuda" else [])]
    assert all(any(library in name for name in loaded) for library in libraries), loaded
    command = kernels._command(None, ())
    folders = [word[2:] for word in (*command.options, *command.linked) if word.startswith(("-I", "-L"))]
    if chime.device() == "cuda":
        folders.append(command.compiler[0])
    outside = [name for name in (*loaded, *folders) if not os.path.realpath(name).startswith(prefix)]
    assert not outside, f"taken from outside {prefix}: {outside}"
    print(f"PE {job.my_pe} of {job.n_pes}: a kernel on {chime.device()} told it {got[0]}")
