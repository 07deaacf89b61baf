"""Timelines of whole jobs: run_test.py <folder of programs> [unittest arguments]. The environment's TIMELINE_PROGRAMS says where they are."""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

from timeline_file import Timeline

PROGRAMS = dict(word.split("=", 1) for word in os.environ["TIMELINE_PROGRAMS"].split(";"))
ROUNDS = 10
P2P = {}
SOFTNIC = {"CHIME_P2P": "off", "CHIME_NIC": "soft"}
PROXY = {"CHIME_P2P": "off", "CHIME_NIC": "off", "CHIME_FABRIC": "tcp;ofi_rxm"}
PATIENCE_S = 400  # the softgpu compiles a kernel before its first run
# Of counted_pe.cpp: in each round of the kernel, and once on the host.
IN_ROUND = {
    ("signal", "chime_put_signal"): 1, ("signal", "chimex_signal_op"): 1, ("wait", "chime_signal_wait_until"): 2,
    ("wait", "chime_wait_until"): 1, ("put", "chime_put"): 1, ("put", "chime_p"): 1, ("get", "chime_get"): 1, ("get", "chime_g"): 1,
    ("atomic", "chime_atomic_add"): 1, ("atomic", "chime_atomic_fetch_inc"): 1, ("order", "chime_fence"): 1}
ON_HOST = {
    ("signal", "chime_put_signal"): 1, ("wait", "chime_signal_wait_until"): 1, ("call", "chime_put_signal"): 1,
    ("call", "chime_signal_wait_until"): 1, ("call", "chime_barrier_all"): 3, ("collective", "chime_barrier_all"): 3,
    ("call", "chime_reduce"): 1, ("collective", "chime_reduce"): 1, ("call", "chime_init"): 1, ("call", "chime_finalize"): 1,
    ("call", "chime_calloc"): 3}
# Bytes of an operation of the kernel; 0: it moves none.
BYTES = {"chime_put_signal": 32, "chime_put": 16, "chime_p": 4, "chime_get": 16, "chime_g": 8, "chime_atomic_add": 8, "chime_atomic_fetch_inc": 8,
         "chimex_signal_op": 0, "chime_fence": 0}
# Where a GPU has the heap, the host's own operations are calls alone.
ON_GPUS_HOST = {(category, name): count for (category, name), count in ON_HOST.items() if category == "call"}


class Runs(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="timeline."))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.file = self.folder / "run.json"

    def run_it(self, command, variables=P2P, code=0, folder=None):
        environment = {name: value for name, value in os.environ.items() if not name.startswith("CHIME_")}
        environment.update(variables, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
        run = subprocess.run([str(word) for word in command], env=environment, capture_output=True, text=True, timeout=PATIENCE_S,
                             cwd=folder or self.folder, check=False)
        if code is not None:
            self.assertEqual(run.returncode, code, run.stdout + run.stderr)
        return run

    def job(self, pes, *arguments, program="counted_pe", variables=P2P, code=0, options=()):
        return self.run_it([PROGRAMS["chime-run"], "-n", pes, "--trace", self.file, *options, PROGRAMS[program], *arguments], variables, code)

    def only_the_file(self):
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()), ["run.json"])
        return Timeline(self.file)

    def check_counts(self, timeline, pes, on_host=None):
        on_host = ON_HOST if on_host is None else on_host
        for pe in range(pes):
            for (category, name), in_round in IN_ROUND.items():
                wanted = in_round * ROUNDS + on_host.get((category, name), 0)
                self.assertEqual(timeline.count(category, name, pe), wanted, (category, name, pe))
            for key, wanted in on_host.items():
                if key not in IN_ROUND:
                    self.assertEqual(timeline.count(*key, pe), wanted, (key, pe))
            self.check_operations([s for s in timeline.spans if s["pid"] == pe and "launch" in s["args"] and s["name"] in BYTES], (pe + 1) % pes)
        self.assertEqual(timeline.facts["dropped"], 0)
        self.assertEqual(timeline.facts["missing_pes"], [])
        self.assertEqual(timeline.facts["killed_processes_of_pes"], [])

    # What the kernel did: how many bytes, and to whom.
    def check_operations(self, spans, right):
        for span in spans:
            name, to = span["name"], None if span["name"] == "chime_fence" else right
            self.assertEqual((span["args"].get("bytes", 0), span["args"].get("pe")), (BYTES[name], to), f"bytes and PE of {name}")
            self.assertNotIn("open", span["args"], f"{name} is over")

    # Each wait for a signal has its arrow, from the left neighbour's operation of the same round.
    def check_arrows(self, timeline, pes, on_host=1):
        self.assertEqual(len(timeline.arrows), pes * (3 * ROUNDS + on_host))
        for start, stop in timeline.arrows:
            self.assertEqual(start["args"]["pe"], stop["pid"])
            self.assertEqual(start["pid"], (stop["pid"] - 1) % pes)
            self.assertEqual(start["args"]["word"], stop["args"]["word"])
            if start["name"] != "chimex_signal_op":
                self.assertEqual(start["args"]["value"], stop["args"]["seen"], f"value of {start['name']}")

    # Each PE waits for its left neighbour alone.
    def check_senders(self, summary, on_host=1):
        waits = [line.split() for line in summary.splitlines() if " chime_signal_wait_until " in line]
        by_pe = {int(words[0]): (int(words[2]), int(words[3])) for words in waits if words[1] == "chime_signal_wait_until"}
        self.assertEqual(by_pe, {pe: ((pe - 1) % 3, 2 * ROUNDS + on_host) for pe in range(3)})

    def counted(self, variables, pes=3):
        self.job(pes, ROUNDS, variables=variables)
        timeline = self.only_the_file()
        self.check_counts(timeline, pes)
        self.check_arrows(timeline, pes)
        return timeline

    def test_counts_and_arrows_of_mapped_pes(self):
        timeline = self.counted(P2P)
        self.assertEqual(timeline.count("nic", "NIC RDMA_WRITE") + timeline.count("proxy", "proxy put"), 0)
        kernels = [s for s in timeline.spans if s["cat"] == "kernel"]
        self.assertEqual(len(kernels), 3)
        for kernel in kernels:
            self.assertEqual((kernel["args"]["blocks"], kernel["args"]["threads"]), (1, 1))
        # What the kernel did lies within its launch.
        for span in timeline.spans:
            if "launch" in span["args"] and span["cat"] != "kernel":
                kernel = next(k for k in kernels if k["pid"] == span["pid"] and k["args"]["launch"] == span["args"]["launch"])
                self.assertLessEqual(timeline.begin(kernel), timeline.begin(span))
                self.assertGreaterEqual(timeline.end(kernel), timeline.end(span))

    def test_counts_and_arrows_by_the_softnic(self):
        if "softnic" not in PROGRAMS:
            self.skipTest("the softnic is not built")
        timeline = self.counted(SOFTNIC)
        for pe in range(3):  # at least put, put_signal, p, signal_op; get and g; atomics
            self.assertGreaterEqual(timeline.count("nic", "NIC RDMA_WRITE", pe), 3 * ROUNDS)
            self.assertGreaterEqual(timeline.count("nic", "NIC RDMA_READ", pe), 2 * ROUNDS)
        self.assertFalse([s for s in timeline.spans if s["cat"] == "nic" and ("open" in s["args"] or "failed" in s["args"])])

    def test_counts_and_arrows_by_the_proxy(self):
        timeline = self.counted(PROXY)
        for pe in range(3):
            self.assertEqual(timeline.count("proxy", "proxy get", pe), 2 * ROUNDS)
            self.assertGreaterEqual(timeline.count("proxy", "proxy put and signal", pe), ROUNDS + 1)
            self.assertGreaterEqual(timeline.count("proxy", "proxy fetching atomic", pe), ROUNDS)
        self.assertFalse([s for s in timeline.spans if s["cat"] == "proxy" and ("open" in s["args"] or "failed" in s["args"])])

    def softgpu(self, variables):
        if "counted_pe_softgpu" not in PROGRAMS:
            self.skipTest("the softgpu is not built")
        self.job(3, ROUNDS, program="counted_pe_softgpu", variables=variables)
        timeline = self.only_the_file()
        self.check_counts(timeline, 3, ON_GPUS_HOST)
        self.check_arrows(timeline, 3, on_host=0)
        return timeline

    def test_counts_and_arrows_of_kernels_on_the_softgpu(self):
        timeline = self.softgpu(P2P)
        for pe in range(3):
            kernel = next(s for s in timeline.spans if s["cat"] == "kernel" and s["pid"] == pe and "rounds_of_kernel" in s["name"])
            within = [s for s in timeline.spans if s["pid"] == pe and s["args"].get("launch") == kernel["args"]["launch"] and s is not kernel]
            self.assertEqual(len(within), (sum(IN_ROUND.values()) + 1) * ROUNDS)  # and quiet
            for span in within:
                self.assertLessEqual(timeline.begin(kernel), timeline.begin(span))
                self.assertGreaterEqual(timeline.end(kernel), timeline.end(span))

    def test_the_summary_names_who_ended_a_wait_on_the_softgpu(self):
        self.softgpu(P2P)
        self.check_senders(self.run_it([PROGRAMS["chime-trace"], "summary", "run.json"]).stdout, on_host=0)

    def test_counts_and_arrows_of_kernels_on_the_softgpu_by_the_softnic(self):
        if "softnic" not in PROGRAMS:
            self.skipTest("the softnic is not built")
        self.softgpu(SOFTNIC)

    # The two rows' teams have one handle.
    def rows(self, program):
        self.job(4, ROUNDS, "rows", program=program)
        calls = [s for s in self.only_the_file().spans if s["cat"] == "collective" and s["name"] == "chime_barrier"]
        self.assertEqual(len({call["args"]["team"] for call in calls}), 1)
        self.assertEqual(sorted((call["pid"], call["args"].get("first_pe")) for call in calls), [(0, 0), (1, 0), (2, 2), (3, 2)])

    def test_teams_of_one_handle_are_told_apart(self):
        self.rows("counted_pe")

    def test_teams_of_one_handle_are_told_apart_on_the_softgpu(self):
        if "counted_pe_softgpu" not in PROGRAMS:
            self.skipTest("the softgpu is not built")
        self.rows("counted_pe_softgpu")

    def particles(self, variables):
        self.job(4, "--data", PROGRAMS["data"], "--steps", 5, program="particles", variables=variables)
        timeline = self.only_the_file()
        waits = timeline.count("wait", "chime_signal_wait_until")
        self.assertGreater(waits, 4 * 5 * 26 / 2)
        self.assertEqual(len(timeline.arrows), waits)
        self.assertEqual({s["pid"] for s in timeline.spans}, {0, 1, 2, 3})
        return timeline

    def test_particles_by_mapped_memory(self):
        self.particles(P2P)

    def test_particles_by_the_softnic(self):
        if "softnic" not in PROGRAMS:
            self.skipTest("the softnic is not built")
        self.assertGreater(self.particles(SOFTNIC).categories()["nic"], 100)

    def test_particles_by_the_proxy(self):
        self.assertGreater(self.particles(PROXY).categories()["proxy"], 100)

    def test_mpirun_alone_writes_the_file(self):
        if shutil.which("mpirun") is None:
            self.skipTest("there is no mpirun")
        self.run_it(["mpirun", "--oversubscribe", "--timeout", "100", "-n", "2", PROGRAMS["counted_pe"], ROUNDS],
                    {"CHIME_TRACE": str(self.file), "CHIME_BOOTSTRAP": "pmix"})
        timeline = self.only_the_file()
        self.check_counts(timeline, 2)

    def test_one_process_is_enough(self):
        self.run_it([PROGRAMS["counted_pe"], ROUNDS], {"CHIME_TRACE": "run.json"})
        self.check_counts(self.only_the_file(), 1)

    def test_without_the_variable_nothing_is_written(self):
        self.run_it([PROGRAMS["chime-run"], "-n", "2", PROGRAMS["counted_pe"], ROUNDS])
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_a_killed_pe_leaves_what_was_recorded(self):
        run = self.job(3, ROUNDS, "die", 1, code=137)
        self.assertIn("recorded until they were killed", run.stderr)
        timeline = self.only_the_file()
        self.assertIn(1, timeline.facts["killed_processes_of_pes"])
        for pe in range(3):
            self.assertEqual(timeline.count("put", "chime_put", pe), ROUNDS)

    def test_a_killed_mpirun_job_can_be_merged(self):
        parts = self.folder / "run.json.parts"
        self.run_it([PROGRAMS["chime-run"], "-n", "2", "-x", "CHIME_TRACE=other.json", "sh", "-c",
                     f"CHIME_TRACE={self.file} exec {PROGRAMS['counted_pe']} {ROUNDS} die 0"], code=137)
        self.assertTrue(parts.is_dir())
        self.assertFalse(self.file.exists())
        merged = self.run_it([PROGRAMS["chime-trace"], "merge", "run.json"])
        self.assertIn("recorded until they were killed: PE", merged.stdout)
        timeline = self.only_the_file()
        self.assertEqual(timeline.count("put", "chime_put", 0), ROUNDS)
        again = self.run_it([PROGRAMS["chime-trace"], "merge", "run.json"], code=2)
        self.assertIn("there are no parts of a timeline", again.stderr)

    def test_a_pe_that_exits_early_leaves_what_was_recorded(self):
        self.job(2, ROUNDS, "fail", 1, code=3)
        self.assertEqual(self.only_the_file().count("put", "chime_put", 1), ROUNDS)

    def test_an_interrupted_job_has_a_whole_file_or_none(self):
        command = [PROGRAMS["chime-run"], "-n", "2", "--trace", str(self.file), PROGRAMS["counted_pe"], "1000000"]
        environment = dict(os.environ, CHIME_TRACE_EVENTS="20000")
        with subprocess.Popen(command, stderr=subprocess.DEVNULL, env=environment) as job:
            parts = self.folder / "run.json.parts"
            end = time.monotonic() + PATIENCE_S
            while not (parts.is_dir() and len(list(parts.iterdir())) == 2):
                self.assertLess(time.monotonic(), end)
                time.sleep(0.01)
            time.sleep(0.5)
            self.assertFalse(self.file.exists())
            job.terminate()
            job.wait(PATIENCE_S)
        timeline = self.only_the_file()
        self.assertEqual(timeline.facts["killed_processes_of_pes"], [0, 1])

    def test_a_wait_in_vain_lasts_until_its_pe_is_ended(self):
        command = [PROGRAMS["chime-run"], "-n", "1", "--timeout", "100", "--no-prefix", "--trace", self.file, PROGRAMS["counted_pe"], str(ROUNDS), "hang"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as job:
            self.addCleanup(job.kill)
            self.assertEqual(job.stdout.readline(), "waiting\n")
            time.sleep(0.4)
            job.terminate()
            job.wait(PATIENCE_S)
        timeline = self.only_the_file()
        for category in ("wait", "call"):
            last = [span for span in timeline.spans if span["cat"] == category][-1]
            self.assertEqual((last["name"], last["args"]["open"]), ("chime_signal_wait_until", True))
            self.assertGreater(timeline.end(last) - timeline.begin(last), 2 * 10**8)

    def test_events_without_room_are_counted(self):
        self.job(2, 1000, variables={"CHIME_TRACE_EVENTS": "1000"})
        timeline = self.only_the_file()
        self.assertGreater(timeline.facts["dropped"], 2 * 1000 * 10)
        self.assertLess(len(timeline.spans), 2 * 1000 + 2 * 204)
        clocks = timeline.facts["clocks"]
        self.assertEqual(sum(clock["dropped"] for clock in clocks), timeline.facts["dropped"])

    def test_a_second_life_has_a_file_of_its_own(self):
        self.job(2, ROUNDS, "again")
        for name in ("run.json", "run.2.json"):
            self.check_counts(Timeline(self.folder / name), 2)

    def test_a_child_of_fork_writes_nothing(self):
        self.job(2, ROUNDS, "fork")
        timeline = self.only_the_file()
        self.check_counts(timeline, 2)
        self.assertEqual(timeline.count("call", "chime_query_thread"), 0)

    # Each PE's file is in a folder of its own, as on hosts without a shared disk.
    def apart(self, pes, before=""):
        for pe in range(pes):
            (self.folder / str(pe)).mkdir()
        script = f'CHIME_TRACE={self.folder}/$CHIME_RUN_PE/run.json; export CHIME_TRACE; {before} exec "$@"'
        return self.run_it([PROGRAMS["chime-run"], "-n", pes, "sh", "-c", script, "sh", PROGRAMS["counted_pe"], ROUNDS])

    def test_pes_without_a_shared_disk_send_their_parts(self):
        self.apart(3)
        self.check_counts(Timeline(self.folder / "0" / "run.json"), 3)
        for pe in (1, 2):
            self.assertEqual(list((self.folder / str(pe)).iterdir()), [])

    # PEs 0 to 3 as threads of two processes, whose timelines are these files. The second PE of each makes `calls` after the last barrier.
    def threads(self, pes, files, calls):
        processes = []
        for (first, second), file in zip(pes, files):
            file.parent.mkdir(exist_ok=True)
            environment = {name: value for name, value in os.environ.items() if not name.startswith("CHIME_")}
            environment["CHIME_TRACE"] = str(file)
            processes.append(subprocess.Popen([PROGRAMS["counted_pe"], str(calls), "threads", str(first), str(second), self.folder], env=environment))
            self.addCleanup(processes[-1].kill)
        self.assertEqual([process.wait(PATIENCE_S) for process in processes], [0, 0])
        timeline = Timeline(files[0])
        for first, second in pes:
            self.assertEqual([timeline.count("collective", "chime_barrier_all", pe) for pe in (first, second)], [1, 1])
            self.assertEqual([timeline.count("call", "chime_query_thread", pe) for pe in (first, second)], [0, calls])
        self.assertEqual((timeline.facts["killed_processes_of_pes"], timeline.facts["missing_pes"]), ([], []))
        self.assertEqual([path for file in files for path in file.parent.iterdir() if path.name.endswith(".parts")], [])

    def test_a_part_without_a_shared_disk_is_sent_when_all_its_pes_have_ended(self):
        self.threads(((0, 1), (2, 3)), [self.folder / name / "run.json" for name in "ab"], 30_000)

    def test_a_part_on_a_shared_disk_stays_there_whatever_pe_it_is_named_after(self):
        self.threads(((1, 0), (2, 3)), [self.file, self.file], 10)

    # A command before which PE 1 gets a clock that is 5000 s ahead.
    def ahead(self):
        unshare = "unshare --time --boottime 5000 --monotonic 5000"
        if subprocess.run(unshare.split() + ["true"], capture_output=True, check=False).returncode != 0:
            self.skipTest("time namespaces take root")
        return f"[ $CHIME_RUN_PE = 0 ] || exec {unshare} \"$@\";"

    def check_clocks(self, timeline):
        first, other = timeline.facts["clocks"]
        self.assertEqual((first["offset_ns"], first["doubt_ns"]), (0, 0))
        self.assertEqual(other["clock"], "another machine's, set to PE 0's")
        self.assertGreater(other["doubt_ns"], 0)
        self.assertLessEqual(abs(other["offset_ns"] + 5000 * 10**9), other["doubt_ns"])
        self.assertLessEqual(abs(other["drift_ns"]), 2 * other["doubt_ns"])

    def test_clocks_are_compared_also_before_a_pe_is_killed(self):
        command = ["sh", "-c", self.ahead() + 'exec "$@"', "sh", PROGRAMS["counted_pe"], ROUNDS, "die", 1]
        self.run_it([PROGRAMS["chime-run"], "-n", "2", "--trace", self.file, *command], code=137)
        self.check_clocks(self.only_the_file())

    def test_another_clock_is_set_to_that_of_pe_0(self):
        self.apart(2, self.ahead())
        timeline = Timeline(self.folder / "0" / "run.json")
        self.check_counts(timeline, 2)
        self.check_clocks(timeline)
        # The PEs lived at the same time.
        spans = {pe: [s for s in timeline.spans if s["pid"] == pe] for pe in (0, 1)}
        self.assertLess(abs(min(map(timeline.begin, spans[0])) - min(map(timeline.begin, spans[1]))), PATIENCE_S * 10**9)

    def test_a_missing_folder_is_said_before_work_starts(self):
        missing = self.folder / "missing" / "run.json"
        run = self.run_it([PROGRAMS["chime-run"], "-n", "2", "--trace", missing, "touch", self.folder / "started"], code=126)
        self.assertIn(f"there is no folder {missing.parent}; make it", run.stderr)
        self.assertFalse((self.folder / "started").exists())
        run = self.run_it([PROGRAMS["counted_pe"]], {"CHIME_TRACE": str(missing)}, code=1)
        self.assertIn(f"CHIME_TRACE: '{missing}' cannot be written: there is no folder", run.stderr)

    def test_a_folder_is_no_file(self):
        run = self.run_it([PROGRAMS["counted_pe"]], {"CHIME_TRACE": str(self.folder)}, code=1)
        self.assertIn("is a folder; name a file", run.stderr)

    def test_an_unwritable_folder_is_said_by_every_pe(self):
        run = self.run_it(["mpirun", "--oversubscribe", "--timeout", "100", "-n", "2", PROGRAMS["counted_pe"]],
                          {"CHIME_TRACE": "/proc/run.json"}, code=None) if shutil.which("mpirun") else self.run_it(
                              [PROGRAMS["counted_pe"]], {"CHIME_TRACE": "/proc/run.json"}, code=None)
        self.assertNotEqual(run.returncode, 0)
        self.assertIn("'/proc/run.json' cannot be written", run.stderr)

    def test_the_summary_names_the_late_sender(self):
        self.job(3, ROUNDS)
        run = self.run_it([PROGRAMS["chime-trace"], "summary", "run.json"])
        self.check_senders(run.stdout)
        self.assertIn("Late senders", run.stdout)
        self.assertIn("Critical path of step 0 of 1", run.stdout)
        run = self.run_it([PROGRAMS["chime-trace"], "summary", "run.json", "--step", "chime_barrier_all", "--number", "1"])
        self.assertRegex(run.stdout, r"Critical path of step 1 of \d+ \('chime_barrier_all'")

    def test_the_summary_refuses_what_is_no_timeline(self):
        for text, words in (("{", "is no timeline: byte 2 is not of JSON"), ('{"traceEvents":[]}', "this is no timeline")):
            self.file.write_text(text)
            run = self.run_it([PROGRAMS["chime-trace"], "summary", "run.json"], code=2)
            self.assertIn(words, run.stderr)
        self.assertIn("No such file", self.run_it([PROGRAMS["chime-trace"], "summary", "none.json"], code=2).stderr)

    def test_the_shares_of_a_critical_path_are_the_step(self):
        self.job(4, "--data", PROGRAMS["data"], "--steps", 5, program="particles")
        run = self.run_it([PROGRAMS["chime-trace"], "summary", "run.json"])
        path = run.stdout[run.stdout.index("Critical path"):]
        shares = [float(line.split()[-1].rstrip("%")) for line in path.splitlines()[2:]]
        self.assertAlmostEqual(sum(shares), 100, delta=0.1 * len(shares))


class CheckerOfThisTest(unittest.TestCase):
    """The oracle itself sees what is wrong."""

    def check(self, change):
        folder = tempfile.mkdtemp(prefix="timeline.")
        self.addCleanup(shutil.rmtree, folder)
        good = {"otherData": {"events": 3}, "traceEvents": [
            {"ph": "M", "name": "process_name", "pid": 0, "tid": 0, "args": {"name": "PE 0"}},
            {"ph": "M", "name": "thread_name", "pid": 0, "tid": 1, "args": {"name": "waits"}},
            {"ph": "X", "name": "a", "cat": "wait", "pid": 0, "tid": 1, "ts": 1.0, "dur": 4.0, "args": {}},
            {"ph": "X", "name": "b", "cat": "wait", "pid": 0, "tid": 1, "ts": 2.0, "dur": 1.0, "args": {}},
            {"ph": "s", "name": "c", "cat": "signal", "id": 1, "pid": 0, "tid": 1, "ts": 1.5},
            {"ph": "f", "bp": "e", "name": "c", "cat": "signal", "id": 1, "pid": 0, "tid": 1, "ts": 2.5},
            {"ph": "b", "name": "d", "cat": "nic", "id2": {"local": "1"}, "pid": 0, "tid": 0, "ts": 1.0, "args": {}},
            {"ph": "e", "name": "d", "cat": "nic", "id2": {"local": "1"}, "pid": 0, "tid": 0, "ts": 2.0}]}
        change(good["traceEvents"])
        path = pathlib.Path(folder) / "run.json"
        path.write_text(json.dumps(good))
        return Timeline(path)

    def test_a_good_one_passes(self):
        self.assertEqual(len(self.check(lambda events: None).arrows), 1)

    def test_bad_ones_fail(self):
        faults = {
            "overlap": lambda e: e[3].update(dur=4.0), "no end": lambda e: e.pop(5), "backwards": lambda e: e[5].update(ts=1.2),
            "in no event": lambda e: e[5].update(ts=9.0), "no name": lambda e: e.pop(1), "other PE": lambda e: e[3].update(pid=7),
            "no request": lambda e: e.pop(6), "endless request": lambda e: e.pop(), "early end": lambda e: e[7].update(ts=0.5),
            "end of another": lambda e: e[7].update(name="f"), "turned": lambda e: (e[4].update(ts=2.2), e[5].update(ts=3.5)),
            "no duration": lambda e: e[3].pop("dur"), "lost": lambda e: e.pop(3)}
        for name, fault in faults.items():
            with self.subTest(name), self.assertRaises((AssertionError, KeyError)):
                self.check(fault)


if __name__ == "__main__":
    sys.exit(unittest.main(verbosity=2))
