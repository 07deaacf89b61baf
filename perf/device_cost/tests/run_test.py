"""Chime's calls execute as PTX the operations that tests/unit/nic/budget_test.cpp counts for them on the CPU device.

    run_test.py <build folder of preset softgpu> [kernel...]      default: all"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import executed  # noqa: E402

# kRows of budget_test.cpp: atomics, fences, stores (requests, record, counters), doorbells, loads from the device's memory.
BUDGET = {("p", "gpu"): (1, 2, 3 + 1 + 1, 1, 8), ("put", "gpu"): (1, 2, 3 + 1 + 1, 1, 8),
          ("put_signal_set", "gpu"): (1, 2, 6 + 1 + 1, 1, None)}
KERNELS = ("p", "put_64", "put_64_block", "put", "put_block", "put_signal_set", "put_signal_set_block", "put_signal_add",
           "put_signal_add_block", "fetch_add", "quiet")
MODES = ("gpu", "p2p")


def of_device(counter):
    return sum(number for kind, number in counter.items() if kind.startswith("device"))


def measured(counts):
    return (sum(counts["atomics"].values()), sum(counts["fences"].values()), of_device(counts["stores"]), counts["mmio"],
            of_device(counts["loads"]))


def faults_of(found, kernels):
    yield from (f"no {kernel} by {mode}" for kernel in kernels for mode in MODES if (kernel, mode) not in found)
    for call, wanted in BUDGET.items():
        if call[0] not in kernels:
            continue
        seen = measured(found[call])
        if any(want is not None and want != tell for want, tell in zip(wanted, seen)):
            yield f"{call}: {seen}, and the CPU device {wanted}"
    for (kernel, mode), counts in found.items():
        rings = 0 if mode == "p2p" or kernel == "quiet" else 1
        if counts["mmio"] != rings:
            yield f"{kernel} by {mode}: {counts['mmio']} doorbells"
        for where in ("stores", "loads"):
            if any(kind.startswith("other") for kind in counts[where]):
                yield f"{kernel} by {mode}: {where} to memory of an unknown owner: {counts[where]}"


def main():
    try:
        found = executed.by_call(executed.run(sys.argv[1], sys.argv[2:]))
    except executed.Failed as failure:
        print(failure)
        return 1
    faults = list(faults_of(found, sys.argv[2:] or KERNELS))
    print(f"{len(found)} calls", *faults, sep="\n")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
