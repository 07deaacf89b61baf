#!/usr/bin/env python3
"""The refusals of softnic-run, and the messages about variables.

launcher_test.py <folder of softnic-run> <ibverbs utilities that can be preloaded: 1 or 0>
"""
import errno
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

TOOLS, HAS_PROGRAMS = sys.argv[1], sys.argv[2] == "1"

needs_programs = unittest.skipUnless(HAS_PROGRAMS, "ibv_devinfo cannot run here (not installed, or a sanitizer's build)")


class Launcher(unittest.TestCase):
    def run_program(self, *words, status=0, launcher=os.path.join(TOOLS, "softnic-run"), **environment):
        """Runs softnic-run with `words`; returns its stderr."""
        done = subprocess.run([launcher, *words], capture_output=True, text=True, timeout=60,
                              env={**os.environ, **environment})
        if status is not None:
            self.assertEqual(done.returncode, status, done.stderr)
        return done.stderr

    def test_a_path_that_cannot_be_preloaded_is_refused(self):
        """ld.so would warn and run the program without the NIC."""
        for name in ("my prefix", "my:prefix"):
            with self.subTest(folder=name), tempfile.TemporaryDirectory() as folder:
                here = os.path.join(os.path.realpath(folder), name)
                os.mkdir(here)
                for file in ("softnic-run", "libsoftnic.so"):
                    shutil.copy(os.path.join(TOOLS, file), here)
                os.symlink(os.path.abspath(os.path.join(TOOLS, "softnic.sysfs")), os.path.join(here, "softnic.sysfs"))
                ran = os.path.join(folder, "ran")
                told = self.run_program("touch", ran, launcher=os.path.join(here, "softnic-run"), status=2)
                self.assertIn(f"softnic-run: {here}/libsoftnic.so: its path holds a space or a colon", told)
                self.assertFalse(os.path.exists(ran))

    @needs_programs
    def test_a_misspelt_variable_is_named_once(self):
        words = "softnic: SOFTNIC_FAULT is no variable"
        for program in (["ibv_devinfo"], ["ibv_devices"], ["env", "-u", "SYSFS_PATH", "ibv_devices"]):
            with self.subTest(program=program):
                told = self.run_program(*program, SOFTNIC_FAULT="rnr")
                self.assertEqual(told.count(words), 1, told)
        self.assertNotIn("is no variable", self.run_program("ibv_devinfo", SOFTNIC_LOG="1", SOFTNIC_TEST_CUDA=""))

    @needs_programs
    def test_a_small_limit_of_files_is_named(self):
        limited = ["bash", "-c", "ulimit -f 1000; exec ibv_devinfo"]
        self.assertIn("the limit of files is 1024000 bytes (ulimit -f)", self.run_program(*limited, status=None))

    @needs_programs
    def test_rdma_cm_is_said_to_be_missing_once(self):
        for program in (["ib_write_bw", "-R"], ["rping", "-c", "-a", "127.0.0.1"], ["rdma_client"]):
            with self.subTest(program=program[0]):
                if not shutil.which(program[0]):
                    self.skipTest(f"{program[0]} is not installed (perftest, rdmacm-utils)")
                told = self.run_program(*program, status=None)
                self.assertEqual(told.count("softnic: rdma_cm is not emulated"), 1, told)
        missing = "import os\ntry: os.open('/dev/infiniband/rdma_cm', os.O_RDWR)\nexcept OSError as e: print(e.errno, flush=True)"
        done = subprocess.run([os.path.join(TOOLS, "softnic-run"), sys.executable, "-c", missing], text=True,
                              capture_output=True, timeout=60)
        self.assertEqual(done.stdout, f"{errno.ENOENT}\n", done.stderr)

    def test_what_the_nic_would_find_late_is_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            refused = {("--no-such-option",): "--no-such-option", ("--faults", "tea"): "rule 'tea': no such fault",
                       ("--trace", "/nowhere/t"): "cannot write to /nowhere", ("--counters", folder): "is a folder"}
            for options, words in refused.items():
                self.assertIn(words, self.run_program(*options, "true", status=2))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
