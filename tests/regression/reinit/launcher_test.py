"""The requests of PEs to a PMIx launcher, counted: launcher_test.py <reinit_pe> <bootstrap_pe> <folder of the counting libpmix.so.2>.

The launcher keeps each key for as long as it lives: 200 rounds of chime_init and chime_finalize once cost mpirun 60 MB. And each
PE once requested each local peer's node: 8 PEs sent 83 gets."""
import os
import shutil
import subprocess
import sys
import unittest

from counting_pmix import counting, counts_in, why_init_fails

PE, BOOTSTRAP_PE, COUNTER = sys.argv.pop(1), sys.argv.pop(1), sys.argv.pop(1)
# Two are each PE's own; PE 0 adds its knowledge of its host, the secret, the settings, and the address of later meetings.
MOST_KEYS = {True: 6, False: 2}  # by whether it is PE 0


@unittest.skipUnless(shutil.which("mpirun"), "mpirun is not installed (Debian: openmpi-bin)")
class AskedOfTheLauncher(unittest.TestCase):
    def start(self, pes, *command, **variables):
        return subprocess.Popen(["mpirun", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "--timeout", "180",
                                 "--enable-recovery", "-n", str(pes), *counting(COUNTER), *command], env=dict(os.environ, **variables),
                                stdin=subprocess.DEVNULL, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def count(self, pes, *command, **variables):
        """By PE."""
        job = self.start(pes, *command, **variables)
        said = "".join(job.communicate(timeout=200))
        self.assertEqual(job.returncode, 0, said)
        counts = counts_in(said)
        self.assertEqual(len(counts), pes, said)
        print(f"{pes} PEs, {command[1:]}:", [f"{c.puts} puts, {sum(c.gets.values())} gets of {len(c.gets)} questions, "
                                               f"{c.queries} queries" for _, c in sorted(counts.items())])
        return counts

    def test_fifty_rounds_leave_no_more_keys_than_two(self):
        of_two, of_fifty = self.count(2, PE, "2", "0"), self.count(2, PE, "50", "0")
        for counts in (of_two, of_fifty):
            for pe, of_pe in counts.items():
                self.assertEqual((of_pe.puts, of_pe.commits), (of_pe.keys, of_pe.keys))  # each once
                self.assertLessEqual(of_pe.keys, MOST_KEYS[pe == 0])
        total = [sum(of_pe.puts for of_pe in counts.values()) for counts in (of_two, of_fifty)]
        self.assertEqual(total[0], total[1])

    def test_the_lowest_pe_asks_for_its_host_and_the_others_ask_it(self):
        for pes in (4, 8):
            for pe, of_pe in self.count(pes, PE, "1", "0").items():
                self.assertLessEqual(of_pe.puts, MOST_KEYS[pe == 0])
                others = [("node", other) for other in range(1, pes)]
                expected = others if pe == 0 else [("host", 0), ("node", 0), ("settings", 0)]
                # The last PE to leave may query whether the others said goodbye. A PE that has waited for two seconds queries whether they have
                # failed.
                self.assertEqual([q for q in sorted(of_pe.gets) if q[0] not in ("goodbye", "failure")], expected)
                self.assertLessEqual(max(of_pe.gets.values()), of_pe.most_gets_a_question())

    def test_no_pe_queries_processes_while_all_live(self):
        for pes, *command in ((4, PE, "1", "0"), (8, PE, "1", "0"), (2, PE, "10", "0"), (4, BOOTSTRAP_PE, "lookup_waits_for_seconds")):
            for of_pe in self.count(pes, *command).values():
                self.assertLessEqual(of_pe.queries, of_pe.most_queries())

    def test_what_the_launcher_does_not_answer_is_asked_again(self):
        for of_pe in self.count(3, PE, "1", "0", LOSE_FIRST_GET="1").values():
            for question, times in of_pe.gets.items():
                if question[0] not in ("goodbye", "failure"):
                    self.assertGreaterEqual(times, 2, question)

    def assert_named(self, lost, key):
        """PE `lost` of 4 dies when it is about to leave `key`."""
        said, took = why_init_fails(self.start(4, PE, "1", "0", DIE_AT_PUT=f"{lost} chime.0.chime.{key}"), 3, 60)
        self.assertEqual(sorted(said), [pe for pe in range(4) if pe != lost])
        for why in said.values():
            self.assertRegex(why, f"PE {lost} is gone")
        self.assertLess(took, 30)

    def test_a_leader_is_named_that_dies_before_it_names_its_pes(self):
        self.assert_named(0, "host")

    def test_a_leader_is_named_that_dies_before_it_has_said_where_it_is(self):
        self.assert_named(0, "node")

    def test_another_pe_is_named_by_all_that_dies_before_it_has_said_where_it_is(self):
        for lost in (1, 3):
            self.assert_named(lost, "node")


if __name__ == "__main__":
    unittest.main(verbosity=2)
