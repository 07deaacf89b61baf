"""The bytes that the NICs report as written to peers cover the halo where no PE is mapped, and are none where all are."""

import json
import pathlib

from harness import Checks, Runner, parse_arguments

PES, STEPS = 2, 20


def run_and_count(args, run, p2p):
    """The output of particles, and a line of counters for each PE's NIC."""
    path = pathlib.Path(run.folder.name) / f"counters.{p2p}"
    result = run.json(PES, "--data", args.data / "data.lj.256.step0", "--steps", STEPS,
                      environment={"CHIME_P2P": p2p, "SOFTNIC_COUNTERS": str(path)})
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    print(f"CHIME_P2P={p2p}: halo {result['halo_bytes']} bytes")
    for line in lines:
        print(f"  {line}")
    return result, lines


def written(lines):
    return sum(line["to_peers"].get("RDMA_WRITE", {}).get("bytes", 0) for line in lines)


def main():
    args = parse_arguments()
    run, checks = Runner(args), Checks()

    result, lines = run_and_count(args, run, "off")
    checks.true(len(lines) == PES, f"{len(lines)} NICs reported their counters")
    checks.true(result["halo_bytes"] > STEPS * 1000, f"a halo of {result['halo_bytes']} bytes")
    checks.true(written(lines) >= result["halo_bytes"], "the NICs wrote less than the halo")
    # Beside it go signals, the board, migrating atoms and the words of barriers.
    checks.at_most(written(lines), 2 * result["halo_bytes"], "bytes written by the NICs")
    for line in lines:
        checks.true(line["doorbells"] > 0 and line["failed"] == 0, f"doorbells and failures: {line}")

    result, lines = run_and_count(args, run, "auto")
    checks.true(len(lines) == PES, f"{len(lines)} NICs reported their counters where PEs are mapped")
    checks.true(result["halo_bytes"] > 0, "no halo where PEs are mapped")
    for line in lines:
        checks.true(not line["to_peers"], f"a NIC moved data between mapped PEs: {line}")
    checks.finish()


main()
