"""A child of fork() was taken for the PE: forked_child_test.py <chime-run> <forked_child_pe>.

The children's chime_malloc calls met each other's, and the parents' next collective call met at once by the counts of
those: a barrier was lost without an error."""
import os
import re
import subprocess
import sys
import unittest

CHIME_RUN, PE = sys.argv.pop(1), sys.argv.pop(1)
PES = 3
CALLS = 21


def run(*command, **variables):
    done = subprocess.run(command, env=dict(os.environ, **variables), stdin=subprocess.DEVNULL, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=110)
    return done.returncode, done.stdout


def job(act, **variables):
    variables = dict({"CHIME_ON_ERROR": "return", "CHIME_LOG": "off", "CHIME_TIMEOUT": "20"}, **variables)
    return run(CHIME_RUN, "-n", str(PES), "--timeout", "100", PE, act, **variables)


class ForkedChild(unittest.TestCase):
    def expect_refused(self, out, child):
        for pe in range(PES):
            calls = re.findall(rf"PE {pe} says {child} (\w+): (.*)", out)
            self.assertEqual(len(calls), CALLS, out)
            for name, error in calls:
                self.assertIn(f"setup: this process is a child of PE {pe} by fork; only the process that called chime_init may "
                              "call Chime", error, f"{name} of the {child}\n{out}")
            self.assertIn(f"PE {pe} says {child} is PE -1 of -1, status 0, version known", out)

    def expect_left(self, code, out):
        self.assertEqual(code, 0, out)
        self.assertEqual(len(re.findall(r"says left: $", out, re.M)), PES, out)

    def test_no_call_of_a_child_is_the_pes_nor_of_a_second(self):
        for p2p in ("auto", "off"):
            with self.subTest(p2p=p2p):
                code, out = job("forks_twice", CHIME_P2P=p2p)
                for child, place in (("first", 66048), ("second", 66560)):
                    self.expect_refused(out, child)
                    self.assertEqual(len(re.findall(rf"says {child} has heap \+ {place}$", out, re.M)), PES, out)
                self.expect_left(code, out)

    def test_nor_is_one_of_a_childs_child(self):
        code, out = job("forks_a_child_that_forks")
        self.expect_refused(out, "grandchild")
        self.assertEqual(len(re.findall(r"says then has heap \+ 66048$", out, re.M)), PES, out)
        self.expect_left(code, out)

    def test_nor_is_one_of_a_child_that_a_bare_system_call_made(self):
        code, out = job("clones")
        self.expect_refused(out, "clone")
        self.assertEqual(len(re.findall(r"says then has heap \+ 66048$", out, re.M)), PES, out)
        self.expect_left(code, out)

    def test_an_error_ends_the_child_alone(self):
        code, out = job("forks_a_child_that_allocates", CHIME_ON_ERROR="exit", CHIME_LOG="warn")
        self.assertEqual(out.count("child ended with 1"), PES, out)
        self.assertRegex(out, r"chime: chime_malloc: setup: this process is a child of PE \d by fork")
        self.assertEqual(len(re.findall(r"says then has heap \+ 66048$", out, re.M)), PES, out)
        self.expect_left(code, out)

    def test_programs_that_a_pe_starts_take_nothing_from_it(self):
        code, out = job("starts_programs")
        for kind, place in (("spawned", 66048), ("vforked", 66560)):
            self.assertEqual(out.count(f"{kind} ended with 0"), PES, out)
            self.assertEqual(len(re.findall(rf"says {kind} has heap \+ {place}$", out, re.M)), PES, out)
        self.expect_left(code, out)

    def test_a_child_of_a_process_that_has_left_may_be_a_pe(self):
        code, out = run(PE, "forks_after_it_has_left")
        self.assertEqual(code, 0, out)
        self.assertIn("child is PE 0", out)
        self.assertEqual(len(re.findall(r"says left: $", out, re.M)), 2, out)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]], verbosity=2)
