"""critical_path_test.py <chime-trace>: what ended each wait and which steps there are, in timelines made by hand. Times are in microseconds."""
import json
import pathlib
import resource
import subprocess
import sys
import tempfile
import unittest

CHIME_TRACE = sys.argv[1]
MEMORY = 1 << 30  # a walk that never ends fills it in a moment
WAIT, PUT, BARRIER = "chime_signal_wait_until", "chime_put_signal", "chime_barrier_all"


class Events:
    """Each event has a track of its own."""

    def __init__(self, pes):
        self.pes, self.all = pes, []

    def add(self, owner, name, category, begin, end, **arguments):
        self.all.append({"ph": "X", "name": name, "cat": category, "pid": owner, "tid": len(self.all) + 1, "ts": begin, "dur": end - begin,
                         "args": arguments})
        return self.all[-1]

    def meet(self, owner, name, begin, end, **arguments):
        self.add(owner, name, "collective", begin, end, **{"team": 0, **arguments})

    def arrow(self, start, stop):
        for phase, event, time in (("s", start, start["ts"]), ("f", stop, stop["ts"] + stop["dur"])):
            self.all.append({"ph": phase, "name": "signal", "cat": "signal", "id": start["tid"], "pid": event["pid"], "tid": event["tid"], "ts": time})

    def steps(self, ends):
        for pe, end in enumerate(ends):
            self.add(pe, "step", "kernel", 0, end)


class Summary(unittest.TestCase):
    def run_it(self, events, *options, code=0):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder, "run.json")
            facts = {"format": "Chime timeline 1", "pes": events.pes, "dropped": 0}
            file.write_text(json.dumps({"otherData": facts, "traceEvents": events.all}), encoding="utf-8")
            run = subprocess.run([CHIME_TRACE, "summary", file, *options], capture_output=True, text=True, timeout=60, check=False,
                                 preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY)))
        self.assertEqual(run.returncode, code, run.stdout + run.stderr)
        return run.stdout

    def path(self, events, *options):
        """Its title, and its rows in words."""
        lines = [" ".join(line.split()) for line in self.run_it(events, *options).split("\n\n")[3].splitlines()]
        return lines[0], lines[2:]

    # The hosts' clocks differ by 5: PE 1's barrier begins after PE 0's has ended. From there the path would go round for ever.
    def test_a_path_never_goes_forward_in_time(self):
        events = Events(2)
        events.steps((130, 125))
        events.meet(0, BARRIER, 100, 110)
        events.meet(1, BARRIER, 115, 120)
        events.arrow(events.add(0, PUT, "signal", 113, 114.5), events.add(1, WAIT, "wait", 111, 114))
        self.assertEqual(self.path(events), ("Critical path of step 0 of 1 ('step', 0.130 ms, 0 messages)", ["0 step 0.130 100.0%"]))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
