"""Runs a file's tests on all PEs of a job: each PE makes the same calls in the same order. pes.py <module>...: those of several files in one job."""

import sys
import unittest

import numpy as np

import chime


class OnAllPes(unittest.TestCase):
    @property
    def me(self):
        return chime.my_pe()

    @property
    def n(self):
        return chime.n_pes()

    @property
    def right(self):
        return (self.me + 1) % self.n

    @property
    def left(self):
        return (self.me - 1) % self.n

    def assert_same(self, expected, got):
        np.testing.assert_array_equal(np.asarray(got), np.asarray(expected))

    def refused(self, kind, *words):
        """A context in which an exception of `kind` is raised, whose text has these words."""
        return _Refused(self, kind, words)


class _Refused:
    def __init__(self, test, kind, words):
        self.test, self.kind, self.words, self.error = test, kind, words, None

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        self.test.assertIsNotNone(kind, f"nothing was raised; wanted {self.kind.__name__}")
        if not issubclass(kind, self.kind):
            return False
        self.error = value
        for word in self.words:
            self.test.assertIn(word, str(value))
        return True


def main(*modules):
    with chime.init():
        which = {"module": None, "argv": [sys.argv[0], *modules]} if modules else {}
        program = unittest.main(**which, exit=False, verbosity=0, failfast=True)
        if not program.result.wasSuccessful():
            sys.stderr.flush()
            chime.global_exit(1)
        if program.result.testsRun == 0:
            chime.global_exit(2)


if __name__ == "__main__":
    main(*sys.argv[1:])
