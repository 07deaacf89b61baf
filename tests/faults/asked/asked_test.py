"""PEs report their activity on SIGUSR1 under any launcher and to chime-info --proxy, and go on."""
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

CHIME_RUN, CHIME_INFO, PE = (os.environ[f"TESTED_{name}"] for name in ("CHIME_RUN", "CHIME_INFO", "PE"))
PATIENCE_S = 60
MPIRUN = ["mpirun", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "--timeout", "200", "-n", "2"]
JOB = [CHIME_RUN, "-n", "2", "--timeout", "200"]
BY_PROXY = {"CHIME_P2P": "off", "CHIME_NIC": "none", "CHIME_FABRIC": "tcp;ofi_rxm"}
IN_BARRIER = "when it was asked, a host thread was in chime_barrier_all; no kernel ran"
PROXY = r"\d+ requests under way \(at most \d+\), [1-9]\d* taken in \d+ turns, .*; longest gap between visits of a FIFO .*sleeps: "


class Job:
    def __init__(self, test, command, **variables):
        self.test = test
        self.out = tempfile.TemporaryFile()
        test.addCleanup(self.out.close)
        self.process = subprocess.Popen(command, env=dict(os.environ, **variables), stdin=subprocess.DEVNULL, text=True,
                                        stdout=self.out, stderr=subprocess.STDOUT)
        test.addCleanup(self.end)

    def end(self):
        if self.process.poll() is None:
            self.process.terminate()
        self.process.wait(PATIENCE_S)

    def said(self):
        # The job writes where this file's offset is: it must not move.
        return os.pread(self.out.fileno(), os.fstat(self.out.fileno()).st_size, 0).decode()

    def wait_for(self, pattern, times=1):
        end = time.monotonic() + PATIENCE_S
        while time.monotonic() < end:
            found = re.findall(pattern, self.said())
            if len(found) >= times:
                return found
            self.test.assertIsNone(self.process.poll(), "it ended\n" + self.said())
            time.sleep(0.05)
        self.test.fail(f"'{pattern}' was not printed {times} times\n{self.said()}")

    def ask_until(self, pattern, *processes):
        """Signals again until the processes report the place where they hang."""
        end = time.monotonic() + PATIENCE_S
        while not re.search(pattern, self.said()) and time.monotonic() < end:
            for process in processes:
                os.kill(process, signal.SIGUSR1)
            time.sleep(0.5)
            self.test.assertIsNone(self.process.poll(), "the question ended it\n" + self.said())
        if not re.search(pattern, self.said()):
            self.test.fail(f"'{pattern}' did not come\n{self.said()[-2000:]}")


def output_of(*command, **variables):
    done = subprocess.run(command, env=dict(os.environ, **variables), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, timeout=PATIENCE_S)
    return done.returncode, done.stdout


class BySignal(unittest.TestCase):
    def test_a_pe_without_a_launcher_answers(self):
        job = Job(self, [PE, "hangs"])
        job.wait_for("ready")
        job.ask_until(r"PE 0: when it was asked, .*; 1 kernel ran\n.*\n.* is in chime_signal_wait_until: ", job.process.pid)

    def test_one_pe_of_chime_run_answers_alone(self):
        job = Job(self, JOB + [PE, "hangs"])
        processes = dict(job.wait_for(r"\[(\d)\] ready (\d+)", 2))
        job.ask_until(re.escape("PE 0: " + IN_BARRIER), int(processes["0"]))
        self.assertNotIn("PE 1: when", job.said())

    def test_chime_run_queries_each_once(self):
        job = Job(self, JOB + [PE, "hangs"])
        job.wait_for("ready", 2)
        time.sleep(0.5)
        os.kill(job.process.pid, signal.SIGUSR1)
        job.wait_for("PE [01]: when it was asked", 2)
        time.sleep(1)  # nothing more may come
        self.assertEqual(len(job.wait_for("PE [01]: when it was asked")), 2, job.said())

    @unittest.skipUnless(shutil.which("mpirun"), "mpirun is not installed (Debian: openmpi-bin)")
    def test_mpirun_passes_it_on(self):
        job = Job(self, MPIRUN + [PE, "hangs"])
        job.wait_for("ready", 2)
        job.ask_until(re.escape("PE 0: " + IN_BARRIER), job.process.pid)
        job.wait_for("PE 1: when it was asked")

    def test_the_proxy_is_in_the_answer(self):
        job = Job(self, JOB + [PE, "hangs"], **BY_PROXY)
        processes = dict(job.wait_for(r"\[(\d)\] ready (\d+)", 2))
        job.ask_until(rf"PE 0: {IN_BARRIER}\n.*its proxy: {PROXY}", int(processes["0"]))

    def test_a_handler_of_the_program_stays(self):
        for mode in "own_handler", "later_handler":
            self.assertEqual(output_of(PE, mode), (0, "my own handler heard 1\nmy own handler heard 2\n"), mode)

    def test_it_is_the_systems_when_the_pe_has_left(self):
        code, out = output_of(PE, "leaves")
        self.assertEqual((code, out), (0, "the system's, Chime's, the system's, Chime's, the system's\n"))

    def test_a_child_of_fork_is_not_asked(self):
        code, out = output_of(PE, "forks")
        self.assertEqual((code, out), (0, f"the child was ended by {int(signal.SIGUSR1)}\n"))


class ByChimeInfo(unittest.TestCase):
    def test_it_reads_the_counts_of_running_proxies(self):
        job = Job(self, JOB + [PE, "hangs"], **BY_PROXY)
        processes = dict(job.wait_for(r"\[(\d)\] ready (\d+)", 2))
        code, out = output_of(CHIME_INFO, "--proxy")
        self.assertEqual(code, 0, out)
        for pe, process in processes.items():
            self.assertRegex(out, rf"(?m)^PE {pe} \(process {process}\): {PROXY}")
        code, out = output_of(CHIME_INFO, "--proxy", processes["1"])
        self.assertEqual(code, 0, out)
        self.assertRegex(out, rf"^PE 1 \(process {processes['1']}\): {PROXY}.*\n$")
        turns = [int(re.search(r"in (\d+) turns", output_of(CHIME_INFO, "--proxy", processes["1"])[1])[1]) for _ in range(2)]
        self.assertGreater(turns[1], turns[0], "it does not go on, or is not read anew")

    def test_it_says_where_there_is_none(self):
        mine = str(os.getpid())
        self.assertEqual(output_of(CHIME_INFO, "--proxy", mine),
                         (1, f"process {mine} has no proxy, or is not one that this user may look at\n"))


if __name__ == "__main__":
    unittest.main(verbosity=2)
