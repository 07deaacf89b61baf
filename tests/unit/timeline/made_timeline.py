"""Timelines made by hand, for tests of chime-trace's tables. Times are in microseconds."""
import json
import pathlib
import resource
import subprocess
import tempfile
import unittest

MEMORY = 1 << 30  # a walk that never ends fills it in a moment
WAIT, PUT, BARRIER, BROADCAST = "chime_signal_wait_until", "chime_put_signal", "chime_barrier_all", "chime_broadcast"


class Events:
    """Each span has a track of its own, unless it is `beside` another."""

    def __init__(self, pes, dropped=0):
        self.facts = {"format": "Chime timeline 1", "pes": pes, "dropped": dropped}
        self.all, self.arrows = [], 0

    def span(self, owner, name, category, begin, end, beside=None, **arguments):
        track = beside["tid"] if beside else len(self.all) + 1
        self.all.append({"ph": "X", "name": name, "cat": category, "pid": owner, "tid": track, "ts": begin, "dur": end - begin, "args": arguments})
        return self.all[-1]

    def meet(self, owner, name, begin, end, **arguments):
        self.span(owner, name, "collective", begin, end, **{"team": 0, **arguments})

    def steps(self, ends):
        for pe, end in enumerate(ends):
            self.span(pe, "step", "kernel", 0, end)

    def request(self, owner, name, begin, end):
        """Of a NIC: it has no track."""
        for phase, time, more in (("b", begin, {"args": {}}), ("e", end, {})):
            self.all.append({"ph": phase, "name": name, "cat": "nic", "pid": owner, "tid": 0, "ts": time, "id2": {"local": name}, **more})

    def arrow(self, start, stop, at=None):
        self.arrows += 1
        for phase, span, time in (("s", start, at or start["ts"]), ("f", stop, stop["ts"] + stop["dur"])):
            self.all.append({"ph": phase, "name": "signal", "cat": "signal", "id": self.arrows, "pid": span["pid"], "tid": span["tid"], "ts": time})

    def message(self, sender, sent, receiver, begin, end):
        """A wait of `receiver` from `begin` to `end`, and the sender's put that ended it. It shows in the wait if it was late."""
        put, wait = self.span(sender, PUT, "signal", sent, end), self.span(receiver, WAIT, "wait", begin, end)
        if sent > begin:
            self.span(receiver, f"signal of PE {sender}", "arrival", end - 0.001, end, beside=wait)
        self.arrow(put, wait)


class SummaryTest(unittest.TestCase):
    program = None  # chime-trace

    def run_it(self, events, *options, code=0, to=subprocess.PIPE):
        """What it prints; if it ends with another code than 0, its error. `to`: where what it prints goes."""
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder, "run.json")
            file.write_text(json.dumps({"otherData": events.facts, "traceEvents": events.all}), encoding="utf-8")
            run = subprocess.run([self.program, "summary", file, *options], stdout=to, stderr=subprocess.PIPE, text=True, timeout=60, check=False,
                                 preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY)))
        self.assertEqual(run.returncode, code, f"{run.stdout}{run.stderr}")
        return run.stdout if code == 0 else run.stderr

    def table(self, events, number, *options):
        """Its title, and its rows in words."""
        lines = [" ".join(line.split()) for line in self.run_it(events, *options).split("\n\n")[number].splitlines()]
        return lines[0], lines[2:]

    def path(self, events, *options):
        return self.table(events, 3, *options)
