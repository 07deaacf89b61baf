"""Known values on a path, and their consequences."""
import unittest

from listings import opcodes, path, program  # it comes first: the modules below are a folder up
import facts
import straight_path


INLINE = """
kernel:
  LDC.64 R2, c[0x0][0x220]
  ISETP.GT.U32.AND P0, PT, R2, 0x1c, PT
  ISETP.GT.U32.AND.EX P0, PT, R3, RZ, PT, P0
  @P0 BRA `(.L_by_address)
  STG.E.128 [R4.64], R8
  EXIT
.L_by_address:
  LDG.E R6, [R4.64]
  LDG.E R7, [R4.64]
  STG.E.128 [R4.64], R8
  EXIT
"""
FLAG = """
kernel:
  @P0 BRA `(.L_no)
  IMAD.MOV.U32 R4, RZ, RZ, 0x1
  BRA `(.L_asked)
.L_no:
  NOP
  PRMT R4, RZ, 0x7610, R4
.L_asked:
  LOP3.LUT P1, RZ, R4, 0xff, RZ, 0xc0, !PT
  @P1 BRA `(.L_yes)
  STG.E [R2.64], R6
  EXIT
.L_yes:
  STG.E.64 [R2.64], R6
  EXIT
"""


class Given(unittest.TestCase):
    """The first known values, and their consequences."""

    def loads(self, number):
        search = straight_path.Search(program(INLINE), [], [], facts.given({0x10: number}, 0x210))
        return sum(step.instruction.name == "LDG" for step in search.straight_path("kernel"))

    def test_a_parameter_decides(self):
        self.assertEqual(self.loads(4096), 2)
        self.assertEqual(self.loads(1 << 40), 2)
        self.assertEqual(self.loads(28), 0)

    def test_a_flag_in_a_register_is_followed(self):
        self.assertEqual(opcodes(path(FLAG, r"^STG\.E \["))[1:3], ["NOP", "PRMT"])
        self.assertEqual(opcodes(path(FLAG, r"^STG\.E\.64"))[0], "IMAD.MOV.U32")

    def test_a_register_that_is_written_is_forgotten(self):
        with self.assertRaises(straight_path.NoPath):
            path(FLAG, r"^STG\.E\.64", never=["IMAD"])
        path(FLAG.replace("LOP3", "LDG.E R4, [R2.64]\n  LOP3"), r"^STG\.E\.64", never=["IMAD"])

    def test_bytes_are_permuted(self):
        known = facts.with_fact(facts.NOTHING, "R4", (0x80, 0xffff))  # the upper half is unknown
        self.assertEqual(facts.permuted(known, ("R0", "R4", "0x8880", "RZ")), (0xffffff80, facts.ALL))
        self.assertEqual(facts.permuted(known, ("R0", "R4", "0x3210", "RZ")), (0x80, 0xffff))

    def test_halves_of_64_bits_are_compared(self):
        def decided(how, upper, lower):
            known = facts.with_fact(facts.with_fact(facts.NOTHING, "R3", (upper, facts.ALL)), "P0", lower)
            (compare,) = program(f"{how} P1, PT, R3, RZ, PT, P0").instructions
            return facts.look_up(facts.after(known, compare), "P1")
        self.assertTrue(decided("ISETP.NE.AND.EX", 1, False))
        self.assertFalse(decided("ISETP.NE.AND.EX", 0, False))
        self.assertTrue(decided("ISETP.NE.AND.EX", 0, True))
        self.assertFalse(decided("ISETP.GT.AND.EX", 0xffffffff, True))  # signed
        self.assertTrue(decided("ISETP.GT.U32.AND.EX", 0xffffffff, False))

if __name__ == "__main__":
    unittest.main()
