"""How many bytes the busiest NIC of a broadcast sends: by blocks those of the source, by a tree as many for each of the root's children."""
import sys
import unittest

from busiest_nic import bytes_of_busiest

CHIME_RUN, PROGRAM = sys.argv[1:3]
BYTES = 1 << 20
OTHERS = 64 * 1024  # of arrivals, barriers and set-up


def sent_by_busiest(pes, algorithm, size=BYTES, root=1):
    return bytes_of_busiest([CHIME_RUN, "-n", str(pes), PROGRAM, str(size), str(root)], pes, CHIME_P2P="off", CHIME_COLL_BROADCAST=algorithm)


class Broadcast(unittest.TestCase):
    def test_by_blocks_no_member_sends_more_than_all_once(self):
        for pes in 3, 4, 5, 8:
            with self.subTest(pes=pes):
                sent = sent_by_busiest(pes, "blocks")
                self.assertGreaterEqual(sent, BYTES)
                self.assertLess(sent, BYTES + OTHERS)

    def test_by_tree_the_root_sends_to_each_child(self):
        for pes, children in (3, 2), (4, 2), (8, 3):
            with self.subTest(pes=pes):
                sent = sent_by_busiest(pes, "tree")
                self.assertGreaterEqual(sent, children * BYTES)
                self.assertLess(sent, children * BYTES + OTHERS)

    def test_what_is_long_goes_by_blocks(self):
        self.assertLess(sent_by_busiest(4, "auto"), BYTES + OTHERS)

    def test_fewer_bytes_than_members_arrive(self):
        self.assertLess(sent_by_busiest(5, "blocks", size=3, root=4), OTHERS)


unittest.main(argv=sys.argv[:1], verbosity=2)
