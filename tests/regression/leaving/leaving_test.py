"""How PEs leave a job and join it again: leaving_test.py <chime-run> <leaving_pe> [unittest arguments].

The first lines of each test say what users saw."""
import os
import signal
import subprocess
import sys
import unittest

CHIME_RUN, PE = sys.argv.pop(1), sys.argv.pop(1)
PATIENCE_S = 110


def run(*command, **variables):
    done = subprocess.run(command, env=dict(os.environ, **variables), stdin=subprocess.DEVNULL, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=PATIENCE_S)
    return done.returncode, done.stdout


def job(pes, act, *options, **variables):
    return run(CHIME_RUN, "-n", str(pes), "--timeout", "100", *options, PE, act, **variables)


class Leaving(unittest.TestCase):
    def test_the_exit_of_a_forked_child_is_no_pes_death(self):
        # The child's atexit handler reported to the local peers that PE 0 had exited.
        code, out = job(3, "forks_a_child_that_exits")
        self.assertEqual(code, 0, out)
        self.assertIn("child ended with 3", out)
        self.assertEqual(out.count("went on"), 3, out)

    def test_a_pending_error_does_not_keep_a_pe_from_leaving_properly(self):
        # PE 0 left without the others, and they took it for dead.
        code, out = job(3, "leaves_with_an_error_pending", CHIME_ON_ERROR="return")
        self.assertEqual(code, 0, out)
        self.assertRegex(out, r"PE -1 says left: chime_finalize: chime_p in thread 0 of block 0 of a kernel: there is no PE 99")
        self.assertNotIn("is gone", out)
        self.assertEqual(out.count("says left: \n"), 2, out)

    def test_a_pending_error_returns_to_a_program_whose_settings_say_so(self):
        # The settings had gone with the PE, and chime_finalize ended the process.
        code, out = job(2, "leaves_by_its_settings_with_an_error_pending")
        self.assertEqual(code, 0, out)
        self.assertRegex(out, r"PE -1 says left: chime_finalize: chime_p in thread 0 of block 0 of a kernel: there is no PE 99")
        self.assertEqual(out.count("says left: \n"), 1, out)

    def test_an_error_of_the_last_meeting_returns_to_a_program_whose_settings_say_so(self):
        code, out = job(2, "leaves_without_another_and_returns", CHIME_INIT_TIMEOUT="1", CHIME_ON_ERROR="exit")
        self.assertEqual(code, 5, out)
        self.assertRegex(out, r"PE -1 says left: chime_finalize: .*waited 1 s for all PEs")

    def test_an_error_of_the_last_meeting_ends_a_program_whose_settings_say_so(self):
        # The settings had gone with the PE, and chime_finalize returned, as the environment said.
        code, out = job(2, "leaves_without_another_and_exits", CHIME_INIT_TIMEOUT="1", CHIME_ON_ERROR="return")
        self.assertEqual(code, 1, out)
        self.assertRegex(out, r"PE -?[01]: chime_finalize: .*waited 1 s for all PEs")
        self.assertNotIn("says left", out)

    def test_a_pending_error_is_reported_when_the_program_just_exits(self):
        # The program ended with 0, and no error was printed.
        code, out = run(PE, "exits_with_an_error_pending")
        self.assertEqual(code, 1, out)
        self.assertIn("there is no PE 99", out)

    def test_a_pending_error_is_reported_before_a_trap(self):
        # The trap named a function that had the cause, which could no longer be called.
        code, out = run(PE, "exits_with_an_error_pending", CHIME_ON_ERROR="trap")
        self.assertEqual(code, -signal.SIGABRT, out)
        self.assertRegex(out, r"PE 0: chime_p in thread 0 of block 0 of a kernel: there is no PE 99(.|\n)* trap: ")

    def test_a_running_kernel_is_waited_for(self):
        code, out = job(2, "leaves_while_a_kernel_ends")
        self.assertEqual(code, 0, out)
        self.assertEqual(out.count("says left, kernel ended: yes"), 2, out)

    def test_a_kernel_that_waits_when_its_pe_leaves_is_ended_and_named(self):
        # Its memory was unmapped under it.
        code, out = run(PE, "leaves_while_a_kernel_waits", CHIME_TIMEOUT="0.5", CHIME_ON_ERROR="return")
        self.assertEqual(code, 0, out)
        self.assertRegex(out, r"says left: chime_finalize: .*a kernel of PE 0 is still running")
        self.assertIn("kernel ended: yes", out)

    def test_a_kernel_that_does_not_end_keeps_its_memory(self):
        code, out = run(PE, "leaves_while_a_kernel_writes", CHIME_TIMEOUT="0.5", CHIME_ON_ERROR="return")
        self.assertEqual(code, 0, out)
        self.assertRegex(out, r"says left: chime_finalize: .*a kernel of PE 0 is still running")
        self.assertIn("kernel ended: yes", out)

    def test_a_kernel_that_is_still_running_ends_the_job_by_default(self):
        code, out = job(2, "leaves_while_a_kernel_writes", CHIME_TIMEOUT="0.5")
        self.assertEqual(code, 1, out)
        self.assertRegex(out, r"PE [01]: chime_finalize: .*a kernel of PE [01] is still running")

    def test_what_is_not_zero_stays_so(self):
        # chime_global_exit(256) ended a failing job with 0.
        for act, wanted in [("exits_with_256", 1), ("exits_with_minus_512", 1), ("exits_with_300", 44)]:
            code, out = job(2, act)
            self.assertEqual(code, wanted, out)
            self.assertRegex(out, r"PE 1 end(s|ed) the job( with code \d+)?: it called chime_global_exit\(")

    def test_the_exit_code_is_that_of_the_pe_that_failed(self):
        # Seen: 1, from the PE whose barrier broke, because it had ended first.
        code, out = job(2, "exits_with_3_and_stays_a_while")
        self.assertEqual(code, 3, out)

    def test_the_exit_code_is_that_of_a_killed_pe(self):
        # Seen: 1, from the PE that gave up: its abort was handled before the ended processes.
        code, out = job(2, "exits_when_its_local_peer_is_killed", CHIME_ON_ERROR="return")
        self.assertEqual(code, 128 + signal.SIGKILL, out)


class Joining(unittest.TestCase):
    def test_a_failed_init_can_be_repeated(self):
        # "PE 0 is in the job already": its first connection was kept until the second one was open.
        code, out = job(2, "joins_again", CHIME_INIT_TIMEOUT="1", CHIME_LOG="off")
        self.assertEqual(code, 0, out)
        self.assertNotIn("is in the job already", out)
        self.assertEqual(out.count("says joined"), 2, out)
        self.assertRegex(out, r"\[1\] .*attempt 1: .*PE 0 could not set up: .*PE 1 has not joined the job")

    def test_a_launcher_that_is_late_delays_its_pes_and_fails_none(self):
        # "cannot reach chime-run ...: it did not answer in time": PEs waited 3 s, once.
        code, out = job(2, "joins_while_its_launcher_stands_still")
        self.assertEqual(code, 0, out)
        self.assertRegex(out, r"says waited ([3-9]|\d\d) s")
        self.assertEqual(out.count("says joined"), 2, out)


if __name__ == "__main__":
    unittest.main(verbosity=2)
