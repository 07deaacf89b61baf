"""Kinds of instructions, chains and round trips."""
import unittest

from listings import path  # it comes first: the modules below are a folder up
import counts


COUNTED = """
kernel:
  LDC.64 R2, c[0x0][0x210]
  LDG.E.64 R4, desc[UR4][R2.64]
  LDG.E.64.CONSTANT R6, desc[UR4][R4.64+0x10]
  LD.E.64.STRONG.SYS R8, desc[UR4][R6.64]
  LDL R30, [R1]
  ATOMG.E.ADD.64.STRONG.GPU PT, R10, desc[UR4][R4.64], R12
  RED.E.MAX.64.STRONG.SM desc[UR4][R4.64], R12
  IADD3 R14, P0, R10, c[0x0][0x218], RZ
  STG.E.128 desc[UR4][R6.64], R16
  STG.E.128 desc[UR4][R6.64+0x10], R16
  STG.E.U8 desc[UR4][R6.64], R16
  STL [R1], R14
  MEMBAR.SC.SYS
  ERRBAR
  MEMBAR.ALL.GPU
  CCTL.IVALL
  ISETP.NE.AND P0, PT, R14, RZ, PT
  @P0 ST.E.64.STRONG.SYS desc[UR4][R20.64], R16
  @!P0 ST.E.32.STRONG.SYS desc[UR4][R20.64], R16
  LDG.E.STRONG.GPU R22, desc[UR4][R24.64]
  EXIT
"""


class Counts(unittest.TestCase):
    def setUp(self):
        self.counts = counts.count(path(COUNTED, r"^ST\.E\.64"), doorbell=r"^ST\.E\.64")

    def test_tells_kinds_apart(self):
        self.assertEqual(self.counts["atomics"], {"gpu": 1, "cta": 1})
        self.assertEqual(self.counts["fences"], {"sc sys": 1, "gpu": 1, "errbar": 1, "L1 flush": 1})
        self.assertEqual(self.counts["stores"], {"16 B": 2, "1 B": 1, "stack 4 B": 1})
        self.assertEqual(self.counts["mmio"], 1)
        self.assertEqual(self.counts["loads"], {"weak": 1, "nc": 1, "generic sys": 1, "stack weak": 1, "gpu": 1})
        self.assertEqual(self.counts["constants"], 2)
        self.assertEqual(self.counts["instructions"], 21)

    def test_a_chain_goes_through_addresses(self):
        self.assertEqual(self.counts["chain"], 3)  # R4, R6, R8

    def test_a_round_trip_also_waits_at_a_fence_or_branch(self):
        self.assertEqual(self.counts["round_trips"], 4)  # those three, and behind the fence R22
        waits = "kernel:\n LDG.E R4, [R2.64]\n ISETP.NE.AND P0, PT, R4, RZ, PT\n @P0 BRA `(.L)\n.L:\n LDG.E R6, [R8.64]\n EXIT"
        self.assertEqual(counts.waits(path(waits)), (1, 2))
        together = "kernel:\n LDG.E R4, [R2.64]\n LDG.E R6, [R8.64]\n EXIT"
        self.assertEqual(counts.waits(path(together)), (1, 1))

if __name__ == "__main__":
    unittest.main()
