"""chime-run --hosts seen from outside. Agents are started by remote_shell.py, as by ssh: they are no descendants of chime-run."""
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest

from hosts_of_a_test import HOSTS, PATIENCE_S, SHELL, LeavesNothing, places_of, processes, start_shells, wait_until, words_of

CHIME_RUN = os.environ["TESTED_CHIME_RUN"]
PE = os.environ["TESTED_PE"]
HAS_FABRIC = os.environ["TESTED_FABRIC"] == "1"
PYTHON = os.environ["TESTED_PYTHON"]  # empty: the package is not built
PYTHONS_PE = """
import chime, socket
with chime.init() as job:
    print(f"PE {job.my_pe} of {job.n_pes} on {socket.gethostname()}, {chime.node_my_pe()} of {chime.node_n_pes()} there")
"""


class OnHosts(LeavesNothing):
    def setUp(self):
        start_shells(["host0", "host1"])
        super().setUp()
        self.environment = dict(os.environ)

    def start(self, *arguments, agent=SHELL, hosts="host0,host1", **options):
        options.setdefault("stdin", subprocess.DEVNULL)
        job = subprocess.Popen([CHIME_RUN, "--agent-command", agent, "--hosts", hosts, *arguments], env=self.environment,
                               text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)
        self.addCleanup(job.stdout.close)
        self.addCleanup(job.stderr.close)
        return job

    def run_job(self, *arguments, input=None, **options):
        job = self.start(*arguments, stdin=subprocess.DEVNULL if input is None else subprocess.PIPE, **options)
        out, err = job.communicate(input, timeout=PATIENCE_S)
        return job.returncode, out, err

    def start_and_wait_for(self, lines, *arguments, **options):
        """A job of whose output so many lines have been read."""
        job = self.start(*arguments, **options)
        job.lines = [job.stdout.readline() for _ in range(lines)]
        self.assertTrue(all(job.lines), job.lines)
        return job

    # The PEs' hosts

    def places(self, n, hosts):
        code, out, err = self.run_job("-n", str(n), "sh", "-c", "hostname", hosts=hosts)
        self.assertEqual((code, err), (0, ""))
        return [line.split("] host")[1] for line in sorted(out.splitlines())]

    def test_pes_fill_the_hosts_in_order(self):
        start_shells(["host2"])
        super().setUp()
        self.assertEqual(self.places(5, "host0,host1,host2"), list("00112"))
        self.assertEqual(self.places(5, "host2:1,host0,host1"), list("20011"))
        self.assertEqual(self.places(3, "host1:2,host0:4"), list("110"))
        self.assertEqual(self.places(1, "host1,host0"), list("1"))

    def test_pes_meet_and_know_their_local_peers(self):
        with tempfile.TemporaryDirectory() as folder:
            code, out, err = self.run_job("-n", "4", PE, "meets", folder, hosts="host0:3,host1")
        self.assertEqual((code, err), (0, ""))
        self.assertEqual(places_of(out), ["0:0/3", "0:1/3", "0:2/3", "1:0/1"])
        if PYTHON:
            package = f"PYTHONPATH={os.environ['TESTED_PACKAGE']}"
            code, out, err = self.run_job("-n", "3", "-x", package, PYTHON, "-c", PYTHONS_PE, hosts="host0:2,host1")
            self.assertEqual((code, err), (0, ""))
            self.assertEqual(places_of(out), ["0:0/2", "0:1/2", "1:0/1"])

    def test_the_interface_is_the_one_that_is_asked_for(self):
        self.environment["CHIME_BOOTSTRAP_IF"] = "eth0"
        code, out, err = self.run_job("-n", "2", "sh", "-c", "echo $CHIME_RUN_ADDRESS")
        self.assertEqual((code, err), (0, ""))
        self.assertNotIn("127.0.0.1", out)
        self.assertIn("fd77::1]:" if os.environ.get("HOSTS_IPV") == "6" else "10.77.0.1:", out)
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(self.run_job("-n", "2", PE, "meets", folder)[0], 0)
        self.environment["CHIME_BOOTSTRAP_IF"] = "eth7"
        code, _, err = self.run_job("-n", "2", "true")
        self.assertEqual(code, 126)
        self.assertIn("CHIME_BOOTSTRAP_IF=eth7: no such interface is up with an address; there are: eth0, lo", err)

    # The PEs' surroundings

    def test_variables_come_along_and_no_others(self):
        self.environment.update(CHIME_LOG="info", HOME="/nowhere", PATH=os.environ["PATH"] + ":/added", GIVEN="here", OTHER="here")
        script = 'echo "$CHIME_LOG $HOME ${PATH##*:} $GIVEN $NEW ${OTHER-none} ${MARK_OF_THE_HOST-none}"'
        _, out, err = self.run_job("-n", "2", "-x", "GIVEN", "-x", "NEW=a b", "sh", "-c", script)
        self.assertEqual(sorted(out.splitlines()),
                         [f"[{pe}] info / /added here a b none host{pe}" for pe in range(2)], err)

    def test_pes_start_in_the_same_folder(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(self.run_job("-n", "2", "pwd", cwd=folder)[1].count(folder + "\n"), 2)

    def test_a_program_is_found_by_the_path_that_came_along(self):
        with tempfile.TemporaryDirectory() as folder:
            with open(f"{folder}/only_here", "w") as program:
                program.write("#!/bin/sh\necho found\n")
            os.chmod(f"{folder}/only_here", 0o755)
            self.environment["PATH"] += ":" + folder
            self.assertEqual(self.run_job("-n", "2", "only_here")[1].count("found"), 2)

    def test_pes_are_bound_on_each_host_anew(self):
        program = "import os; print(*sorted(os.sched_getaffinity(0)))"
        allowed = sorted(os.sched_getaffinity(0))
        synthetic = f"HWLOC_SYNTHETIC=pack:1 core:{allowed[-1] + 1} pu:1"
        _, out, err = self.run_job("-n", "2", "--bind", "core", "-x", synthetic, sys.executable, "-c", program)
        self.assertEqual([line[4:] for line in sorted(out.splitlines())], [str(allowed[0])] * 2, err)

    # Output and input

    def test_nothing_is_lost_of_much_output(self):
        code, out, err = self.run_job("-n", "4", "seq", "1", "50000")
        self.assertEqual((code, len(out.splitlines())), (0, 200000), err)
        self.assertEqual(len(set(out.splitlines())), 200000)

    def test_what_all_pes_say_is_shown_once(self):
        _, _, err = self.run_job("-n", "3", "sh", "-c", 'echo "chime: the same" >&2; echo mine >&2; printf end >&2')
        self.assertEqual([err.count(words) for words in ("the same\n", "mine\n", "] end\n", "left out 2 lines")], [1, 3, 3, 1], err)

    def test_no_prefix_leaves_output_alone(self):
        self.assertEqual(self.run_job("-n", "2", "--no-prefix", "printf", "x")[1], "xx")

    def test_pe_0_reads_standard_input_wherever_it_is(self):
        text = "".join(f"line {i}\n" for i in range(60000))  # more than all buffers of the path hold
        code, out, err = self.run_job("-n", "2", "sh", "-c", "sleep 0.3; cat | md5sum; echo end", hosts="host1,host0", input=text)
        self.assertEqual(code, 0, err)
        digest = subprocess.run(["md5sum"], input=text, capture_output=True, text=True).stdout.strip()
        empty = subprocess.run(["md5sum"], input="", capture_output=True, text=True).stdout.strip()
        self.assertEqual(sorted(out.splitlines()), sorted([f"[0] {digest}", f"[1] {empty}", "[0] end", "[1] end"]))

    def test_signals_pass_while_pe_0_does_not_read(self):
        job = self.start_and_wait_for(2, "-n", "2", "sh", "-c", "echo ready; exec sleep 1000", stdin=subprocess.PIPE)
        os.set_blocking(job.stdin.fileno(), False)
        quiet_since = time.monotonic()
        while time.monotonic() - quiet_since < 0.5:  # until no buffer takes more
            try:
                os.write(job.stdin.fileno(), b"x" * 4096)
                quiet_since = time.monotonic()
            except BlockingIOError:
                time.sleep(0.01)
        job.terminate()
        self.assertEqual(job.wait(PATIENCE_S), 128 + signal.SIGTERM)
        job.stdin.close()

    def test_a_reader_that_goes_away_ends_the_job(self):
        job = self.start_and_wait_for(1, "-n", "2", "yes")
        job.stdout.close()
        self.assertEqual(job.wait(PATIENCE_S), 128 + signal.SIGPIPE)

    def test_a_reader_that_does_not_read_does_not_stop_the_clock(self):
        self.assertEqual(self.start("-n", "2", "--timeout", "0.5", "yes").wait(PATIENCE_S), 124)

    # How a job ends

    def test_the_exit_code_is_that_of_the_first_failure_and_its_host_is_named(self):
        code, _, err = self.run_job("-n", "4", "sh", "-c", "[ $CHIME_RUN_PE = 2 ] && exit 5; exec sleep 60")
        self.assertEqual(code, 5)
        self.assertRegex(err, r"^chime-run: PE 2 \(process \d+ on host host1\) ended with exit code 5; ending the others\n$")

    def test_keep_going_lets_the_others_finish(self):
        script = "[ $CHIME_RUN_PE = 0 ] && exit 5; sleep 0.5; echo done"
        code, out, _ = self.run_job("-n", "3", "--keep-going", "sh", "-c", script)
        self.assertEqual((code, sorted(out.splitlines())), (5, ["[1] done", "[2] done"]))

    def test_a_killed_pe_comes_before_those_that_end_because_of_it(self):
        # PE 0 ends as soon as PE 1 is dead, and its agent reports first: the other agent is held.
        script = """if [ $CHIME_RUN_PE = 1 ]; then echo $$ >pid; kill -STOP $PPID; (sleep 0.5; kill -CONT $PPID) & kill -KILL $$; fi
                    until [ -s pid ] && grep -q '^State:.[ZX]' /proc/$(cat pid)/status; do sleep 0.01; done; exit 1"""
        with tempfile.TemporaryDirectory() as folder:
            code, _, err = self.run_job("-n", "2", "sh", "-c", script, cwd=folder)
        self.assertEqual(code, 128 + signal.SIGKILL, err)
        self.assertIn("PE 1", err.splitlines()[0])

    def test_pes_are_asked_before_they_are_killed(self):
        script = """[ $CHIME_RUN_PE = 0 ] && { while [ ! -e listens ]; do sleep 0.05; done; exit 3; }
                    trap 'echo asked; exit 0' TERM; : >listens; while :; do sleep 0.05; done"""
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(self.run_job("-n", "2", "--grace", "60", "sh", "-c", script, cwd=folder)[:2], (3, "[1] asked\n"))

    def test_a_pe_that_does_not_listen_is_killed_after_the_grace(self):
        script = "trap '' TERM; [ $CHIME_RUN_PE = 0 ] && { sleep 0.3; exit 3; }; while :; do sleep 0.05; done"
        begin = time.monotonic()
        self.assertEqual(self.run_job("-n", "2", "--grace", "0.5", "sh", "-c", script)[0], 3)
        self.assertGreater(time.monotonic() - begin, 0.7)

    def test_pes_say_what_they_do_before_a_limit_or_a_signal_ends_them(self):
        where_it_waits = "PE 0: when it was asked, no host thread was in a call of Chime"
        for limit in "1.5", "6", "24":  # on a busy machine they reach their waits later
            code, _, err = self.run_job("-n", "3", "--timeout", limit, PE, "waits")
            self.assertEqual(code, 124, err)
            if where_it_waits in err:
                break
        self.assertIn(where_it_waits, err)
        self.assertIn("a host thread was in chime_malloc", err)
        for number in signal.SIGINT, signal.SIGTERM:
            job = self.start_and_wait_for(3, "-n", "3", PE, "waits")
            job.send_signal(number)
            self.assertEqual(job.wait(PATIENCE_S), 128 + number)
            self.assertIn("when it was asked", job.stderr.read())

    def test_pes_say_what_they_do_when_they_are_asked_and_go_on(self):
        job = self.start_and_wait_for(3, "-n", "3", PE, "waits")
        job.send_signal(signal.SIGUSR1)
        while "PE 0: when it was asked" not in job.stderr.readline():
            pass
        self.assertIsNone(job.poll())
        job.terminate()
        self.assertEqual(job.wait(PATIENCE_S), 143)

    def test_user_signals_reach_pes_that_handle_them(self):
        script = "trap 'echo heard; exit 0' USR2; echo ready; while :; do sleep 0.02; done"
        job = self.start_and_wait_for(2, "-n", "2", "sh", "-c", script)
        job.send_signal(signal.SIGUSR2)
        self.assertEqual(job.wait(PATIENCE_S), 0)
        self.assertEqual(job.stdout.read().count("heard"), 2)

    # Nothing is left on any host (tearDown), whichever process is killed. Each PE has a child that ignores all signals that it can.

    FAMILY = "(trap '' TERM HUP INT; setsid sh -c \"trap '' TERM HUP INT; while :; do sleep 1; done\" & sleep 1000) & echo ready; "

    def start_families(self, then="sleep 1000", **options):
        return self.start_and_wait_for(4, "-n", "4", "sh", "-c", self.FAMILY + then, **options)

    def started(self, *words):
        """Processes of the job whose command line has all these words."""
        return sorted(pid for pid in processes() - self.before if all(word in words_of(pid, "cmdline") for word in words))

    def kill_and_end(self, pids, code, sentence=""):
        self.assertTrue(pids)
        for pid in pids:
            os.kill(pid, signal.SIGKILL)
        self.assertEqual(self.job.wait(PATIENCE_S), code)
        self.assertIn(sentence, self.job.stderr.read())

    def test_families_end_with_a_job_that_succeeds(self):
        self.assertEqual(self.start_families("exit 0").wait(PATIENCE_S), 0)

    def test_families_end_with_a_job_that_fails(self):
        script = self.FAMILY + "[ $CHIME_RUN_PE = 3 ] && exit 4; sleep 1000"
        self.assertEqual(self.run_job("-n", "4", "sh", "-c", script)[0], 4)

    def test_families_end_when_chime_run_is_killed(self):
        self.job = self.start_families()
        self.kill_and_end([self.job.pid], -signal.SIGKILL)

    def test_families_end_when_its_launcher_process_is_killed(self):
        self.job = self.start_families()
        launcher = [pid for pid in self.started(CHIME_RUN, "--hosts") if pid != self.job.pid]
        self.kill_and_end(launcher, 137, "launcher process was killed")

    def test_families_end_when_all_of_chime_run_is_killed_at_once(self):
        self.job = self.start_families()
        self.kill_and_end(self.started(CHIME_RUN, "--hosts"), -signal.SIGKILL)

    def test_families_end_when_a_remote_shell_is_killed(self):
        self.job = self.start_families()
        shell = self.started("host1", "--hosts") or self.started("host1")
        self.kill_and_end(shell[-1:], 137, "host host1: is lost, and its PEs with it")

    def agents(self):
        """[[guardian, launcher], ...] of each host: two processes of one command line."""
        found = [pid for pid in processes() - self.before if words_of(pid, "cmdline")[:2] == [CHIME_RUN, "--agent"]]
        self.assertEqual(len(found), 4)
        return sorted(found)

    def test_families_end_when_an_agent_is_killed(self):
        self.job = self.start_families()
        self.kill_and_end(self.agents()[-1:], 137)

    def test_families_end_when_the_first_process_of_an_agent_is_killed(self):
        self.job = self.start_families()
        self.kill_and_end(self.agents()[:1], 137)

    def test_an_agent_that_is_stopped_is_named_and_does_not_hold_up_the_end(self):
        job = self.start_and_wait_for(2, "-n", "2", "sh", "-c", "echo ready; exec sleep 1000")
        agent = next(pid for pid in reversed(self.agents()) if "MARK_OF_THE_HOST=host1" in words_of(pid, "environ"))
        os.kill(agent, signal.SIGSTOP)
        try:
            self.assertIn("host host1: its agent has not answered for 10 s: it is stopped", job.stderr.readline())
            os.kill(agent, signal.SIGCONT)
            self.assertIn("host host1: its agent answers again", job.stderr.readline())
            os.kill(agent, signal.SIGSTOP)
            begin = time.monotonic()
            job.send_signal(signal.SIGTERM)
            self.assertEqual(job.wait(PATIENCE_S), 128 + signal.SIGTERM)
            if os.getloadavg()[0] < os.cpu_count():
                self.assertLess(time.monotonic() - begin, 6)
            self.assertIn("host host1: its agent does not answer; it is left, with its PEs", job.stderr.read())
        finally:
            os.kill(agent, signal.SIGCONT)  # and finds its launcher gone

    def test_families_end_when_a_pe_is_killed(self):
        with tempfile.TemporaryDirectory() as folder:
            script = "[ $CHIME_RUN_PE = 3 ] && { until [ -e now ]; do sleep 0.05; done; kill -KILL $$; }; sleep 1000"
            self.job = self.start_families(script, cwd=folder)
            open(f"{folder}/now", "w").close()
            self.job.wait(PATIENCE_S)
        self.assertEqual(self.job.wait(PATIENCE_S), 137)
        self.assertRegex(self.job.stderr.read(), r"PE 3 \(process \d+ on host host1\) was killed by signal 9")

    # PEs that have heaps, sockets and, where there is libfabric, a proxy.
    def test_nothing_of_chime_is_left_whichever_process_is_killed(self):
        self.environment.update(CHIME_NIC="none", CHIME_FABRIC="tcp;ofi_rxm" if HAS_FABRIC else "off")
        what = ["sends", "100000000"] if HAS_FABRIC else ["waits"]

        def pes():
            return [pid for pid in self.started(PE, what[0]) if "CHIME_RUN_PE=2" in words_of(pid, "environ")]
        for who, victims in ("chime-run", lambda: [self.job.pid]), ("an agent", lambda: self.agents()[-1:]), ("a PE", pes):
            with self.subTest(who):
                self.job = self.start_and_wait_for(3, "-n", "3", PE, *what)
                for pid in victims():
                    os.kill(pid, signal.SIGKILL)
                self.assertNotEqual(self.job.wait(PATIENCE_S), 0)
                self.tearDown()

    def test_pes_of_other_hosts_hear_of_a_killed_pe(self):
        job = self.start_and_wait_for(3, "-n", "3", "--keep-going", PE, "waits")
        victim = [pid for pid in processes() - self.before if "CHIME_RUN_PE=2" in words_of(pid, "environ")]
        self.assertEqual(len(victim), 1)
        os.kill(victim[0], signal.SIGKILL)
        # PE 1, which waits for all PEs in chime_malloc, ends with an error that names PE 2; PE 0 sleeps.
        awaited = {r"\[1\] chime: .*PE 2", r"PE 2 \(process \d+ on host host1\) was killed"}
        while awaited:
            line = job.stderr.readline()
            self.assertTrue(line, awaited)
            awaited = {words for words in awaited if not re.search(words, line)}
        job.terminate()
        self.assertEqual(job.wait(PATIENCE_S), 137)

    # The secret

    def test_the_secret_is_in_no_arguments_and_in_the_environment_of_pes_alone(self):
        job = self.start_and_wait_for(2, "-n", "2", "sh", "-c", "echo $CHIME_RUN_TOKEN; exec sleep 1000")
        token = job.lines[0].split()[1]
        self.assertRegex(token, "^[0-9a-f]{64}$")
        holders = 0
        for pid in processes():
            self.assertNotIn(token, " ".join(words_of(pid, "cmdline")))
            environment = words_of(pid, "environ")
            holders += any(token in word for word in environment)
            if not any(word.startswith("CHIME_RUN_PE=") for word in environment):
                self.assertNotIn(token, " ".join(environment), words_of(pid, "cmdline"))
        self.assertEqual(holders, 2)
        job.terminate()
        job.wait(PATIENCE_S)

    # Hosts on which no agent can start

    def fails(self, code, *sentences, **options):
        begin = time.monotonic()
        got, _, err = self.run_job("-n", "2", "sleep", "1000", **options)
        self.assertEqual(got, code, err)
        for sentence in sentences:
            self.assertIn(sentence, err)
        self.assertLess(time.monotonic() - begin, PATIENCE_S / 2)

    def test_a_host_that_is_not_reached_is_named(self):
        self.fails(126, "chime-run: host host9: ", "remote_shell.py: host9: ", "before it had started a PE", hosts="host0,host9")

    def test_an_agent_that_is_not_there_is_named(self):
        with tempfile.TemporaryDirectory() as folder:
            os.symlink(CHIME_RUN, f"{folder}/chime-run")
            self.environment["PATH"] = folder + ":" + self.environment["PATH"]
            job = subprocess.run(["chime-run", "--agent-command", SHELL, "--hosts", "host0,host1", "-n", "2", "true"],
                                 env=self.environment, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        self.assertEqual(job.returncode, 127, job.stderr)
        self.assertRegex(job.stderr, r"chime-run: host host[01]: sh: 1: chime-run: not found")
        self.assertIn("is chime-run there?", job.stderr)

    def agent_that(self, does):
        """An agent command that runs `does` on host1, and an agent on the others."""
        script = tempfile.NamedTemporaryFile("w", suffix=".sh", delete=False)
        self.addCleanup(os.unlink, script.name)
        with script:
            script.write(f'[ $1 = host1 ] || exec {SHELL} "$@"\n{does}\n')
        return "sh " + script.name

    def test_an_agent_of_another_version_is_named(self):
        agent = self.agent_that("echo hello; echo chime-run agent of Chime 9.9.9, talk 7; exec cat >/dev/null")
        self.fails(126, "host host1: hello\n", "host host1: there it is the agent of Chime 9.9.9, talk 7, and here agent of Chime 0.",
                   agent=agent)

    def test_an_older_chime_run_is_named(self):
        agent = self.agent_that("echo 'chime-run: no such option: --agent' >&2; exit 2")
        self.fails(126, "host host1: chime-run: no such option: --agent", "exit code 2 before it had started a PE", agent=agent)

    def test_an_agent_that_is_silent_is_not_waited_for_longer_than_init(self):
        self.environment["CHIME_INIT_TIMEOUT"] = "1"
        self.fails(126, "host host1: its agent has not started the PEs within 1 s", agent=self.agent_that("exec sleep 1000"))

    def test_an_agent_that_makes_no_sense_is_named(self):
        agent = self.agent_that(f"{CHIME_RUN} --agent </dev/null | head -n 2; echo nonsense; exec cat >/dev/null")
        self.fails(126, "host host1: its agent does not make sense", agent=agent)

    def test_what_a_shell_says_by_itself_is_shown_and_does_no_harm(self):
        agent = self.agent_that(f'echo welcome; printf "no end of line"; exec {SHELL} "$@"')
        code, out, err = self.run_job("-n", "2", "echo", "ran", agent=agent)
        self.assertEqual((code, out.count("ran")), (0, 2), err)
        self.assertIn("chime-run: host host1: welcome\nchime-run: host host1: no end of line\n", err)

    def test_a_command_that_is_not_there_is_named(self):
        self.fails(127, "'no-such-shell': No such file or directory (--agent-command says what starts agents)", agent="no-such-shell")

    def test_a_program_that_is_not_there_is_127(self):
        code, _, err = self.run_job("-n", "2", "no-such-program")
        self.assertEqual(code, 127)
        self.assertRegex(err, r"host host[01]: cannot run 'no-such-program': No such file or directory")

    def test_a_folder_that_is_not_there_is_named(self):
        # host1 has a /mnt of its own.
        folder = tempfile.mkdtemp(dir="/mnt")
        self.addCleanup(os.rmdir, folder)
        subprocess.run([HOSTS, "on", "host1", "mount", "-t", "tmpfs", "none", "/mnt"], check=True)
        self.fails(126, f"host host1: the folder {folder}: No such file or directory", cwd=folder)


if __name__ == "__main__":
    unittest.main(verbosity=2)
