"""How many bytes the busiest NIC of a call sends, where the PEs of a node map each other: by nodes each goes to another node once."""
import json
import os
import subprocess
import sys
import tempfile
import unittest

CHIME_RUN, PROGRAM = sys.argv[1:3]
BYTES = 1 << 20
OTHERS = 64 * 1024  # of arrivals, barriers and set-up
SHAPES = (2, 2), (4, 2), (2, 4)  # nodes, PEs of each


def bytes_of_busiest(call, shape, pes=None, **variables):
    """RDMA writes of the NIC that sent most. CHIME_P2P makes nodes of one host's PEs."""
    pes = pes or shape[0] * shape[1]
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "counters")
        environment = dict(os.environ, CHIME_P2P=str(shape[1]), SOFTNIC_COUNTERS=path, **variables)
        done = subprocess.run([CHIME_RUN, "-n", str(pes), PROGRAM, call, str(BYTES)], env=environment, text=True, capture_output=True,
                              timeout=100, check=False)
        assert done.returncode == 0, done.stderr
        with open(path, encoding="utf-8") as file:
            lines = [json.loads(line) for line in file]
    assert len(lines) == pes, lines
    return max(line["to_peers"].get("RDMA_WRITE", {}).get("bytes", 0) for line in lines)


class Bytes(unittest.TestCase):
    def assert_sent(self, wanted, call, shape, **variables):
        with self.subTest(call=call, shape=shape, **variables):
            sent = bytes_of_busiest(call, shape, **variables)
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
