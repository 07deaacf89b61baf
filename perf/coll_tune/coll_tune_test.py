"""What coll_tune makes of figures: coll_tune_test.py <coll_tune>."""
import importlib.machinery
import importlib.util
import sys
import unittest

loader = importlib.machinery.SourceFileLoader("coll_tune", sys.argv.pop(1))
coll_tune = importlib.util.module_from_spec(importlib.util.spec_from_loader("coll_tune", loader))
sys.dont_write_bytecode = True
loader.exec_module(coll_tune)

REDUCE = {"call": "reduce", "few": "slots", "many": "blocks", "from": 1 << 59}


class Settings(unittest.TestCase):
    def setting(self, row, few, many, pes=4, by_multimem=None):
        sizes = [4 << i for i in range(len(few))]
        return coll_tune.setting(row, sizes, pes, dict(zip(sizes, few)), dict(zip(sizes, many)),
                                 by_multimem and dict(zip(sizes, by_multimem)))

    def test_the_second_algorithm_begins_where_it_wins_at_all_larger_sizes(self):
        self.assertEqual(self.setting(REDUCE, [2, 2, 2, 2], [1, 3, 1, 3]), "32")

    def test_what_wins_everywhere_begins_at_the_least_size_that_was_measured(self):
        self.assertEqual(self.setting(REDUCE, [1, 1, 1], [2, 2, 2]), "4")

    def test_what_wins_nowhere_is_never_taken(self):
        self.assertEqual(self.setting(REDUCE, [2, 2, 2], [1, 3, 2]), "slots")

    def test_sizes_that_the_first_one_cannot_take_say_nothing(self):
        fcollect = {"call": "fcollect", "few": "slots", "many": "direct", "from": 9}
        self.assertEqual(self.setting(fcollect, [1, 1, 9], [2, 2, 1]), "4")
        self.assertEqual(self.setting(fcollect, [2, 2, 1], [1, 1, 9]), "9")
        self.assertEqual(self.setting(fcollect, [2, 2], [1, 1]), "slots")

    def test_multimem_is_taken_where_it_wins_everywhere(self):
        self.assertEqual(self.setting(REDUCE, [1, 1, 1], [2, 2, 2], by_multimem=[3, 3, 3]), "multimem")
        self.assertEqual(self.setting(REDUCE, [1, 1, 1], [2, 2, 2], by_multimem=[3, 2, 3]), "4")

    def test_a_team_without_a_second_one_takes_the_first(self):
        self.assertEqual(self.setting(dict(REDUCE, **{"from": None}), [1, 1, 1], [2, 2, 2]), "slots")

    def test_a_reducescatter_counts_the_bytes_of_all_blocks(self):
        row = dict(REDUCE, call="reducescatter")
        self.assertEqual(self.setting(row, [2, 1, 1], [1, 2, 2], pes=4), "32")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]], verbosity=2)
