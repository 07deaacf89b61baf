"""What PEs say that go wrong: last_words_test.py <chime-run> <last_words> [unittest arguments].

What each test's users saw before is in its first lines."""
import os
import signal
import subprocess
import sys
import unittest

CHIME_RUN, PE = sys.argv.pop(1), sys.argv.pop(1)
PATIENCE_S = 110
SANITIZED = "CHIME_TEST_SANITIZED" in os.environ


def run(*command):
    done = subprocess.run(command, stdin=subprocess.DEVNULL, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          timeout=PATIENCE_S)
    return done.returncode, done.stdout


class Faults(unittest.TestCase):
    @unittest.skipIf(SANITIZED, "sanitizers have handlers of their own")
    def test_a_fault_in_a_kernel_names_pe_thread_and_address(self):
        # Nothing but "was killed by signal 11".
        code, out = run(CHIME_RUN, "-n", "2", "--timeout", "100", PE, "faults_in_a_kernel")
        self.assertEqual(code, 128 + signal.SIGSEGV, out)
        self.assertRegex(out, r"\[1\] chime: PE 1: simt: SIGSEGV in thread \(3,0,0\) of block \(0,0,0\) of kernel "
                              r"last_words\+0x[0-9a-f]+: it (writes|touches) 0x10, where nothing is mapped")


if __name__ == "__main__":
    unittest.main(verbosity=2)
