"""A row runs again when what it depends on has changed: faults_test.py."""

import pathlib
import tempfile
import unittest

from faults import WRITERS, Fault

SOURCE = pathlib.Path(__file__).resolve().parents[2]
ROW = {"name": "a", "kind": "cpu", "file": "device/rma.cuh", "search": "x", "replace": "y", "oracle": "unit/timeline", "says": "z",
       "script": "tests/unit/timeline/run_test.py", "program": "counted_pe", "compiles": "tests/unit/timeline/counted_pe.cpp"}
WRITER = ["host/trace/recorder.cpp", "host/trace/part_format.hpp", "host/trace/merge/arrows.cpp", "device/exec/timeline.cuh"]


class Fingerprint(unittest.TestCase):
    def setUp(self):
        self.source = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.put(ROW["file"], ROW["script"], ROW["compiles"], "tests/unit/timeline/timeline_file.py", "device/simt/trace/traced.hpp",
                 "tests/support/world.hpp", "host/heap.cpp", *WRITER)

    def put(self, *names, text="x"):
        for name in names:
            (self.source / name).parent.mkdir(parents=True, exist_ok=True)
            (self.source / name).write_text(text)

    def is_new_after(self, name, row=None):
        before = Fault(row or ROW, self.source).fingerprint()
        self.put(name, text="changed")
        return Fault(row or ROW, self.source).fingerprint() != before

    def test_changes_with_what_the_row_depends_on(self):
        for name in (ROW["file"], ROW["script"], ROW["compiles"], "tests/unit/timeline/timeline_file.py", "device/simt/trace/traced.hpp",
                     "tests/support/world.hpp", *WRITER):
            with self.subTest(name):
                self.assertTrue(self.is_new_after(name))

    def test_stays_when_other_files_change(self):
        self.assertFalse(self.is_new_after("host/heap.cpp"))
        without_script = {name: value for name, value in ROW.items() if name != "script"}
        self.assertFalse(self.is_new_after("host/trace/recorder.cpp", without_script))

    def test_changes_with_the_row(self):
        self.assertNotEqual(Fault(ROW, self.source).fingerprint(), Fault({**ROW, "says": "w"}, self.source).fingerprint())

    def test_knows_files_that_are_there(self):
        for script, patterns in WRITERS.items():
            self.assertTrue((SOURCE / script).is_file())
            for pattern in patterns:
                self.assertTrue(list(SOURCE.glob(pattern)), pattern)


if __name__ == "__main__":
    unittest.main()
