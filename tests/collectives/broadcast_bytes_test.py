"""How many bytes the busiest NIC of a broadcast sends: by blocks those of the source, by a tree as many for each of the root's children."""
import json
import os
import subprocess
import sys
import tempfile
import unittest

CHIME_RUN, PROGRAM = sys.argv[1:3]
BYTES = 1 << 20
OTHERS = 64 * 1024  # of arrivals, barriers and set-up


def bytes_of_busiest(pes, algorithm, size=BYTES, root=1):
    """RDMA writes of the NIC that sent most."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "counters")
        environment = dict(os.environ, CHIME_P2P="off", CHIME_COLL_BROADCAST=algorithm, SOFTNIC_COUNTERS=path)
        done = subprocess.run([CHIME_RUN, "-n", str(pes), PROGRAM, str(size), str(root)], env=environment, text=True, capture_output=True,
                              timeout=100, check=False)
        assert done.returncode == 0, done.stderr
        with open(path, encoding="utf-8") as file:
            lines = [json.loads(line) for line in file]
    assert len(lines) == pes, lines
    return max(line["to_peers"].get("RDMA_WRITE", {}).get("bytes", 0) for line in lines)


class Broadcast(unittest.TestCase):
    def test_by_blocks_no_member_sends_more_than_all_once(self):
        for pes in 3, 4, 5, 8:
            with self.subTest(pes=pes):
                sent = bytes_of_busiest(pes, "blocks")
                self.assertGreaterEqual(sent, BYTES)
                self.assertLess(sent, BYTES + OTHERS)

    def test_by_tree_the_root_sends_to_each_child(self):
        for pes, children in (3, 2), (4, 2), (8, 3):
            with self.subTest(pes=pes):
                sent = bytes_of_busiest(pes, "tree")
                self.assertGreaterEqual(sent, children * BYTES)
                self.assertLess(sent, children * BYTES + OTHERS)

    def test_what_is_long_goes_by_blocks(self):
        self.assertLess(bytes_of_busiest(4, "auto"), BYTES + OTHERS)

    def test_fewer_bytes_than_members_arrive(self):
        self.assertLess(bytes_of_busiest(5, "blocks", size=3, root=4), OTHERS)


unittest.main(argv=sys.argv[:1], verbosity=2)
