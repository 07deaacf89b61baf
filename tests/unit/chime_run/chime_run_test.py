"""chime-run seen from outside: chime_run_test.py <chime-run> [unittest arguments]."""
import ctypes.util
import os
import pty
import signal
import subprocess
import sys
import tempfile
import time
import tty
import unittest
import uuid

CHIME_RUN = sys.argv.pop(1)
PATIENCE_S = 60  # for actions that should take milliseconds, on a busy machine


def processes_with(mark):
    """Ids of living processes that inherited CHIME_TEST_MARK=<mark>."""
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/environ", "rb") as environment:
                if mark.encode() not in environment.read():
                    continue
            with open(f"/proc/{name}/stat") as stat:
                if stat.read().rpartition(")")[2].split()[0] not in "ZX":
                    found.append(int(name))
        except (FileNotFoundError, ProcessLookupError, PermissionError):
            pass
    return found


def wait_until(condition):
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.01)
    return False


class ChimeRun(unittest.TestCase):
    def setUp(self):
        self.mark = uuid.uuid4().hex
        self.environment = dict(os.environ, CHIME_TEST_MARK=self.mark)
        self.shared_memory = self.ours_in_shared_memory()

    def tearDown(self):
        left = processes_with(self.mark)
        for pid in left:  # they would disturb the tests that follow
            os.kill(pid, signal.SIGKILL)
        self.assertEqual(left, [], "processes outlive the job")
        self.assertEqual(self.ours_in_shared_memory(), self.shared_memory)

    @staticmethod
    def ours_in_shared_memory():
        return [name for name in os.listdir("/dev/shm") if "chime" in name]

    def start(self, *arguments, **options):
        options.setdefault("stdin", subprocess.DEVNULL)
        return subprocess.Popen([CHIME_RUN, *arguments], env=self.environment, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)

    def run_job(self, *arguments, input=None, **options):
        job = self.start(*arguments, stdin=subprocess.PIPE if input else subprocess.DEVNULL, **options)
        out, err = job.communicate(input, timeout=PATIENCE_S)
        return job.returncode, out, err

    def start_and_wait_for(self, line, *arguments):
        """A job of whose output `line` has been read."""
        job = self.start(*arguments)
        self.addCleanup(job.stdout.close)
        self.addCleanup(job.stderr.close)
        while True:
            got = job.stdout.readline()
            self.assertTrue(got, "the job ended before it said " + line)
            if got.strip() == line:
                return job

    # Output and input

    def test_what_all_pes_say_is_shown_once(self):
        # Seen before: every PE reported a bad variable, and chime-run repeated a PE's last message.
        script = 'echo "chime: PE $CHIME_RUN_PE: the same" >&2; echo "chime: both" >&2; echo mine >&2; ' \
                 'echo "chime: PE $CHIME_RUN_PE: I am $CHIME_RUN_PE" >&2'
        code, _, err = self.run_job("-n", "3", "sh", "-c", script)
        self.assertEqual(code, 0, err)
        self.assertEqual([err.count(words) for words in ("the same\n", "both", "mine", "I am")], [1, 1, 3, 3], err)
        self.assertIn("chime-run: left out 4 lines in which other PEs said the same", err)
        for option in "--keep-going", "--no-prefix":
            _, _, err = self.run_job("-n", "3", option, "sh", "-c", script)
            self.assertEqual(err.count("the same\n"), 3, err)
            self.assertNotIn("left out", err)

    def test_what_one_pe_repeats_is_shown(self):
        _, _, err = self.run_job("-n", "2", "sh", "-c", 'for i in 1 2 3; do echo "chime: again" >&2; done')
        self.assertEqual(err.count("again"), 3, err)

    def test_every_line_carries_its_pe(self):
        code, out, err = self.run_job("-n", "3", "sh", "-c", "echo one; echo two; echo bad >&2; printf end")
        self.assertEqual(code, 0)
        self.assertEqual(sorted(out.splitlines()),
                         [f"[{pe}] {word}" for pe in range(3) for word in ("end", "one", "two")])
        self.assertEqual(sorted(err.splitlines()), [f"[{pe}] bad" for pe in range(3)])

    def test_a_line_of_any_length_is_shown_whole_in_pieces(self):
        # Pieces of at most 64 KiB; the output after it starts a new line.
        script = 'import sys; line = " ".join(map(str, range(60000))); [print(line, file=f) or print("next", file=f) ' \
                 'for f in (sys.stdout, sys.stderr)]'
        code, *said = self.run_job("-n", "1", sys.executable, "-c", script)
        self.assertEqual(code, 0)
        for text in said:
            pieces = [line.removeprefix("[0] ") for line in text.splitlines()]
            self.assertEqual(pieces.pop(), "next")
            self.assertLessEqual(max(map(len, pieces)), 64 << 10)
            self.assertEqual("".join(pieces), " ".join(map(str, range(60000))))

    def test_lines_of_pes_are_never_mixed(self):
        loop = 'for i in 1 2 3 4 5 6 7 8 9; do printf aaaa; printf "bbbb\\n"; done'
        _, out, _ = self.run_job("-n", "4", "sh", "-c", loop)
        self.assertEqual({line[4:] for line in out.splitlines()}, {"aaaabbbb"})
        self.assertEqual(len(out.splitlines()), 36)

    def test_nothing_is_lost_of_much_output(self):
        code, out, _ = self.run_job("-n", "2", "sh", "-c", "seq 1 100000")
        self.assertEqual((code, len(out.splitlines())), (0, 200000))

    def test_no_prefix_leaves_output_alone(self):
        self.assertEqual(self.run_job("-n", "2", "--no-prefix", "echo", "x")[1], "x\nx\n")

    def test_pe_0_reads_standard_input_and_the_others_nothing(self):
        code, out, _ = self.run_job("-n", "3", "sh", "-c", "echo \"got: $(cat)\"", input="hello")
        self.assertEqual(code, 0)
        self.assertEqual(sorted(out.splitlines()), ["[0] got: hello", "[1] got: ", "[2] got: "])

    def test_a_reader_that_goes_away_ends_the_job(self):
        job = self.start("-n", "2", "yes")
        job.stdout.readline()
        job.stdout.close()
        self.assertEqual(job.wait(PATIENCE_S), 128 + signal.SIGPIPE)
        job.stderr.close()

    def test_a_reader_that_does_not_read_does_not_stop_the_clock(self):
        job = self.start("-n", "2", "--timeout", "0.5", "yes")
        self.assertEqual(job.wait(PATIENCE_S), 124)
        job.stdout.close()
        job.stderr.close()

    def test_output_that_cannot_be_written_ends_the_job_and_is_said(self):
        with open("/dev/full", "w") as full:
            for script in ("exec yes", "echo a line"):
                job = subprocess.Popen([CHIME_RUN, "-n", "1", "sh", "-c", script], env=self.environment, text=True,
                                       stdin=subprocess.DEVNULL, stdout=full, stderr=subprocess.PIPE)
                _, err = job.communicate(timeout=PATIENCE_S)
                self.assertEqual(job.returncode, 1, err)
                self.assertIn("cannot write the job's output: No space left on device", err)

    def test_signals_pass_when_no_process_reads_the_terminal(self):
        master, terminal = pty.openpty()
        tty.setraw(terminal)
        os.set_blocking(master, False)
        job = self.start("-n", "1", "sleep", "1000", stdin=terminal)
        typed = 0
        quiet_since = time.monotonic()
        while typed < 1 << 20 and time.monotonic() - quiet_since < 1:  # until no buffer takes more
            try:
                typed += os.write(master, b"x" * 4096)
                quiet_since = time.monotonic()
            except BlockingIOError:
                time.sleep(0.01)
        self.assertGreater(typed, 65536)  # more than the pipe to PE 0 holds
        job.send_signal(signal.SIGTERM)
        self.assertEqual(job.wait(PATIENCE_S), 128 + signal.SIGTERM)
        job.communicate()
        os.close(master)
        os.close(terminal)

    def test_few_descriptors_are_named_with_the_limit(self):
        job = subprocess.run(["sh", "-c", f"ulimit -n 40; exec {CHIME_RUN} -n 30 true"], env=self.environment,
                             text=True, stdin=subprocess.DEVNULL, capture_output=True, timeout=PATIENCE_S)
        self.assertEqual(job.returncode, 126)
        self.assertIn("ulimit -n", job.stderr)

    def test_arguments_of_the_program_are_its_own(self):
        self.assertEqual(self.run_job("-n", "1", "echo", "-n", "--help", "x")[1], "[0] --help x\n")
        self.assertEqual(self.run_job("-n", "1", "--", "echo", "y")[1], "[0] y\n")

    # Exit codes

    def test_the_exit_code_is_that_of_the_first_failure(self):
        script = 'case $CHIME_RUN_PE in 1) exit 7;; 2) sleep 1; exit 8;; *) sleep 2;; esac'
        self.assertEqual(self.run_job("-n", "3", "--keep-going", "sh", "-c", script)[0], 7)

    def test_a_killed_pe_gives_128_and_the_signal_and_is_named(self):
        code, _, err = self.run_job("-n", "2", "sh", "-c", "[ $CHIME_RUN_PE = 1 ] && kill -SEGV $$; sleep 60")
        self.assertEqual(code, 128 + signal.SIGSEGV)
        self.assertRegex(err, r"PE 1 \(process \d+\) was killed by signal 11 \(Segmentation fault\)")

    def test_a_killed_pe_comes_before_those_that_end_because_of_it(self):
        # chime-run is stopped until both have ended, and so sees both at once.
        script = """if [ $CHIME_RUN_PE = 1 ]; then echo $$ >pid; until [ -e stopped ]; do sleep 0.01; done; kill -KILL $$; fi
                    until [ -s pid ]; do sleep 0.01; done
                    kill -STOP $PPID; touch stopped
                    until grep -q '^State:.Z' /proc/$(cat pid)/status; do sleep 0.01; done
                    (sleep 0.3; kill -CONT $PPID) & exit 1"""
        with tempfile.TemporaryDirectory() as folder:
            code, _, err = self.run_job("-n", "2", "sh", "-c", script, cwd=folder)
        self.assertEqual(code, 128 + signal.SIGKILL, err)
        self.assertLess(err.find("PE 1"), err.find("PE 0") if "PE 0" in err else len(err), err)

    def test_a_killed_pe_comes_first_also_where_another_ended_before_it(self):
        # As where a killed PE has closed its connections and its parent does not know yet. (A busy machine gets several attempts: each must be
        # quick.)
        program = 'if [ "$CHIME_RUN_PE" = 0 ]; then exit 3; fi; sleep 0.02; kill -KILL $$'
        for _ in range(20):
            code, _, err = self.run_job("-n", "2", "--keep-going", "sh", "-c", program)
            if code == 128 + 9:
                break
        self.assertEqual(code, 128 + 9, err)
        self.assertLess(err.index("PE 1 (process"), err.index("PE 0 (process"))

    def test_a_missing_program_is_127_and_is_named_once(self):
        code, _, err = self.run_job("-n", "3", "no-such-program")
        self.assertEqual((code, err),
                         (127, "chime-run: cannot run 'no-such-program': No such file or directory\n"))

    def test_a_program_that_may_not_be_run_is_126(self):
        code, _, err = self.run_job("-n", "2", "/etc/passwd")
        self.assertEqual(code, 126)
        self.assertIn("/etc/passwd", err)

    def test_wrong_usage_is_2_and_says_what_is_wrong(self):
        for arguments, word in [(("-n", "0", "true"), "-n"), (("-n", "two", "true"), "two"), (("true",), "-n"),
                                (("-n", "2", "--timeout", "nan", "true"), "from more than 0 to 1e9"),
                                (("-n", "2", "--timeout", "0", "true"), "from more than 0 to 1e9"),
                                (("-n", "2", "--timeout", "1e10", "true"), "from more than 0 to 1e9"),
                                (("-n", "2", "--grace", "inf", "true"), "from 0 to 1e9"),
                                (("-n", "-3", "true"), "-n"), (("-n", "2"), "which program"),
                                (("--nonsense", "-n", "2", "true"), "--nonsense"), (("-y", "true"), "no such option: -y"),
                                (("--hostfile", "f", "-n", "2", "true"), "hosts are named by --hosts a,b[:slots]"),
                                (("--hosts", "a:0", "-n", "2", "true"), "'0' is no number of slots of a"),
                                (("--hosts", "a,fd77::1", "-n", "2", "true"), "an IPv6 address stands in brackets"),
                                (("--hosts", "a,,b", "-n", "2", "true"), "names no host"),
                                (("--hosts", "a,-b", "-n", "2", "true"), "'-b' names no host"),
                                (("--hosts", "a,b,a", "-n", "2", "true"), "a twice"),
                                (("--hosts", "a:1,b:2", "-n", "4", "true"), "the hosts have 3 slots"),
                                (("-x", "CHIME_NOT_SET", "-n", "2", "true"), "CHIME_NOT_SET: it is not set here")]:
            code, _, err = self.run_job(*arguments)
            self.assertEqual(code, 2, arguments)
            self.assertIn(word, err, arguments)

    def test_the_number_of_pes_is_written_in_every_usual_way(self):
        # Seen before: -np 2 was -n with the value "p".
        for ways in (("-n", "2"), ("-n2",), ("--np", "2"), ("--np=2",), ("-np", "2"), ("-np=2",), ("--no-prefix", "-np", "2"),
                     ("--timeout", "50", "-np", "2"), ("--timeout=50", "-np", "2"), ("-np", "2", "--grace", "1")):
            code, out, err = self.run_job(*ways, "echo", "-np", "x")
            self.assertEqual((code, out.count("-np x\n")), (0, 2), (ways, err))
        self.assertEqual(self.run_job("-np", "1", "--", "echo", "-np", "3")[1], "[0] -np 3\n")
        for arguments, word in [(("-np", "two", "true"), "two"), (("-np", "0", "true"), "--np"), (("-np",), "--np"),
                                (("echo", "-np", "2"), "how many PEs"), (("-np", "2"), "which program"),
                                (("-np", "2", "-n", "3", "true"), "--np")]:
            code, _, err = self.run_job(*arguments)
            self.assertEqual(code, 2, (arguments, err))
            self.assertIn(word, err, arguments)

    # How a job ends

    def test_one_failure_ends_all(self):
        begin = time.monotonic()
        code, _, err = self.run_job("-n", "4", "sh", "-c", "[ $CHIME_RUN_PE = 2 ] && exit 5; exec sleep 60")
        self.assertEqual(code, 5)
        self.assertIn("ending the others", err)
        self.assertLess(time.monotonic() - begin, 10)

    def test_keep_going_lets_the_others_finish(self):
        script = '[ $CHIME_RUN_PE = 0 ] && exit 5; sleep 0.5; echo done'
        code, out, _ = self.run_job("-n", "3", "--keep-going", "sh", "-c", script)
        self.assertEqual((code, sorted(out.splitlines())), (5, ["[1] done", "[2] done"]))

    def test_pes_are_asked_before_they_are_killed(self):
        script = """[ $CHIME_RUN_PE = 0 ] && { sleep 0.5; exit 3; }
                    trap 'echo asked; exit 0' TERM; while :; do sleep 0.05; done"""
        code, out, _ = self.run_job("-n", "2", "sh", "-c", script)
        self.assertEqual((code, out), (3, "[1] asked\n"))

    def test_a_pe_that_does_not_listen_is_killed_after_the_grace(self):
        script = "trap '' TERM; [ $CHIME_RUN_PE = 0 ] && { sleep 0.3; exit 3; }; while :; do sleep 0.05; done"
        begin = time.monotonic()
        code = self.run_job("-n", "2", "--grace", "0.5", "sh", "-c", script)[0]
        self.assertEqual(code, 3)
        self.assertGreater(time.monotonic() - begin, 0.7)

    def test_a_stopped_pe_ends_too(self):
        script = '[ $CHIME_RUN_PE = 0 ] && { sleep 0.3; exit 3; }; kill -STOP $$'
        self.assertEqual(self.run_job("-n", "2", "sh", "-c", script)[0], 3)

    def test_the_time_limit_ends_the_job_with_124(self):
        code, _, err = self.run_job("-n", "2", "--timeout", "0.4", "sleep", "60")
        self.assertEqual(code, 124)
        self.assertIn("time limit of 0.4 s", err)

    def test_signals_reach_the_pes(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            name = number.name[3:]
            script = f"trap 'echo heard {name}; exit 0' {name}; echo ready; while :; do sleep 0.02; done"
            job = self.start_and_wait_for("[0] ready", "-n", "1", "sh", "-c", script)
            job.send_signal(number)
            self.assertEqual(job.wait(PATIENCE_S), 128 + number)
            self.assertIn(f"heard {name}", job.stdout.read())

    def test_user_signals_pass_and_the_job_goes_on(self):
        script = "trap 'echo heard; exit 0' USR1; echo ready; while :; do sleep 0.02; done"
        job = self.start_and_wait_for("[0] ready", "-n", "1", "sh", "-c", script)
        job.send_signal(signal.SIGUSR1)
        self.assertEqual(job.wait(PATIENCE_S), 0)

    def test_user_signals_reach_only_pes_that_handle_them(self):
        # Seen before: SIGUSR1 ended a job without handlers; now it makes its PEs report.
        script = "[ $CHIME_RUN_PE = 1 ] && trap 'echo heard' USR1; echo ready; while [ ! -e end ]; do sleep 0.02; done; echo done"
        with tempfile.TemporaryDirectory() as folder:
            job = self.start("-n", "2", "sh", "-c", script, cwd=folder)
            ready = {job.stdout.readline() for _ in range(2)}
            self.assertEqual(ready, {"[0] ready\n", "[1] ready\n"})
            job.send_signal(signal.SIGUSR1)
            self.assertEqual(job.stdout.readline(), "[1] heard\n")
            with open(os.path.join(folder, "end"), "w"):
                pass
            out, _ = job.communicate(timeout=PATIENCE_S)
        self.assertEqual((job.returncode, sorted(out.splitlines())), (0, ["[0] done", "[1] done"]))

    def test_a_pe_that_is_forking_does_not_listen(self):
        # fork() blocks all signals for a moment; SIGUSR1 killed a shell that was just forking.
        script = ("import os, signal, time; signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals());"
                  "print('ready', flush=True)\n"
                  "while not os.path.exists('asked'): time.sleep(0.01)\n"
                  "signal.pthread_sigmask(signal.SIG_UNBLOCK, signal.valid_signals()); print('done')")
        with tempfile.TemporaryDirectory() as folder:
            job = self.start("-n", "1", sys.executable, "-c", script, cwd=folder)
            self.assertEqual(job.stdout.readline(), "[0] ready\n")
            job.send_signal(signal.SIGUSR1)
            time.sleep(0.3)
            with open(os.path.join(folder, "asked"), "w"):
                pass
            out, _ = job.communicate(timeout=PATIENCE_S)
        self.assertEqual((job.returncode, out), (0, "[0] done\n"))

    # Nothing outlives the job. Each PE has a child, and a grandchild in a separate session that ignores all signals that it can.

    FAMILY = """(trap '' TERM HUP INT; setsid sh -c "trap '' TERM HUP INT; while :; do sleep 1; done" & sleep 1000) &
                while [ $(grep -lz CHIME_TEST_MARK=$CHIME_TEST_MARK /proc/[0-9]*/environ 2>/dev/null | wc -l) -lt 8 ]
                do sleep 0.05; done; echo ready; """

    def start_families(self, then="sleep 1000", *options):
        return self.start_and_wait_for("[0] ready", "-n", "2", *options, "sh", "-c", self.FAMILY + then)

    def launcher_of(self, job):
        with open(f"/proc/{job.pid}/task/{job.pid}/children") as children:
            return int(children.read().split()[0])

    def test_families_end_with_a_job_that_succeeds(self):
        job = self.start_families("exit 0")
        self.assertEqual(job.wait(PATIENCE_S), 0)

    def test_families_end_when_a_signal_ends_chime_run(self):
        job = self.start_families()
        job.terminate()
        self.assertEqual(job.wait(PATIENCE_S), 143)

    def test_families_end_when_chime_run_is_killed(self):
        job = self.start_families()
        job.kill()
        job.wait()
        self.assertTrue(wait_until(lambda: not processes_with(self.mark)))

    def test_families_end_when_the_launcher_process_is_killed(self):
        job = self.start_families()
        os.kill(self.launcher_of(job), signal.SIGKILL)
        self.assertEqual(job.wait(PATIENCE_S), 137)
        self.assertIn("launcher process was killed", job.stderr.read())

    def test_pes_end_when_both_are_killed_at_once(self):
        job = self.start_and_wait_for("[0] ready", "-n", "2", "sh", "-c", "echo ready; exec sleep 1000")
        launcher = self.launcher_of(job)
        os.kill(job.pid, signal.SIGSTOP)
        os.kill(launcher, signal.SIGKILL)
        os.kill(job.pid, signal.SIGKILL)
        job.wait()
        self.assertTrue(wait_until(lambda: not processes_with(self.mark)))

    def test_the_family_of_a_killed_pe_ends(self):
        script = self.FAMILY + "[ $CHIME_RUN_PE = 1 ] && { sleep 0.2; kill -KILL $$; }; sleep 1000"
        job = self.start_and_wait_for("[0] ready", "-n", "2", "sh", "-c", script)
        self.assertEqual(job.wait(PATIENCE_S), 137)

    # The PEs' surroundings

    def test_another_launchers_variables_are_hidden(self):
        self.environment.update(PMIX_RANK="3", PMIX_NAMESPACE="other", CHIME_RUN_PE="9")
        _, out, _ = self.run_job("-n", "1", "sh", "-c", "echo \"${PMIX_RANK-none} ${PMIX_NAMESPACE-none} $CHIME_RUN_PE\"")
        self.assertEqual(out, "[0] none none 0\n")

    def test_variables_are_set_for_pes(self):
        self.environment.update(KEPT="kept", GIVEN="before")
        _, out, _ = self.run_job("-n", "1", "-x", "GIVEN=a=b c", "-x", "KEPT", "sh", "-c", 'echo "$GIVEN $KEPT"')
        self.assertEqual(out, "[0] a=b c kept\n")

    def test_an_agent_is_not_for_terminals(self):
        master, terminal = pty.openpty()
        job = self.start("--agent", stdin=terminal)
        _, err = job.communicate(timeout=PATIENCE_S)
        os.close(master)
        os.close(terminal)
        self.assertEqual(job.returncode, 2)
        self.assertIn("--agent is for chime-run --hosts", err)

    def bound(self, pes, kind, **variables):
        self.environment.update(variables)
        program = "import os; print(*sorted(os.sched_getaffinity(0)))"
        code, out, error = self.run_job("-n", str(pes), "--bind", kind, sys.executable, "-c", program)
        self.assertEqual(code, 0, error)
        return [line.split("] ")[1] for line in sorted(out.splitlines())]

    def need_hwloc_and_two_processors(self):
        if ctypes.util.find_library("hwloc") is None:
            self.skipTest("libhwloc is not installed (Debian: libhwloc15)")
        if not {0, 1} <= os.sched_getaffinity(0):
            self.skipTest("takes the processors 0 and 1")

    def test_bind_core_gives_each_pe_one_core(self):
        allowed = sorted(os.sched_getaffinity(0))
        for cpu, core in zip(allowed, self.bound(len(allowed), "core", HWLOC_SYNTHETIC=f"pack:1 core:{allowed[-1] + 1} pu:1")):
            self.assertEqual(core, str(cpu))

    def test_bind_core_gives_a_core_with_its_hardware_threads(self):
        self.need_hwloc_and_two_processors()
        self.assertEqual(self.bound(2, "core", HWLOC_SYNTHETIC="pack:1 core:1 pu:2"), ["0 1", "0 1"])

    def test_bind_numa_gives_each_pe_one_node_in_turn(self):
        self.need_hwloc_and_two_processors()
        self.assertEqual(self.bound(3, "numa", HWLOC_SYNTHETIC="pack:2 [numa] core:1 pu:1"), ["0", "1", "0"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
