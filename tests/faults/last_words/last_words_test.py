"""The messages of PEs that fail: last_words_test.py <chime-run> <last_words> [unittest arguments].

The first lines of each test say what users saw before."""
import os
import re
import signal
import resource
import subprocess
import sys
import tempfile
import time
import unittest

CHIME_RUN, PE = sys.argv.pop(1), sys.argv.pop(1)
PATIENCE_S = 110
SANITIZED = "CHIME_TEST_SANITIZED" in os.environ


def run(*command, **variables):
    done = subprocess.run(command, env=dict(os.environ, **variables), stdin=subprocess.DEVNULL, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=PATIENCE_S)
    return done.returncode, done.stdout


def of_one_pe(out, pe):
    return "".join(line + "\n" for line in out.splitlines() if line.startswith(f"[{pe}] "))


class Faults(unittest.TestCase):
    @unittest.skipIf(SANITIZED, "sanitizers have handlers of their own")
    def test_a_fault_in_a_kernel_names_pe_thread_and_address(self):
        # Only "was killed by signal 11" was printed.
        code, out = run(CHIME_RUN, "-n", "2", "--timeout", "100", PE, "faults_in_a_kernel")
        self.assertEqual(code, 128 + signal.SIGSEGV, out)
        self.assertRegex(out, r"\[1\] chime: PE 1: simt: SIGSEGV in thread \(3,0,0\) of block \(0,0,0\) of kernel "
                              r"last_words\+0x[0-9a-f]+: it (writes|touches) 0x10, where nothing is mapped")


class TimeLimit(unittest.TestCase):
    # The report of each PE. Kernels have the names of their addresses.
    PE = r"chime: PE {}: when it was asked, {}; {}\n"
    KERNEL = r"\[{}\]   kernel last_words\+0x[0-9a-f]+ \({}\) ran for [0-9.]+ s, {} ended:\n"
    THREAD = r"thread \(\d,0,0\) of block \(\d,0,0\)"
    WORDS = [
        PE.format(0, "a host thread was in chime_barrier_all", "no kernel ran"),
        PE.format(1, "a host thread was in exec::device_synchronize", "1 kernel ran")
        + KERNEL.format(1, "2 blocks of 64 threads", "1 block had")
        + r"\[1\]     1 thread computes or polls: thread \(0,0,0\) of block \(0,0,0\), which has the turn\n"
          r"\[1\]     63 threads wait at sync_block: thread \(1,0,0\) of block \(0,0,0\), for one\n",
        PE.format(2, "a host thread was in chime_finalize", "1 kernel ran")
        + KERNEL.format(2, "1 block of 32 threads", "no block had")
        + r"\[2\]     5 threads wait at sync_warp: thread \(0,0,0\) of block \(0,0,0\), for one\n"
          r"\[2\]     1 thread computes or polls: thread \(5,0,0\) of block \(0,0,0\), which has the turn\n"
          r"\[2\]     26 threads have not begun: thread \(6,0,0\) of block \(0,0,0\), for one\n",
        PE.format(3, "a host thread was in chime_signal_wait_until", "1 kernel ran")
        + KERNEL.format(3, "1 block of 2 threads", "no block had")
        + rf"\[3\]     1 thread is in chime_signal_wait_until: thread \(0,0,0\) of block \(0,0,0\), at "
          rf"allocation #1 of 512 bytes \(at heap offset \d+\), offset 0 \(awaits >= 4, and it is 0\)\n"
          rf"\[3\]     1 thread is in chime_wait_until: thread \(1,0,0\) of block \(0,0,0\), at "
          rf"allocation #1 of 512 bytes \(at heap offset \d+\), offset 8 \(awaits == -1, and it is -3\)\n",
        PE.format(4, "a host thread was in exec::stream_synchronize", "1 kernel ran")
        + KERNEL.format(4, "3 blocks of 8 threads", "no block had")
        + rf"(\[4\]     16 threads wait at sync_grid: {THREAD}, for one\n"
          rf"|\[4\]     8 threads compute or poll: {THREAD}, for one, which has the turn\n){{2}}",
        PE.format(5, "no host thread was in a call of Chime",
                  "no kernel ran, and 1 piece of work on its streams had not ended"),
    ]

    def test_each_pe_says_what_it_is_doing(self):
        # No PE reported anything. (The limit is the time that a slow machine may need to start: it grows if it was too short.)
        for limit in 2, 10, 40:
            code, out = run(CHIME_RUN, "-n", "7", "--timeout", str(limit), PE, "hangs")
            self.assertEqual(code, 124, out)
            missing = [words for pe, words in enumerate(self.WORDS) if not re.search(words, of_one_pe(out, pe))]
            if not missing:
                break
        self.assertEqual(missing, [], out)
        self.assertIn("[5] my own handler", out)
        # PE 6 is stopped, and its report is not awaited. It may still print one when it is continued to be ended.


class Signals(unittest.TestCase):
    # Seen before: no report when a hanging job was interrupted, and SIGUSR1 ended the job.
    REPORTS = [r"\[0\] chime: PE 0: when it was asked, a host thread was in chime_barrier_all; no kernel ran",
               r"\[1\] chime: PE 1: when it was asked, a host thread was in exec::device_synchronize; 1 kernel ran"]

    def start_job(self):
        self.out = tempfile.TemporaryFile()
        self.addCleanup(self.out.close)
        job = subprocess.Popen([CHIME_RUN, "-n", "2", "--timeout", "100", PE, "hangs"], stdin=subprocess.DEVNULL, text=True,
                               stdout=self.out, stderr=subprocess.STDOUT,
                               preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CORE, (0, 0)))
        self.addCleanup(lambda: (job.kill(), job.wait()))
        self.wait_until(job, lambda: all(f"[{pe}] answers from now on" in self.said() for pe in range(2)))
        return job

    def wait_until(self, job, holds):
        end = time.monotonic() + PATIENCE_S / 2
        while not holds():
            self.assertIsNone(job.poll(), "the job ended\n" + self.said())
            self.assertLess(time.monotonic(), end, self.said())
            time.sleep(0.05)

    def said(self):
        # The job writes where this file's offset is: it must not move.
        return os.pread(self.out.fileno(), os.fstat(self.out.fileno()).st_size, 0).decode()

    def times_reported(self):
        said = self.said()
        return min(len(re.findall(words, said)) for words in self.REPORTS)

    def has_answered(self, asks):
        said = self.said()
        return all(len(re.findall(rf"chime: PE {pe}: when it was asked.*\n", said)) == asks for pe in range(2))

    def ask_until_all_hang(self, job):
        """Returns the number of reports from both PEs, which have answered all asks. Asks until both hang where they should."""
        for asks in range(1, 100):
            job.send_signal(signal.SIGUSR1)
            self.wait_until(job, lambda: self.has_answered(asks))
            if self.times_reported() > 0:
                break
            time.sleep(0.1)
        return self.times_reported()

    def test_sigusr1_lets_each_pe_say_what_it_is_doing_and_the_job_go_on(self):
        job = self.start_job()
        self.assertGreater(self.ask_until_all_hang(job), 0, self.said())
        self.assertIsNone(job.poll(), self.said())
        self.assertIn("chime-run: SIGUSR1 came: asking the PEs what they are doing", self.said())

    def test_a_signal_that_ends_the_job_lets_each_pe_say_what_it_is_doing(self):
        for number in signal.SIGINT, signal.SIGTERM, signal.SIGQUIT:
            job = self.start_job()
            before = self.ask_until_all_hang(job)
            self.assertGreater(before, 0, self.said())
            job.send_signal(number)
            self.assertEqual(job.wait(PATIENCE_S), 128 + number, self.said())
            self.assertEqual(self.times_reported(), before + 1, self.said())
            self.assertIn(f"chime-run: {number.name} came: asking the PEs what they are doing, then ending the job", self.said())

    def test_a_second_signal_does_not_wait_for_answers(self):
        # PE 6 is stopped and cannot answer; one signal waits 2 s for its answer. (A busy machine gets several attempts.)
        took = []
        while len(took) < 5 and min(took, default=2) >= 2:
            job = subprocess.Popen([CHIME_RUN, "-n", "7", "--timeout", "100", PE, "hangs"], stdin=subprocess.DEVNULL,
                                   text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            time.sleep(2)
            begin = time.monotonic()
            job.send_signal(signal.SIGINT)
            time.sleep(0.2)
            job.send_signal(signal.SIGTERM)
            out, _ = job.communicate(timeout=PATIENCE_S)
            took.append(time.monotonic() - begin)
            self.assertEqual(job.returncode, 128 + signal.SIGINT, out)
        self.assertLess(min(took), 2)


class FailedLaunches(unittest.TestCase):
    def test_a_failed_launch_without_a_check_is_reported_once(self):
        # Seen before: no report unless the program queried the error.
        code, out = run(PE, "launches_what_cannot_run", CHIME_SIMT_RESIDENT="100")
        self.assertEqual(code, 0, out)
        failed = "chime: PE 0: a kernel launch failed, and the program did not look at what it returned: "
        self.assertEqual(out.splitlines(), [
            "-- not told yet",
            failed + "a block of 2048 x 1 x 1 threads: 1 to 1024 are possible",
            "-- told by device_synchronize",
            "-- told once",
            "-- asked for by last_error",
            "-- looked at",
            failed + "1073741824 bytes of dynamic shared memory: at most 232448 are possible",
            "-- told by chime_barrier_all",
            failed + "a cooperative grid of 1048576 blocks: 100 can be resident (CHIME_SIMT_RESIDENT)",
            "-- told by chime_finalize",
        ])


if __name__ == "__main__":
    unittest.main(verbosity=2)
