"""The counts made from the executed forms."""
import json
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import executed  # noqa: E402


def counts(forms, **more):
    return executed.counts_of({"threads": 1, "instructions": 9, "forms": forms, **more})


class Executed(unittest.TestCase):
    def test_atomics_are_by_scope_with_those_that_return_nothing(self):
        of = counts({"atom.relaxed.sys.global.add.u64": {"executed": 2, "device": 2}, "red.relaxed.sys.global.or.b32": {"executed": 1},
                     "atom.global.cas.b32": {"executed": 1}, "atom.relaxed.cta.shared.add.u32": {"executed": 3, "shared": 3}})
        self.assertEqual(of["atomics"], {"sys": 3, "gpu": 1, "shared cta": 3})

    def test_fences_are_by_scope_and_strength(self):
        of = counts({"fence.acq_rel.sys": {"executed": 2}, "fence.sc.cta": {"executed": 1}})
        self.assertEqual(of["fences"], {"sys": 2, "sc cta": 1})

    def test_accesses_are_by_memory_and_strength(self):
        of = counts({"ld.global.u64": {"executed": 4, "device": 3, "host": 1}, "ld.relaxed.sys.global.v2.u64": {"executed": 2, "device": 2},
                     "ld.volatile.u32": {"executed": 1, "host": 1}, "st.release.gpu.global.u64": {"executed": 1, "device": 1},
                     "st.local.u64": {"executed": 5, "local": 5}, "st.shared.u32": {"executed": 2, "shared": 2}})
        self.assertEqual(of["loads"], {"device": 3, "host": 1, "device sys": 2, "host volatile": 1})
        self.assertEqual(of["stores"], {"device gpu": 1, "local": 5, "shared": 2})

    def test_constants_and_parameters_are_constants_and_arguments_are_in_registers(self):
        of = counts({"ld.const.u32": {"executed": 4, "const": 4}, "ld.param.u64": {"executed": 5, "param": 3, "passed": 2},
                     "st.param.b64": {"executed": 2, "passed": 2}, "ld.u64": {"executed": 2, "const": 1, "device": 1}})
        self.assertEqual(of["constants"], 8)
        self.assertEqual(of["loads"], {"device": 1})
        self.assertEqual(of["stores"], {})

    def test_a_doorbell_is_a_store_to_a_register_and_no_other(self):
        of = counts({"st.mmio.relaxed.sys.global.u64": {"executed": 1, "bar": 1}, "st.relaxed.sys.global.u32": {"executed": 1, "host": 1}})
        self.assertEqual(of["mmio"], 1)
        self.assertEqual(of["stores"], {"host sys": 1})

    def test_what_a_predicate_has_turned_off_accesses_nothing(self):
        of = counts({"st.global.u64": {"off": 3}, "atom.relaxed.sys.global.add.u64": {"off": 1}})
        self.assertEqual((of["stores"], of["atomics"]), ({}, {}))

    def test_calls_are_told_by_kernel_and_way(self):
        line = {"kernel": "p", "path": "nic", "mode": "gpu", "threads": 1, "instructions": 5, "forms": {}}
        found = executed.by_call([line, {**line, "path": "p2p", "mode": "-", "instructions": 2}])
        self.assertEqual({call: of["instructions"] for call, of in found.items()}, {("p", "gpu"): 5, ("p", "p2p"): 2})

    def counted(self, lines):
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            file.write("".join(json.dumps(line) + "\n" for line in lines))
            file.flush()
            return executed.counted(file.name, ["put", "put_block", "quiet"])

    def test_another_librarys_kernels_are_told_by_their_names(self):
        line = {"kernel": "put_by_gpu", "threads": 1, "instructions": 9, "forms": {"atom.gpu.add.u64": {"executed": 1, "device": 1}}}
        found = self.counted([line, {**line, "kernel": "put_block_by_block", "threads": 32}, {**line, "kernel": "quiet"}])
        self.assertEqual(set(found), {("put", "gpu"), ("put_block", "block"), ("quiet", "-")})
        self.assertEqual(found["put", "gpu"]["atomics"], {"gpu": 1})
        self.assertEqual(found["put_block", "block"]["threads"], 32)

    def test_of_several_launches_the_shortest_is_told(self):
        line = {"kernel": "put", "threads": 1, "forms": {}}
        found = self.counted([{**line, "instructions": n} for n in (12, 7, 9)])
        self.assertEqual(found["put", "-"]["instructions"], 7)

    def test_what_is_no_operation_or_no_count_is_refused(self):
        for kernel in ("puts", "put_by_warp", "my_put"):
            with self.assertRaisesRegex(executed.Failed, f"kernel {kernel} is none of"):
                self.counted([{"kernel": kernel, "threads": 1, "instructions": 1, "forms": {}}])
        with self.assertRaisesRegex(executed.Failed, "has no launch"):
            self.counted([])
        with self.assertRaisesRegex(executed.Failed, "is no file of CHIME_SOFTGPU_COUNT"):
            executed.counted("/nowhere/counts.json", ["put"])


if __name__ == "__main__":
    unittest.main()
