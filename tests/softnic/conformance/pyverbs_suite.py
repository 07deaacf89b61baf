#!/usr/bin/env python3
"""Runs rdma-core's own test suite (Debian's python3-pyverbs) on a softnic.

    pyverbs_suite.py --softnic-run build/cpu/softnic/softnic-run [--ethernet] [--preload libasan.so] [--repeat N]

No test of it may fail. The suite skips functions that the softnic does not emulate, on EOPNOTSUPP or a capability. The tests
of KNOWN must pass, and at least LEAST in all, so that the suite is not skipped as a whole.
Exit status 77: pyverbs or its tests are not installed.
"""

import argparse
import gzip
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SUITE = pathlib.Path("/usr/share/doc/rdma-core/tests")
LEAST = 85
KNOWN = ["test_atomic.AtomicTest.test_atomic_cmp_and_swap", "test_mr.MRTest.test_reg_mr_bad_flags",
         "test_mlx5_timestamp.TimeStampTest.test_timestamp_free_running_rc_traffic",
         "test_qpex.QpExTestCase.test_qp_ex_rc_rdma_write", "test_cq_events.CqEventsTestCase.test_cq_events_rc"]
SECONDS = 270


def python_with_pyverbs():
    """Debian's modules belong to Debian's Python, which need not be the first one in PATH."""
    for python in ("python3", "/usr/bin/python3"):
        found = shutil.which(python)
        if found and subprocess.run([found, "-c", "import pyverbs.device"], capture_output=True).returncode == 0:
            return found
    return None


def unpack(folder):
    """Debian compresses long files."""
    for file in SUITE.iterdir():
        if file.suffix == ".gz":
            (folder / file.stem).write_bytes(gzip.decompress(file.read_bytes()))
        else:
            shutil.copy(file, folder)


def command_of(options, python, folder):
    return [options.softnic_run, *(["--ethernet"] if options.ethernet else []), python, str(folder / "run_tests.py"), "-v"]


def environment_of(options):
    environment = {**os.environ, "SOFTNIC_FABRIC": f"test/{os.getpid()}"}
    if options.preload:  # softnic-run adds its library after it
        environment["LD_PRELOAD"] = options.preload
    environment["ASAN_OPTIONS"] = "detect_leaks=0:" + environment.get("ASAN_OPTIONS", "")
    return environment


def names_that_passed(output):
    """A test is `name (tests.module.class.name) ... ok`, with its description or the NIC's reports on lines between."""
    pieces = re.split(r"^\w+ \(tests\.([\w.]+)\)", output, flags=re.MULTILINE)[1:]
    return {name for name, rest in zip(pieces[::2], pieces[1::2]) if re.search(r"(\.\.\. |^)ok$", rest, re.MULTILINE)}


def judge(done):
    """The faults of a run; empty if it is right."""
    if done.returncode != 0:
        return f"the suite ended with status {done.returncode}"
    passed = names_that_passed(done.stdout)
    print(f"{len(passed)} passed, {done.stdout.count('... skipped')} skipped")
    missing = [name for name in KNOWN if name not in passed]
    if missing:
        return f"did not pass: {', '.join(missing)}"
    if len(passed) < LEAST:
        return f"only {len(passed)} tests passed; {LEAST} did when this was written: has the device lost a capability?"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--softnic-run", required=True, help="the launcher of the build under test")
    parser.add_argument("--ethernet", action="store_true", help="RoCE v2 port")
    parser.add_argument("--preload", help="library to load before the softnic: the runtime of a sanitizer")
    parser.add_argument("--repeat", type=int, default=1, help="so many times, back to back")
    options = parser.parse_args()
    python = python_with_pyverbs()
    if not python:
        print("skipped: no pyverbs (apt install python3-pyverbs)")
        return 77
    if not (SUITE / "run_tests.py").exists():
        print(f"skipped: python3-pyverbs is here without its tests, {SUITE} (a dpkg that leaves out /usr/share/doc, as "
              "slim images have it: see /etc/dpkg/dpkg.cfg.d)")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        tests = pathlib.Path(folder, "tests")
        tests.mkdir()
        unpack(tests)
        for _ in range(options.repeat):
            done = subprocess.run(command_of(options, python, tests), env=environment_of(options), text=True,
                                  errors="replace", timeout=SECONDS, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            wrong = judge(done)
            if wrong:
                print(f"{done.stdout}\nFAILED: {wrong}")
                return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
