"""device_cost on a kernel with an obvious straight path: kernels/toy.cu, compiled here.

    toy_test.py [nvcc] [folder for what is compiled]"""
import pathlib
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(HERE))
import counts  # noqa: E402
import libraries  # noqa: E402
import rules  # noqa: E402
import sass  # noqa: E402
import straight_path  # noqa: E402
import toolkit  # noqa: E402


def path_of(arch, folder):
    library = libraries.Library("toy", "toy", HERE, libraries.chime(HERE, folder).options)
    cubin = folder / f"toy.sm_{arch}.cubin"
    usage = library.compile(NVCC, arch, cubin)
    (row,) = rules.load(HERE / "rules" / "toy.toml")
    program = sass.parse(toolkit.disassemble(NVDISASM, cubin))
    return usage, program, straight_path.Search(program, row.landmarks, row.never).straight_path(row.kernel)


class Toy(unittest.TestCase):
    def check(self, arch):
        with tempfile.TemporaryDirectory() as folder:
            usage, program, steps = path_of(arch, pathlib.Path(folder))
        counted = counts.count(steps)
        self.assertEqual(counted["atomics"], {"gpu": 1})  # the one of the wait is in system scope
        self.assertEqual({kind: n for kind, n in counted["fences"].items() if kind.endswith("sys")}, {"sys": 1})
        self.assertEqual(counted["stores"], {"16 B": 1, "4 B": 1})
        self.assertEqual(counted["mmio"], 1)
        # Of the queue: done, depth, slots, ready, record, doorbell; and the value.
        self.assertEqual(sum(counted["loads"].values()), 7, counted)
        self.assertEqual(sum(n for kind, n in counted["loads"].items() if kind.endswith("gpu")), 2, counted)
        self.assertEqual(counted["repeated"], 0)
        self.assertLess(counted["instructions"], len(program.instructions))
        self.assertGreater(counted["instructions"], 20)
        self.assertGreater(usage["toy"][0], 7)

    def test_of_sm_90(self):
        self.check(90)

    def test_of_sm_80(self):
        self.check(80)


if __name__ == "__main__":
    try:
        NVCC = toolkit.find_nvcc(sys.argv[1] if len(sys.argv) > 1 and sys.argv[1] else None)
        NVDISASM = toolkit.find_nvdisasm(sys.argv[2] if len(sys.argv) > 2 and sys.argv[2] else None, NVCC)
    except toolkit.Missing as missing:
        print(f"skipped: {missing}")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1])
