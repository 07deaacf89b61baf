"""names.py: NVSHMEM's names, and which of them include/compat/nvshmem.h claims."""

import pathlib
import re

HERE = pathlib.Path(__file__).resolve().parent

# Names that only kernels call; names whose type C lacks.
DEVICE_ONLY = re.compile(r"nvshmemx_\w+_(warp|warpgroup|block)$|nvshmemx_(give|release)_smem$")
NO_C = re.compile(r"nvshmemx?_(half|bfloat16)_|nvshmemx_collective_launch(_attr|_query_gridsize)?$")
# Functions that are templates of no argument in C++ (device/forms.cuh).
LAZY = re.compile(r"nvshmemx?_\w+_(broadcast|fcollect|alltoall|reduce|reducescatter)(_warp|_block)?$")


def all_names():
    return (HERE / "nvshmem.names").read_text().split()


def missing():
    """[(pattern, reason)] of missing.names."""
    lines = (HERE / "missing.names").read_text().splitlines()
    return [tuple(re.split(r" {4,}", line, maxsplit=1)) for line in lines if line and not line.startswith("#")]


def claimed():
    patterns = [re.compile(pattern) for pattern, _ in missing()]
    return [name for name in all_names() if not any(pattern.fullmatch(name) for pattern in patterns)]


def is_of_c(name):
    return not DEVICE_ONLY.match(name) and not NO_C.match(name)
