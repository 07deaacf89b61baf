"""What must not happen where hosts open ways (opening.py)."""

MOST_MESSAGES = 2   # of one PE to another: an offer, and a receipt or a refusal; or a refusal alone


def verdict(job, state, is_end):
    """What is wrong with a state, "" if nothing. `is_end`: no step leads on from it."""
    if state.wrong:
        return state.wrong
    ways = dict(state.ways)
    for (me, peer), way in state.ways:
        if me in state.gone:
            continue
        wrong = (wrong_messages(way) or wrong_places(state, me, peer, way) or wrong_posts(state, me, peer, way)
                 or is_end and wrong_end(job, state, ways, me, peer))
        if wrong:
            return wrong
    return ""


def wrong_messages(way):
    return "messages without end" if way.sent > MOST_MESSAGES else ""


def wrong_places(state, me, peer, way):
    held = [place for place in state.pools[me] if place.peer == peer]
    if len(held) > 1:
        return "two places for one peer"
    is_idle = held and held[0].leads_to is None
    return "a place is lost" if is_idle and way.state == "refused" else ""


def wrong_posts(state, me, peer, way):
    """Kernels may post by the way: what they meet."""
    if not way.answer:
        return ""
    mine = next((at for at, place in enumerate(state.pools[me]) if place.peer == peer), None)
    if mine is None or state.pools[me][mine].leads_to is None:
        return "a post by a queue pair that is not ready"
    if peer in state.gone:
        return ""
    _, theirs = state.pools[me][mine].leads_to
    heard = state.pools[peer][theirs].leads_to == (me, mine)
    return "" if heard else "a post to a queue pair that is not ready"


def wrong_end(job, state, ways, me, peer):
    way = ways[me, peer]
    if way.waits and way.answer is None or way.state in ("asked", "connecting"):
        return "waits for ever"
    if peer in state.gone or way.is_lost or ways[peer, me].is_lost:
        return ""
    if (way.state == "usable") != (ways[peer, me].state == "usable"):
        return "open for one only"
    if way.state == "refused" and not may_be_refused(job, me, peer):
        return "refused without a reason"
    return ""


def may_be_refused(job, me, peer):
    enough = len(job.places) - 1
    return (bool({(me, peer), (peer, me)} & (job.misfits | job.breaks))
            or min(job.places[me], job.places[peer]) < enough)
