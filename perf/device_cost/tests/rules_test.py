"""Rules become landmarks: a mode changes an operation's words, and an operation has the last one."""
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import rules  # noqa: E402


class Rules(unittest.TestCase):
    RULES = {"modes": ["gpu", "block"], "never": ["NANOSLEEP"], "landmark": {"store": "^ST", "turn": "^LD"},
             "mode": {"gpu": {"landmark": {"turn": "^ATOM"}}, "block": {"never": ["GPU"], "kernel": "{operation}_cta"}}}

    def row(self, mode, **operation):
        return rules.row_of(self.RULES, "put", {"pass": ["2 store", "turn"], **operation}, mode)

    def test_a_mode_has_its_own_words(self):
        self.assertEqual([pattern.pattern for _, pattern in self.row("gpu").landmarks], ["^ST", "^ST", "^ATOM"])
        self.assertEqual([pattern.pattern for _, pattern in self.row("block").landmarks], ["^ST", "^ST", "^LD"])
        self.assertEqual([pattern.pattern for pattern in self.row("block").never], ["NANOSLEEP", "GPU"])
        self.assertEqual((self.row("gpu").kernel, self.row("block").kernel), ("put", "put_cta"))

    def test_an_operation_has_the_last_word(self):
        row = self.row("block", pass_block=["store"], never_block=[], parameters={"16": 4096})
        self.assertEqual(([name for name, _ in row.landmarks], len(row.never), row.parameters), (["store"], 1, {16: 4096}))

    def test_an_unknown_landmark_is_told(self):
        with self.assertRaisesRegex(rules.BadRules, "no landmark 'dorbell': there are store, turn"):
            self.row("gpu", **{"pass": ["dorbell"]})

if __name__ == "__main__":
    unittest.main()
