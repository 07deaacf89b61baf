"""The straight path, on listings written by hand: every rule of README.md has a case, and its opposite."""
import unittest
from unittest import mock

from listings import opcodes, path  # it comes first: the modules below are a folder up
import counts
import straight_path


BRANCH = """
kernel:
  ISETP.NE.AND P0, PT, R2, RZ, PT
  @P0 BRA `(.L_long)
  EXIT
.L_long:
  STG.E [R4.64], R2
  MEMBAR.SC.GPU
  EXIT
"""
FULL_QUEUE = """
kernel:
  ATOMG.E.ADD.64.STRONG.GPU PT, R4, [R2.64], R6
  ISETP.GT.AND P0, PT, R4, R8, PT
  @!P0 BRA `(.L_room)
.L_wait:
  LDG.E.STRONG.GPU R9, [R2.64]
  ISETP.GT.AND P1, PT, R4, R9, PT
  @P1 BRA `(.L_wait)
.L_room:
  STG.E.128 [R2.64+0x40], R8
  EXIT
"""
EITHER = """
kernel:
  ISETP.NE.AND P0, PT, R2, RZ, PT
  @P0 LDG.E.STRONG.GPU R4, [R6.64]
  @!P0 LDG.E.STRONG.SM R4, [R6.64]
  @P0 ATOMG.E.ADD.STRONG.GPU PT, R5, [R6.64], R4
  EXIT
"""
CALLED = """
kernel:
  CALL.REL.NOINC `(send)
  ISETP.NE.AND P0, PT, R4, RZ, PT
  @!P0 BRA `(.L_failed)
  EXIT
.L_failed:
  EXIT
send:
  LDG.E R5, [R2.64]
  ISETP.NE.AND P1, PT, R5, RZ, PT
  @P1 BRA `(.L_stopped)
  STG.E.64 [R2.64], R6
  MOV R4, 0x1
  RET.REL.NODEC R20 `(kernel)
.L_stopped:
  MOV R4, RZ
  RET.REL.NODEC R20 `(kernel)
"""
INNER = """
kernel:
  CALL.ABS.NOINC `(outer)
  EXIT
outer:
  @!P0 CALL.REL.NOINC `(inner)
  NOP
  BRA `(.L_end)
inner:
  STG.E [R2.64], R4
  RET.REL.NODEC R20 `(outer)
.L_end:
  RET.ABS.NODEC R22 0x0
"""
MEET = """
kernel:
  BSSY B0, `(.L_met)
  @P0 BRA `(.L_other)
  STG.E [R2.64], R4
  BSYNC B0
.L_other:
  STG.E.64 [R2.64], R4
  STG.E.64 [R2.64], R4
  BSYNC B0
.L_met:
  EXIT
"""
OFF = """
kernel:
  @P2 NOP
  @P1 BRA `(.L)
.L:
  @P0 MEMBAR.SC.GPU
  EXIT
"""

# The path on the left seems short, but the known values make it long.
PROMISING = """
kernel:
  MOV R4, 0x1
  @P0 BRA `(.L_honest)
  ISETP.NE.AND P1, PT, R4, RZ, PT
""" + 6 * "  @!P1 EXIT\n  NOP\n" + """
  EXIT
.L_honest:
  @P2 BRA `(.L_end)
""" + 6 * "  NOP\n" + """
.L_end:
  NOP
  NOP
  NOP
  EXIT
"""
PATHS = [(BRANCH, "^ST"), (FULL_QUEUE, "^ATOM", "^LDG", r"^STG.*128"), (EITHER, "^ATOM"), (CALLED, "^MOV R4, RZ"),
         (MEET, r"^STG\.E \["), (PROMISING,)]


class StraightPath(unittest.TestCase):
    def test_is_the_shortest(self):
        self.assertEqual(opcodes(path(BRANCH)), ["ISETP.NE.AND", "EXIT"])

    def test_passes_its_landmarks(self):
        self.assertEqual(opcodes(path(BRANCH, "^ST"))[-3:], ["STG.E", "MEMBAR.SC.GPU", "EXIT"])

    def test_passes_them_in_their_order(self):
        path(BRANCH, "^ST", "^MEMBAR")
        with self.assertRaisesRegex(straight_path.NoPath, "no path to '\\^ST' behind '\\^MEMBAR'"):
            path(BRANCH, "^MEMBAR", "^ST")

    def test_says_what_it_did_not_find(self):
        with self.assertRaisesRegex(straight_path.NoPath, "no path to '\\^RED'"):
            path(BRANCH, "^RED")

    def test_keeps_off_what_it_must_never_do(self):
        with self.assertRaises(straight_path.NoPath):
            path(BRANCH, "^ST", never=["MEMBAR"])

    def test_leaves_out_the_wait(self):
        steps = path(FULL_QUEUE, "^ATOM", r"^STG.*128")
        self.assertEqual(opcodes(steps), ["ATOMG.E.ADD.64.STRONG.GPU", "ISETP.GT.AND", "BRA", "STG.E.128", "EXIT"])

    def test_takes_a_loop_once_where_a_landmark_is_in_it(self):
        steps = path(FULL_QUEUE, "^ATOM", "^LDG", r"^STG.*128")
        self.assertEqual(sum(step.instruction.name == "LDG" for step in steps), 1)
        self.assertEqual(counts.repeated(steps), 0)

    def test_knows_a_predicate_until_it_is_written(self):
        on = path(EITHER, "^ATOM")
        self.assertEqual(opcodes(on)[1:3], ["LDG.E.STRONG.GPU", "ATOMG.E.ADD.STRONG.GPU"])
        self.assertEqual(len(on), 5)  # what is off takes its turn
        with self.assertRaises(straight_path.NoPath):
            path(EITHER, "^ATOM", never=[r"STRONG\.GPU R4"])
        other = EITHER.replace("  @P0 ATOMG", "  ISETP.EQ.AND P0, PT, R4, R9, PT\n  @P0 ATOMG")
        path(other, "^ATOM", never=[r"STRONG\.GPU R4"])

    def test_of_equally_long_ways_takes_the_one_with_fewer_accesses(self):
        listing = "kernel:\n @P0 BRA `(.L_idle)\n LDG.E R4, [R2.64]\n EXIT\n.L_idle:\n NOP\n EXIT"
        self.assertEqual(opcodes(path(listing)), ["BRA", "NOP", "EXIT"])
        self.assertEqual(opcodes(path("kernel:\n @P0 LDG.E R4, [R2.64]\n EXIT")), ["EXIT"])

    def test_passes_by_what_is_off(self):
        self.assertEqual(opcodes(path("kernel:\n @P0 EXIT\n STG.E [R2.64], R4\n EXIT", "^ST")), ["STG.E", "EXIT"])
        self.assertNotIn("MEMBAR.SC.GPU", opcodes(path(OFF, never=["MEMBAR"])))

    def test_is_as_short_without_an_estimate(self):
        with mock.patch.object(straight_path.Estimate, "at", lambda *_: 0):
            lengths = [len(path(listing, *marks)) for listing, *marks in PATHS]
        self.assertEqual([len(path(listing, *marks)) for listing, *marks in PATHS], lengths)

    def test_follows_calls_and_what_they_return(self):
        steps = path(CALLED, r"^STG\.E\.64")
        self.assertEqual(opcodes(steps)[0], "CALL.REL.NOINC")
        self.assertEqual(opcodes(steps)[-2:], ["ISETP.NE.AND", "EXIT"])  # and not the BRA: R4 is 1
        self.assertFalse(steps[-2].is_on)

    def test_a_function_may_have_others_inside_of_it(self):
        self.assertEqual(opcodes(path(INNER, "^STG", "^NOP"))[-3:], ["BRA", "RET.ABS.NODEC", "EXIT"])

    def test_a_call_of_a_mere_label_is_a_jump(self):
        listing = "kernel:\n CALL.ABS.NOINC `(send)\n EXIT\nsend:\n CALL.REL.NOINC `(.L_far)\n.L_far:\n RET.ABS.NODEC R20 0x0"
        self.assertEqual(opcodes(path(listing)), ["CALL.ABS.NOINC", "CALL.REL.NOINC", "RET.ABS.NODEC", "EXIT"])

    def test_a_failed_call_is_told_by_its_result(self):
        failed = path(CALLED, "^MOV R4, RZ")
        self.assertEqual(opcodes(failed)[-3:], ["ISETP.NE.AND", "BRA", "EXIT"])

    def test_goes_to_where_threads_meet(self):
        self.assertEqual(opcodes(path(MEET, r"^STG\.E \["))[-2:], ["BSYNC", "EXIT"])
        self.assertEqual(len(path(MEET, r"^STG\.E \[")), 5)

    def test_an_isolated_call_has_a_whole_warp(self):
        listing = "kernel:\n BRA.DIV UR4, `(.L_parted)\n STG.E [R2.64], R4\n EXIT\n.L_parted:\n EXIT"
        self.assertEqual(opcodes(path(listing)), ["BRA.DIV", "STG.E", "EXIT"])

    def test_does_not_go_on_behind_a_trap(self):
        with self.assertRaises(straight_path.NoPath):
            path("kernel:\n BPT.TRAP 0x1\n EXIT")

    def test_takes_every_way_of_a_jump_table(self):
        listing = """
kernel:
  BRX R4 -0x10 (*"BRANCH_TARGETS .L_one,.L_two"*)
.L_one:
  EXIT
.L_two:
  STG.E [R2.64], R4
  EXIT
"""
        self.assertEqual(opcodes(path(listing, "^ST")), ["BRX", "STG.E", "EXIT"])

if __name__ == "__main__":
    unittest.main()
