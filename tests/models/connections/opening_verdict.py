"""What must not happen where hosts open paths (opening.py)."""

MOST_MESSAGES = 2   # from one PE to another: an offer, and a receipt or a refusal; or a refusal alone


def verdict(job, state, is_end):
    """What is wrong with a state, "" if nothing. `is_end`: no step follows it."""
    if state.wrong:
        return state.wrong
    paths = dict(state.paths)
    for (me, peer), path in state.paths:
        if me in state.gone:
            continue
        wrong = (wrong_messages(path) or wrong_places(state, me, peer, path) or wrong_posts(state, me, peer, path)
                 or is_end and wrong_end(job, state, paths, me, peer))
        if wrong:
            return wrong
    return ""


def wrong_messages(path):
    return "messages without end" if path.sent > MOST_MESSAGES else ""


def wrong_places(state, me, peer, path):
    held = [place for place in state.pools[me] if place.peer == peer]
    if len(held) > 1:
        return "two places for one peer"
    is_idle = held and held[0].leads_to is None
    return "a place is lost" if is_idle and path.state == "refused" else ""


def wrong_posts(state, me, peer, path):
    """What is wrong with the queue pairs of a path that kernels may use."""
    if not path.answer:
        return ""
    mine = next((at for at, place in enumerate(state.pools[me]) if place.peer == peer), None)
    if mine is None or state.pools[me][mine].leads_to is None:
        return "a post by a queue pair that is not ready"
    if peer in state.gone:
        return ""
    _, theirs = state.pools[me][mine].leads_to
    heard = state.pools[peer][theirs].leads_to == (me, mine)
    return "" if heard else "a post to a queue pair that is not ready"


def wrong_end(job, state, paths, me, peer):
    path = paths[me, peer]
    if path.waits and path.answer is None or path.state in ("asked", "connecting"):
        return "waits for ever"
    if peer in state.gone or path.is_lost or paths[peer, me].is_lost:
        return ""
    if (path.state == "usable") != (paths[peer, me].state == "usable"):
        return "open for one only"
    if path.state == "refused" and not may_be_refused(job, me, peer):
        return "refused without a reason"
    return ""


def may_be_refused(job, me, peer):
    enough = len(job.places) - 1
    return (bool({(me, peer), (peer, me)} & (job.misfits | job.breaks))
            or min(job.places[me], job.places[peer]) < enough)
