#!/usr/bin/env python3
"""put_lat.py <libpython_c_puts.so>: a put of 8 bytes to a mapped PE from Python and from C, in turns, and what importing chime costs over numpy.

    PYTHONPATH=build/cpu/python chime-run -n 2 /usr/bin/python3 perf/python/put_lat.py build/cpu/perf/python/libpython_c_puts.so
"""

import ctypes
import sys
import time

began = time.perf_counter()
import numpy as np  # noqa: E402

numpy_s = time.perf_counter() - began
began = time.perf_counter()
import chime  # noqa: E402

chime_s = time.perf_counter() - began

COUNT, TURNS = 20000, 15


def python_put_ns(dst, src, pe):
    put = chime.put
    begin = time.perf_counter_ns()
    for _ in range(COUNT):
        put(dst, src, pe)
    return (time.perf_counter_ns() - begin) / COUNT


def main():
    c_put_ns = ctypes.CDLL(sys.argv[1]).c_put_ns
    c_put_ns.restype = ctypes.c_double
    with chime.init() as job:
        dst, symmetric, array = chime.zeros(1), chime.zeros(1), np.zeros(1)
        peer = (job.my_pe + 1) % job.n_pes
        best = {"C": 1e9, "Python, of an Array": 1e9, "Python, of a numpy array": 1e9}
        for _ in range(TURNS):
            chime.barrier()
            if job.my_pe == 0:
                times = (c_put_ns(ctypes.c_void_p(dst.address), ctypes.c_void_p(symmetric.address), ctypes.c_size_t(8), peer, COUNT),
                         python_put_ns(dst, symmetric, peer), python_put_ns(dst, array, peer))
                best = {name: min(before, now) for (name, before), now in zip(best.items(), times)}
        if job.my_pe == 0:
            print(f"put of 8 bytes, best of {TURNS} turns of {COUNT}")
            for name, ns in best.items():
                print(f"{name:28} {ns:8.0f} ns")
            print(f"import chime, after numpy's {1000 * numpy_s:.0f} ms {1000 * chime_s:8.1f} ms")


if __name__ == "__main__":
    main()
