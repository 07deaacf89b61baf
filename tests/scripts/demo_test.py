"""The demo's verdicts follow from the numbers of the run, its arguments are refused before anything is built, and it fails
when a verdict is bad."""

import json
import sys

from stage import Stage


def result_with(**changes):
    difference = {"max": 1.8e-14, "rms": 4e-15}
    line = {"step": 100, "position": dict(difference), "velocity": dict(difference), "force": {"max": 6e-12, "rms": 1e-12}}
    thermo = [{"step": step, "temperature": 1.44 - step / 1000, "pair_energy": -6.5, "total_energy": -4.6, "pressure": 0.2}
              for step in (0, 100)]
    return {"pes": 2, "halo_bytes": 5_000_000, "position_tolerance": 1e-12, "force_tolerance": 1e-10, "validate": [line],
            "thermo": thermo, **changes}


def validated(**changes):
    result = result_with()
    for what, value in changes.items():
        result["validate"][0][what]["max"] = value
    return result


def counters_of(pid, **changes):
    line = {"softnic": "counters", "pid": pid, "doorbells": 1500, "packets_received": 6000, "failed": 0,
            "to_peers": {"RDMA_WRITE": {"requests": 4000, "bytes": 2_700_000}, "RDMA_READ": {"requests": 3, "bytes": 48},
                         "ATOMIC_FA": {"requests": 5, "bytes": 40}, "ATOMIC_MASKED_CS": {"requests": 2, "bytes": 16}},
            "to_itself": {}, "faults": {}}
    return {**line, **changes}


class Reports:
    def __init__(self, stage):
        self.stage = stage
        self.number = 0

    def write(self, content):
        self.number += 1
        path = self.stage.project / f"{self.number}.json"
        path.write_text(content if isinstance(content, str) else json.dumps(content))
        return path

    def check(self, is_good, words, command, *contents):
        done = self.stage.run(sys.executable, "scripts/demo_report.py", command, *map(self.write, contents))
        self.stage.true((done.returncode == 0) == is_good, f"{command}: it ended with {done.returncode}:\n{done.stdout}")
        self.stage.says(done, *words)
        self.stage.silent_of(done, "FAILED" if is_good else "passed")


def check_reports(stage):
    reports = Reports(stage)
    good, bad = reports.check, lambda *args: reports.check(False, *args)

    good(True, ["agrees with LAMMPS's reference to 1.8e-14: passed", "force by 6.0e-12, allowed 1e-10"], "agreement", validated())
    bad(["differs from LAMMPS's reference to 2.0e-12: FAILED"], "agreement", validated(position=2e-12))
    bad(["differs from LAMMPS's reference", "force by 1.0e-09, allowed 1e-10"], "agreement", validated(force=1e-9))
    bad(["differs from LAMMPS's reference to inf: FAILED"], "agreement", validated(position=None))  # JSON has no NaN
    bad(["nothing was compared", "FAILED"], "agreement", result_with(validate=[]))
    bad(["cannot be read"], "agreement", "")

    good(True, ["all 2 lines of the table have the same digits as without the NIC: passed"], "same_digits", result_with(),
         result_with())
    other = result_with()
    other["thermo"][1]["pressure"] = 0.2000000000000001
    bad(["step 100: pressure is 0.2 there and 0.2000000000000001 here: FAILED"], "same_digits", result_with(), other)
    bad(["2 and 1 lines", "FAILED"], "same_digits", result_with(), result_with(thermo=other["thermo"][:1]))
    bad(["0 and 0 lines", "FAILED"], "same_digits", result_with(thermo=[]), result_with(thermo=[]))

    def lines(*counters):
        return "".join(json.dumps(line) + "\n" for line in counters)

    good(True, ["bytes written", "2.7 MB", "5.4 MB", "8,000", "3,000", "14", "12,000",
                "the halo of 5.0 MB between PEs is within the 5.4 MB that NICs wrote: passed"],
         "nic", lines(counters_of(1), counters_of(2)), result_with())
    bad(["1 NICs reported what they did, of 2 PEs: FAILED"], "nic", lines(counters_of(1)), result_with())
    bad(["0 NICs reported what they did, of 2 PEs: FAILED"], "nic", "", result_with())
    bad(["7 requests ended with an error: FAILED"], "nic", lines(counters_of(1, failed=7), counters_of(2)), result_with())
    bad(["the halo of 5.0 MB between PEs is more than the 2.7 MB that NICs wrote: FAILED"], "nic",
        lines(counters_of(1), counters_of(2, to_peers={})), result_with())


def check_arguments(stage):
    """None of them gets as far as the packages."""
    stage.explains_itself("scripts/demo", "  scripts/demo [number of PEs, default 4]")
    stage.play("nproc", "echo 2")
    for arguments, words in [
        (["x"], ["'x' is no number of PEs"]),
        (["0"], ["'0' is no number of PEs"]),
        (["-4"], ["'-4' is no number of PEs"]),
        (["4", "5"], ["'5' is one word too many"]),
        (["7"], ["7 PEs do not fit", "1 2 3 4 5 6 8 9 10 12 15 16"]),
        (["126"], ["126 PEs do not fit"]),
        (["18446744073709551617"], ["18446744073709551617 PEs do not fit"]),
        (["64"], ["64 PEs are too many for the 2 cores", "At most 8 a core"]),
    ]:
        done = stage.run("scripts/demo", *arguments)
        stage.true(done.returncode == 1, f"{arguments}: it ended with {done.returncode}")
        stage.says(done, *words)
        stage.silent_of(done, "packages", "building")


# Plays particles: writes its numbers to the last word after --json.
CHIME_RUN = """
while [ "$1" != --json ]; do shift; done
[ "$STATUS" = 77 ] && { echo "particles: planted" >&2; exit 1; }
cp "$RESULT" "$2"
[ -z "${SOFTNIC_COUNTERS:-}" ] || cp "$NICS" "$SOFTNIC_COUNTERS"
exit "$STATUS"
"""


def check_demo(stage):
    stage.play("cmake", "exit 0")
    (stage.project / "scripts/setup").write_text("#!/bin/bash\n")
    chime_run = stage.project / "build/cpu/tools/chime-run/chime-run"
    chime_run.parent.mkdir(parents=True)
    chime_run.write_text(f"#!/bin/bash\n{CHIME_RUN}")
    chime_run.chmod(0o755)
    result, nics = stage.project / "result", stage.project / "nics"
    nics.write_text("".join(json.dumps(counters_of(pid)) + "\n" for pid in (1, 2)))
    play = {"RESULT": str(result), "NICS": str(nics), "STATUS": "0"}

    result.write_text(json.dumps(validated()))
    done = stage.run("scripts/demo", "2", **play)
    stage.true(done.returncode == 0, f"it ended with {done.returncode}:\n{done.stdout}")
    stage.says(done, "CHIME_NIC=soft CHIME_P2P=off SOFTNIC_COUNTERS=", "every verdict is: passed")
    stage.true(done.stdout.count(": passed\n") == 5, f"four verdicts and the last line:\n{done.stdout}")

    result.write_text(json.dumps(validated(position=1e-3)))
    done = stage.run("scripts/demo", "2", **{**play, "STATUS": "1"})
    stage.true(done.returncode == 1, f"what differs ended with {done.returncode}")
    stage.says(done, "differs from LAMMPS's reference to 1.0e-03: FAILED", "demo: FAILED")
    stage.silent_of(done, "every verdict is")

    # The files of an earlier demo are no result of this one.
    result.write_text(json.dumps(validated()))
    stage.run("scripts/demo", "2", **play)
    done = stage.run("scripts/demo", "2", **{**play, "STATUS": "77"})
    stage.true(done.returncode == 1, f"a run that broke off ended with {done.returncode}")
    stage.says(done, "particles: planted", "the run failed; its output is above")


def main():
    stage = Stage(sys.argv[1])
    check_reports(stage)
    check_arguments(stage)
    check_demo(stage)
    stage.finish()


main()
