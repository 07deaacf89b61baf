"""Errors of the threads of one PE: threads_test.py <chime-run> <threads_pe> [unittest arguments].

All threads shared one error record. Up to 1301 of 60 000 failing puts by 8 threads returned no error, and good puts
returned the failures of others. chime_finalize beside a put crashed."""
import os
import subprocess
import sys
import tempfile
import unittest

CHIME_RUN, PE = sys.argv.pop(1), sys.argv.pop(1)


def run(*command, cwd=None, **variables):
    environment = dict(os.environ, **{"CHIME_ON_ERROR": "return", "CHIME_LOG": "off", **variables})
    done = subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, cwd=cwd, timeout=200)
    return done.returncode, done.stdout


class Threads(unittest.TestCase):
    def test_each_failure_reaches_only_its_caller(self):
        code, out = run(CHIME_RUN, "-n", "2", "--timeout", "180", PE, "mixes_good_and_failing_puts")
        self.assertEqual(code, 0, out)
        self.assertEqual(out.count("says 0 silent, 0 foreign, 0 blamed, 8 words"), 2, out)
        self.assertEqual(out.count("says left: \n"), 2, "errors that callers got are pending\n" + out)

    @unittest.skipUnless("CHIME_SOFTNIC_LIBRARY" in os.environ, "there is no softnic, or a sanitizer")
    def test_a_lost_queue_pair_is_reported_to_threads_that_need_it(self):
        # The queue pair of PE 0's host operations to PE 1: its 20th request fails, and all requests after that.
        with tempfile.TemporaryDirectory() as folder:
            code, out = run(CHIME_RUN, "-n", "3", "--keep-going", "--timeout", "180", PE, "fetches_over_a_lost_queue",
                            "error:syndrome=remote-access,wqe=20,qp=0x44", CHIME_P2P="off", CHIME_NIC="soft",
                            CHIME_NIC_BACKEND="devx", CHIME_NIC_SLOTS="1", cwd=folder)
        self.assertEqual(code, 0, out)
        self.assertIn("says 0 silent, 0 foreign, 0 blamed", out)
        self.assertIn("says told: all", out)

    def test_finalize_beside_a_call_names_the_call_and_leaves_the_pe_as_it_is(self):
        code, out = run(PE, "finalizes_beside_a_wait")
        self.assertEqual(code, 0, out)
        self.assertRegex(out, r"finalize: chime_finalize: .*another thread .*chime_wait_until")
        self.assertIn("status -1", out)

    def test_finalize_beside_puts_does_not_crash(self):
        code, out = run(PE, "finalizes_beside_puts")
        self.assertEqual(code, 0, out)
        self.assertIn("went on", out)

    # The report of the failure read memory that finalize was about to release: TSan finds that.
    def test_a_put_beside_finalize_fails_and_touches_nothing_of_the_pe(self):
        with tempfile.TemporaryDirectory() as folder:
            code, out = run(CHIME_RUN, "-n", "2", "--timeout", "60", PE, "puts_while_finalize_waits", cwd=folder)
        self.assertEqual(code, 0, out)
        self.assertRegex(out, r"says put: chime_put: .*another thread is in chime_finalize of this PE")

    def test_finalize_beside_a_call_ends_the_program_by_default(self):
        code, out = run(PE, "finalizes_beside_a_wait", CHIME_ON_ERROR="exit", CHIME_LOG="error")
        self.assertEqual(code, 1, out)
        # Or the wait fails, if it begins during finalize or after it.
        self.assertRegex(out, r"chime_finalize: .*another thread .*chime_wait_until|chime_wait_until: .*chime_finalize")


if __name__ == "__main__":
    unittest.main(verbosity=2)
