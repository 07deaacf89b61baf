"""Explicit-state search: visits each reachable state once."""

import gc


class TooLarge(Exception):
    """The model has more states than a test may visit."""


def explore(start, moves, verdict, limit=3_000_000):
    """Visits all states. Returns (what is wrong with the first bad state or "", number of states seen)."""
    gc.disable()    # States hold no cycles, and the collector would scan all of them again and again.
    try:
        return _explore(start, moves, verdict, limit)
    finally:
        gc.enable()


def _explore(start, moves, verdict, limit):
    seen, stack = {start}, [start]
    count = 1
    while stack:
        state = stack.pop()
        following = list(moves(state))
        wrong = verdict(state, not following)
        if wrong:
            return wrong, count
        for after in following:
            seen.add(after)     # The set's size shows whether the state is new: this hashes a state only once.
            if len(seen) != count:
                count += 1
                stack.append(after)
        if count > limit:
            raise TooLarge(f"more than {limit} states")
    return "", count


def of_parts(record):
    """Gives a NamedTuple a faster `_replace`. A search spends most of its time there; one made for the record's fields takes
    a third of the time."""
    changed = ", ".join(f"{name}=same" for name in record._fields)
    parts = ", ".join(f"self[{i}] if {name} is same else {name}" for i, name in enumerate(record._fields))
    scope = {"same": object(), "new": tuple.__new__, "record": record}
    exec(f"def _replace(self, *, {changed}): return new(record, ({parts},))", scope)
    record._replace = scope["_replace"]
    return record
