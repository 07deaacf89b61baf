"""How many bytes the busiest NIC of a call sends, where the PEs of a node map each other: by nodes each goes to another node once."""
import sys
import unittest

from busiest_nic import bytes_of_busiest

CHIME_RUN, PROGRAM = sys.argv[1:3]
BYTES = 1 << 20
OTHERS = 64 * 1024  # of arrivals, barriers and set-up
SHAPES = (2, 2), (4, 2), (2, 4)  # nodes, PEs of each


def sent_by_busiest(call, shape, pes=None, **variables):
    """CHIME_P2P makes nodes of one host's PEs; as many PEs as the shape says, or `pes`, so that the last node has fewer."""
    pes = pes or shape[0] * shape[1]
    return bytes_of_busiest([CHIME_RUN, "-n", str(pes), PROGRAM, call, str(BYTES)], pes, CHIME_P2P=str(shape[1]), **variables)


class Bytes(unittest.TestCase):
    def assert_sent(self, wanted, call, shape, **variables):
        with self.subTest(call=call, shape=shape, **variables):
            sent = sent_by_busiest(call, shape, **variables)
            print(call, shape, variables, sent)
            self.assertGreaterEqual(sent, wanted)
            self.assertLess(sent, wanted + OTHERS)

    def test_an_fcollect_sends_a_block_to_each_other_node(self):
        for nodes, members in SHAPES:
            self.assert_sent((nodes - 1) * BYTES, "fcollect", (nodes, members), CHIME_COLL_FCOLLECT="nodes")
            self.assert_sent((nodes - 1) * members * BYTES, "fcollect", (nodes, members), CHIME_COLL_FCOLLECT="direct")

    def test_a_reduction_sends_blocks_of_a_part_twice(self):
        for nodes, members in SHAPES:
            block = BYTES // nodes // members
            for call in "reduce", "reduce_in_place":
                self.assert_sent(2 * (nodes - 1) * block, call, (nodes, members), CHIME_COLL_REDUCE="nodes")
            self.assert_sent(2 * (nodes - 1) * members * block, "reduce", (nodes, members), CHIME_COLL_REDUCE="blocks")

    def test_unequal_nodes_go_as_other_teams(self):
        # Nodes of 4 and 2 PEs: one of the second node sends to 4 by NIC.
        self.assert_sent(4 * BYTES, "fcollect", (2, 4), pes=6, CHIME_COLL_FCOLLECT="nodes")
        self.assert_sent(2 * 4 * (BYTES // 6), "reduce", (2, 4), pes=6, CHIME_COLL_REDUCE="nodes")

    def test_what_is_long_goes_by_nodes(self):
        self.assert_sent(BYTES, "fcollect", (2, 2))
        self.assert_sent(BYTES // 2, "reduce", (2, 2))


unittest.main(argv=sys.argv[:1], verbosity=2)
