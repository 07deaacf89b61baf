"""Explicit-state search: every state that can be reached, each once."""


class TooLarge(Exception):
    """The model has more states than a test may visit."""


def explore(start, moves, verdict, limit=3_000_000):
    """Visits all states. Returns (what is wrong with the first bad one or "", states seen)."""
    seen, stack = {start}, [start]
    while stack:
        state = stack.pop()
        following = list(moves(state))
        wrong = verdict(state, not following)
        if wrong:
            return wrong, len(seen)
        for after in following:
            if after not in seen:
                seen.add(after)
                stack.append(after)
        if len(seen) > limit:
            raise TooLarge(f"more than {limit} states")
    return "", len(seen)
