#!/usr/bin/env python3
"""compat_check_test.py <source folder>: scripts/compat-check uses committed sources, prints the output of a program's own check, and
fails with it. The compiler and the launchers are a few lines each."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(sys.argv.pop(1))

COMPILER = """#!/bin/sh
grep -q broken nvshmem_ex.cu 2>/dev/null && { echo "nvshmem_ex.cu:1:1: error: no such <word>" >&2; exit 1; }
case "$*" in *nvshmem_ex.cu*) cp nvshmem_ex.cu a.out; chmod +x a.out ;; *) exit 1 ;; esac
"""
LAUNCHER = """#!/bin/sh
cat >/dev/null  # a launcher reads what is there to read
while [ "$1" != ./a.out ]; do shift; done
exec "$@"
"""


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)


class CompatCheck(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder, True)
        build = self.folder / "builds/softgpu"
        write(build / "tools/chime-cc/chime-cc", COMPILER)
        for launcher in (build / "tools/chime-run/chime-run", self.folder / "bin/mpirun", self.folder / "bin/mpicc"):
            write(launcher, LAUNCHER)
        write(build / "host/libchime_mpi.so", "")
        self.checkout = self.folder / "NVSHMEM-Benchmarks"

    def git(self, *words):
        subprocess.run(["git", "-C", self.checkout, "-c", "user.name=a", "-c", "user.email=a@b", *words], check=True, capture_output=True)

    def publish(self, program):
        write(self.checkout / "nvshmem_ex.cu", program)
        self.git("init", "-q")
        self.git("add", ".")
        self.git("commit", "-q", "-m", "one")

    def check(self, *words):
        environment = {**os.environ, "BUILD_FOLDER": str(self.folder / "builds"), "PATH": f"{self.folder}/bin:{os.environ['PATH']}"}
        done = subprocess.run([SOURCE / "scripts/compat-check", *words], env=environment, capture_output=True, text=True, timeout=60)
        return done.returncode, done.stdout, done.stderr

    def test_a_program_that_prints_what_it_should_is_verified_on_each_path(self):
        self.publish("#!/bin/sh\necho '3: received message 2'\n")
        write(self.checkout / "nvshmem_ex.cu", "broken, and not committed")
        status, out, err = self.check(self.checkout)
        self.assertIn("| nvshmem_ex | yes | p2p NIC proxy weak | p2p NIC proxy weak (", out, err)
        self.assertIn("| Multi_GPU_Gather_Kernel | no | - | - |", out)
        self.assertEqual(status, 0, err)

    def test_a_wrong_answer_fails(self):
        self.publish("#!/bin/sh\necho '3: received message 0'\n")
        status, out, _ = self.check("--only", "nvshmem_ex", self.checkout)
        self.assertIn("| yes | p2p NIC proxy weak | no (", out)
        self.assertEqual(status, 1)

    def test_a_right_answer_and_a_failure_fails(self):
        self.publish("#!/bin/sh\necho '3: received message 2'\nexit 7\n")
        status, out, _ = self.check("--only", "nvshmem_ex", self.checkout)
        self.assertIn("p2p: status 7", out)
        self.assertEqual(status, 1)

    def test_what_is_missing_is_the_compilers_first_error(self):
        self.publish("broken")
        status, out, _ = self.check("--only", "nvshmem_ex", self.checkout)
        self.assertIn("| no | - | - | no such word |", out)
        self.assertEqual(status, 1, "it would be run")
        status, out, _ = self.check("--only", "Gather_Kernel$", self.checkout)
        self.assertIn("| no | - | - |", out)
        self.assertEqual(status, 0, "it is compiled alone")

    def test_refusals_say_what_to_do(self):
        self.assertIn("name checkouts", self.check()[2])
        self.checkout = self.folder / "else"
        self.publish("")
        status, _, err = self.check(self.checkout)
        self.assertIn("is none of: ", err)
        self.assertNotEqual(status, 0)


if __name__ == "__main__":
    if not shutil.which("git"):
        print("skipped: git is not installed")
        sys.exit(77)
    unittest.main()
