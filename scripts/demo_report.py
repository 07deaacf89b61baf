"""The demo's verdict about a run of particles, from the numbers that it and the emulated NICs left.

    demo_report.py agreement RESULT.json            does it agree with LAMMPS's reference?
    demo_report.py same_digits RESULT.json OTHER.json   has every line of the table the same digits?
    demo_report.py nic COUNTERS RESULT.json          what did the NICs do, and did they carry the halo?

Each ends in a verdict in words; exit code 1 when it is bad."""

import json
import pathlib
import sys

ATOMICS = ("ATOMIC_CS", "ATOMIC_FA", "ATOMIC_MASKED_CS", "ATOMIC_MASKED_FA")
WRITES = ("RDMA_WRITE", "RDMA_WRITE_IMM")


def read_json(path):
    return json.loads(pathlib.Path(path).read_text())


def conclude(is_good, sentence):
    print(f"   {sentence}: {'passed' if is_good else 'FAILED'}")
    return is_good


def largest(result, what):
    """The largest difference over all compared steps; infinite where one is no number (JSON: null)."""
    seen = [line[what]["max"] for line in result["validate"]]
    return max(float("inf") if value is None else value for value in seen)


def agreement(result_path):
    result = read_json(result_path)
    if not result["validate"]:
        return conclude(False, "nothing was compared with LAMMPS's reference")
    differences = {what: (largest(result, what), result[f"{what}_tolerance"]) for what in ("position", "force")}
    steps = ", ".join(str(line["step"]) for line in result["validate"])
    allowed = "; ".join(f"{what} by {seen:.1e}, allowed {limit:g}" for what, (seen, limit) in differences.items())
    is_good = all(seen <= limit for seen, limit in differences.values())
    verb = "agrees with" if is_good else "differs from"
    print(f"   largest difference of an atom at steps {steps}: {allowed}")
    return conclude(is_good, f"{verb} LAMMPS's reference to {differences['position'][0]:.1e}")


def same_digits(first_path, second_path):
    first, second = read_json(first_path)["thermo"], read_json(second_path)["thermo"]
    if not first or len(first) != len(second):
        return conclude(False, f"the tables have {len(first)} and {len(second)} lines")
    for mine, theirs in zip(first, second):
        for name, value in mine.items():
            if theirs[name] != value or value is None:
                return conclude(False, f"step {mine['step']}: {name} is {value!r} there and {theirs[name]!r} here")
    return conclude(True, f"all {len(first)} lines of the table have the same digits as without the NIC")


def bytes_in_words(count):
    for unit in ("B", "kB", "MB", "GB"):
        if count < 1000 or unit == "GB":
            return f"{count:.0f} B" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1000


def did(line, opcodes, what):
    return sum(line["to_peers"].get(opcode, {}).get(what, 0) for opcode in opcodes)


def row_of(name, lines):
    def total(of):
        return sum(of(line) for line in lines)

    return [name, bytes_in_words(total(lambda line: did(line, WRITES, "bytes"))),
            f"{total(lambda line: did(line, WRITES, 'requests')):,}",
            f"{total(lambda line: did(line, ('RDMA_READ',), 'requests')):,}",
            f"{total(lambda line: did(line, ATOMICS, 'requests')):,}",
            f"{total(lambda line: line['doorbells']):,}", f"{total(lambda line: line['packets_received']):,}",
            f"{total(lambda line: line['failed']):,}"]


def nic(counters_path, result_path):
    path, result = pathlib.Path(counters_path), read_json(result_path)
    lines = [json.loads(text) for text in path.read_text().splitlines()] if path.exists() else []
    print("   what the NICs counted (requests to peers; a doorbell hands in one or more):")
    rows = [["NIC of process", "bytes written", "writes", "reads", "atomics", "doorbells", "packets in", "failed"]]
    rows += [row_of(str(line["pid"]), [line]) for line in lines] + [row_of("all", lines)]
    for row in rows:
        print("   " + "".join(f"{cell:>15}" for cell in row))
    if len(lines) != result["pes"]:
        return conclude(False, f"{len(lines)} NICs reported what they did, of {result['pes']} PEs")
    failed = sum(line["failed"] for line in lines)
    if failed:
        return conclude(False, f"{failed} requests ended with an error")
    written, halo = sum(did(line, WRITES, "bytes") for line in lines), result["halo_bytes"]
    relation = "is within" if written >= halo else "is more than"
    return conclude(written >= halo, f"the halo of {bytes_in_words(halo)} between PEs {relation} the "
                                     f"{bytes_in_words(written)} that NICs wrote")


COMMANDS = {"agreement": (agreement, 1), "same_digits": (same_digits, 2), "nic": (nic, 2)}


def main():
    command, count = COMMANDS.get(sys.argv[1] if len(sys.argv) > 1 else "", (None, 0))
    if not command or len(sys.argv) != count + 2:
        sys.exit(__doc__)
    try:
        is_good = command(*sys.argv[2:])
    except (OSError, ValueError, KeyError) as error:
        sys.exit(f"demo_report.py: {' '.join(sys.argv[2:])} cannot be read: {error!r}")
    sys.exit(0 if is_good else 1)


main()
