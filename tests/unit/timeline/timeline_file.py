"""Reads a timeline, and checks what must hold for every one: the schema of Chrome's trace-event format, that events nest on each track, and
that each arrow has both ends, in order, and leads to an event that begins no earlier than its first one. Shares no code with what writes it."""
import bisect
import collections
import json


class Bad(AssertionError):
    pass


def need(condition, *words):
    if not condition:
        raise Bad(" ".join(str(word) for word in words))


class Timeline:
    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            self.json = json.load(file)
        need(isinstance(self.json, dict) and isinstance(self.json["traceEvents"], list), "no list traceEvents")
        self.facts = self.json["otherData"]
        self.events = self.json["traceEvents"]
        self.drawn = [e for e in self.events if e["ph"] == "X"]
        self.on_tracks = [e for e in self.drawn if e["cat"] != "arrival"]  # which shows a signal in the wait that it ended
        self.spans = self.on_tracks + self.requests()
        self.check_schema()
        self.check_nesting()
        self.arrows = self.check_arrows()
        need(self.facts["events"] == len(self.spans), "events:", self.facts["events"], "and", len(self.spans))

    # Nanoseconds: what the file has to the last digit.
    @staticmethod
    def begin(event):
        return round(event["ts"] * 1000)

    @classmethod
    def end(cls, event):
        return cls.begin(event) + round(event["dur"] * 1000)

    # Those of all queues lie on no track.
    def requests(self):
        ends = {}
        for event in self.events:
            if event["ph"] == "e":
                need(event["id2"]["local"] not in ends, "a request with two ends:", event)
                ends[event["id2"]["local"]] = event
        found = []
        for event in self.events:
            if event["ph"] == "b":
                end = ends.pop(event["id2"]["local"], None)
                need(end is not None, "a request without an end:", event)
                need(all(end[key] == event[key] for key in ("name", "cat", "pid")), "another request's end:", event, end)
                need(self.begin(event) <= self.begin(end), "a request that ends before it begins:", event)
                found.append({**event, "dur": (self.begin(end) - self.begin(event)) / 1000})
        need(not ends, "ends of no request:", ends)
        return found

    def check_schema(self):
        names = {}
        processes = set()
        for event in self.events:
            need(event["ph"] in ("X", "M", "s", "f", "b", "e"), "phase", event)
            need(isinstance(event["name"], str) and event["name"], "name", event)
            need(isinstance(event["pid"], int) and isinstance(event["tid"], int), "pid, tid", event)
            if event["ph"] == "M":
                if event["name"] == "thread_name":
                    need(event["tid"] not in names, "a track named twice", event)
                    names[event["tid"]] = (event["pid"], event["args"]["name"])
                if event["name"] == "process_name":
                    processes.add(event["pid"])
                continue
            need(isinstance(event["ts"], (int, float)) and event["ts"] >= 0, "ts", event)
            need(isinstance(event["cat"], str), "cat", event)
            if event["ph"] == "X":
                need(isinstance(event["dur"], (int, float)) and event["dur"] >= 0, "dur", event)
            if event["ph"] in ("X", "b"):
                need(isinstance(event["args"], dict), "args", event)
            if event["ph"] in ("s", "f"):
                need(isinstance(event["id"], int), "id", event)
        for event in self.events:
            if event["ph"] in ("b", "e"):
                need(event["pid"] in processes, "its PE has no name", event)
            elif event["ph"] != "M":
                need(names.get(event["tid"], (None,))[0] == event["pid"], "its track is another PE's, or has no name", event)
                need(event["pid"] in processes, "its PE has no name", event)
        self.track_names = {tid: name for tid, (_, name) in names.items()}

    def check_nesting(self):
        tracks = collections.defaultdict(list)
        for span in self.drawn:
            tracks[span["tid"]].append(span)
        for spans in tracks.values():
            spans.sort(key=lambda span: (self.begin(span), -self.end(span)))
            around = []
            for span in spans:
                while around and around[-1] <= self.begin(span):
                    around.pop()
                need(not around or self.end(span) <= around[-1], "does not nest on its track:", span)
                around.append(self.end(span))

    # The innermost event of a track at a time.
    def at(self, end, by_track):
        spans = by_track[end["tid"]]
        at = self.begin(end)
        after = bisect.bisect_right(spans, at, key=self.begin)
        for span in reversed(spans[max(0, after - 1000):after]):
            if at <= self.end(span):
                return span
        raise Bad(f"an end of an arrow lies in no event: {end}")

    def sorted_by_track(self, spans):
        by_track = collections.defaultdict(list)
        for span in sorted(spans, key=self.begin):
            by_track[span["tid"]].append(span)
        return by_track

    def check_arrows(self):
        by_track, drawn = self.sorted_by_track(self.on_tracks), self.sorted_by_track(self.drawn)
        ends = {"s": {}, "f": {}}
        for event in self.events:
            if event["ph"] in ends:
                need(event["id"] not in ends[event["ph"]], "an arrow with two such ends:", event)
                ends[event["ph"]][event["id"]] = event
        need(ends["s"].keys() == ends["f"].keys(), "arrows with one end")
        arrows = []
        for number, start in ends["s"].items():
            stop = ends["f"][number]
            need(stop.get("bp") == "e", "an arrow that does not end in its event:", stop)
            need(self.begin(start) <= self.begin(stop), "an arrow that ends before it begins:", start, stop)
            # Perfetto draws an arrow from the event that begins first.
            need(self.begin(self.at(start, drawn)) <= self.begin(self.at(stop, drawn)), "an arrow that is drawn backwards:", start, stop)
            arrows.append((self.at(start, by_track), self.at(stop, by_track)))
        return arrows

    def count(self, category, name, pe=None):
        return sum(s["cat"] == category and s["name"] == name and pe in (None, s["pid"]) for s in self.spans)

    def categories(self):
        return collections.Counter(span["cat"] for span in self.spans)
