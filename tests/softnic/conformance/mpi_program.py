"""An MPI program of two ranks that checks every byte it receives. Calls libmpi by ctypes, so that it needs no compiler
and no headers: messages of all sizes in both directions, a reduction, and put, get and fetch-and-add in a window."""

import ctypes
import sys

mpi = ctypes.CDLL("libmpi.so.40", mode=ctypes.RTLD_GLOBAL)


def constant(name):
    return ctypes.byref(ctypes.c_char.in_dll(mpi, name))


WORLD = constant("ompi_mpi_comm_world")
BYTE, LONG, SUM = constant("ompi_mpi_byte"), constant("ompi_mpi_long"), constant("ompi_mpi_op_sum")
INFO_NULL = constant("ompi_mpi_info_null")
SIZES = [0, 1, 7, 64, 1000, 4096, 8191, 65536, 1 << 20, (4 << 20) + 3]
WINDOW = 1 << 16


def call(name, *arguments):
    status = getattr(mpi, name)(*arguments)
    if status != 0:
        sys.exit(f"{name} returned {status}")


def pattern(rank, size):
    return bytes((i * 7 + rank * 31 + size) & 0xff for i in range(251)) * (size // 251 + 1)


def exchange(rank):
    """Every size to the other rank and back."""
    for size in SIZES:
        out = ctypes.create_string_buffer(pattern(rank, size)[:size], max(size, 1))
        into = ctypes.create_string_buffer(max(size, 1))
        call("MPI_Sendrecv", out, size, BYTE, 1 - rank, 5, into, size, BYTE, 1 - rank, 5, WORLD, None)
        if into.raw[:size] != pattern(1 - rank, size)[:size]:
            sys.exit(f"rank {rank}: {size} bytes came wrong")


def reduce(rank):
    mine, total = ctypes.c_long(rank + 1), ctypes.c_long()
    for _ in range(100):
        call("MPI_Allreduce", ctypes.byref(mine), ctypes.byref(total), 1, LONG, SUM, WORLD)
        if total.value != 3:
            sys.exit(f"rank {rank}: the sum is {total.value}, not 3")


def use_window(rank):
    base, window = ctypes.c_void_p(), ctypes.c_void_p()
    call("MPI_Win_allocate", ctypes.c_long(WINDOW), 1, INFO_NULL, WORLD, ctypes.byref(base), ctypes.byref(window))
    ctypes.memset(base, 0, WINDOW)
    call("MPI_Win_fence", 0, window)
    half = WINDOW // 2
    out = ctypes.create_string_buffer(pattern(rank, half)[:half], half)
    call("MPI_Put", out, half, BYTE, 1 - rank, ctypes.c_long(half), half, BYTE, window)
    call("MPI_Win_fence", 0, window)
    if ctypes.string_at(base.value + half, half) != pattern(1 - rank, half)[:half]:
        sys.exit(f"rank {rank}: what was put is wrong")
    into = ctypes.create_string_buffer(half)
    call("MPI_Get", into, half, BYTE, 1 - rank, ctypes.c_long(half), half, BYTE, window)
    call("MPI_Win_fence", 0, window)
    if into.raw != pattern(rank, half)[:half]:
        sys.exit(f"rank {rank}: what was got is wrong")
    count(rank, base, window)
    call("MPI_Win_free", ctypes.byref(window))


def count(rank, base, window):
    """Both ranks add to the same word of rank 0."""
    one, old = ctypes.c_long(1), ctypes.c_long()
    call("MPI_Win_lock_all", 0, window)
    for _ in range(100):
        call("MPI_Fetch_and_op", ctypes.byref(one), ctypes.byref(old), LONG, 0, ctypes.c_long(0), SUM, window)
        call("MPI_Win_flush", 0, window)
    call("MPI_Barrier", WORLD)
    call("MPI_Win_unlock_all", window)
    if rank == 0 and ctypes.c_long.from_address(base.value).value != 200:
        sys.exit(f"the counter is {ctypes.c_long.from_address(base.value).value}, not 200")


def main():
    call("MPI_Init", None, None)
    rank, size = ctypes.c_int(), ctypes.c_int()
    call("MPI_Comm_rank", WORLD, ctypes.byref(rank))
    call("MPI_Comm_size", WORLD, ctypes.byref(size))
    if size.value != 2:
        sys.exit(f"{size.value} ranks; this program is for 2")
    exchange(rank.value)
    reduce(rank.value)
    use_window(rank.value)
    call("MPI_Finalize")
    print(f"rank {rank.value}: all bytes right", flush=True)


main()
