"""The kernels' part in opening a path (hand_over.py has the whole): device/channel/opening.cuh, and threads that look for
touched channels."""

from connections.hand_over_state import (ANSWER, ASKED, CHANNEL, CLAIM, ENTRY, FILLED, OPENED, POSTED, REFUSED, SHARED,
                                         TOUCHED, WANTED, Access, word)

# ---- A kernel's thread. Each step yields (step after, memory after, what else changes). -----------


def look(job, at, peer):
    for route, memory in at.load(word(peer, OPENED), "route's acquire"):
        yield by_route(route) if route else "find answer", memory, {}


# A shared channel has a touched bit of its own, not the peer's.
def by_route(route):
    return "post to many" if route == SHARED else "touch"


def find_answer(job, at, peer):
    for answer, memory in at.load(word(peer, ANSWER), "answer's acquire"):
        first = "count" if "counted before the bit" in job.faults else "ask"
        yield after_answer(job, answer) if answer else first, memory, {}


def after_answer(job, answer):
    if answer == REFUSED:
        return "refused"
    if answer == SHARED:
        return "claim" if "shared channels are claimed" in job.faults else "go by"
    return "read entry" if "no claim" in job.faults else "claim"


def ask(job, at, peer):
    for bits, memory in at.update(WANTED, lambda bits: bits | {peer}):
        is_counted = peer in bits or "counted before the bit" in job.faults
        yield "await answer" if is_counted else "count", memory, {}


def count(job, at, peer):
    following = "ask" if "counted before the bit" in job.faults else "await answer"
    for _, memory in at.update(ASKED, lambda asked: asked + 1, "asked's release"):
        yield following, memory, {}
    if "ends before it counts" in job.faults:
        yield "left", at.memory, {}


def await_answer(job, at, peer):
    for answer, memory in at.load(word(peer, ANSWER), "answer's acquire"):
        if answer:
            yield after_answer(job, answer), memory, {}
    if job.give_up:
        yield "left", at.memory, {}


def claim(job, at, peer):
    for taken, memory in at.update(word(peer, CLAIM), lambda taken: None if taken else 1):
        yield "await route" if taken else "read entry", memory, {}


def read_entry(job, at, peer):
    early = "route before the channels" in job.faults
    wrong = "" if at.finds_only(word(peer, ENTRY), lambda entry: entry == FILLED) else "read before it is filled"
    yield "open" if early else "fill", at.memory, {"wrong": wrong}


def fill(job, at, peer):
    for memory in at.store(word(peer, CHANNEL), FILLED):
        yield "touch" if "route before the channels" in job.faults else "open", memory, {"carries": peer}
    if "ends before it has carried over" in job.faults:
        yield "left", at.memory, {}


def open_route(job, at, peer):
    for memory in at.store(word(peer, OPENED), FILLED, "route's release"):
        yield "fill" if "route before the channels" in job.faults else "touch", memory, {}


def go_by(job, at, peer):
    for memory in at.store(word(peer, OPENED), SHARED, "route's release"):
        yield "post to many", memory, {}


def post_to_many(job, at, peer):
    is_right = at.finds_only(word(peer, OPENED), lambda route: route in (0, SHARED))
    yield "done", at.memory, {"wrong": "" if is_right else "two paths to one peer"}


def await_route(job, at, peer):
    for route, memory in at.load(word(peer, OPENED), "route's acquire"):
        if route:
            yield by_route(route), memory, {}


def touch(job, at, peer):
    for _, memory in at.update(TOUCHED, lambda bits: bits | {peer}, "touch's release"):
        yield "post", memory, {}


def post(job, at, peer):
    yield "signal" if job.syncs and at.me == 0 else "done", at.memory, {"wrong": wrong_channel(at, peer)}


def signal(job, at, peer):
    for memory in at.store(POSTED, 1, "sync's release"):
        yield "done", memory, {}


def wrong_channel(at, peer):
    is_filled = at.finds_only(word(peer, CHANNEL), lambda channel: channel == FILLED)
    return "" if is_filled else "read before it is filled"


# ---- Threads that look which channels are touched -------------------------------------------------


def watch(job, at, _):
    for bits, memory in at.load(TOUCHED, "touched bits' acquire"):
        looking = Access(job, memory, at.me)
        wrong = [wrong_channel(looking, peer) for peer in bits]
        yield "done", memory, {"wrong": max(wrong, default="")}


def await_post(job, at, _):
    for posted, memory in at.load(POSTED, "sync's acquire"):
        if posted:
            yield "quiet", memory, {}


def quiet(job, at, _):
    for after, memory, changes in watch(job, at, _):
        sees_all = at.finds_only(TOUCHED, lambda bits: job.peers[0] in bits)
        yield after, memory, changes if sees_all else {"wrong": "a touched channel is missed"}


STEPS = {"look": look, "find answer": find_answer, "ask": ask, "count": count,
         "await answer": await_answer, "claim": claim, "read entry": read_entry, "fill": fill, "open": open_route,
         "await route": await_route, "go by": go_by, "post to many": post_to_many, "touch": touch, "post": post,
         "signal": signal, "watch": watch, "await post": await_post, "quiet": quiet}
ENDS = ("done", "left", "refused")


def thread_moves(job, state, me):
    at = Access(job, state.memory, me)
    peer = job.peers[me] if me < len(job.peers) else None
    for after, memory, changes in STEPS[state.threads[me]](job, at, peer):
        if after in ENDS:
            memory = memory.leave(me)
        carries = changes.get("carries")
        wrong = changes.get("wrong") or ("carried over twice" if carries in state.carried else "")
        carried = state.carried if carries is None else state.carried | {carries}
        yield state._replace(threads=state.threads[:me] + (after,) + state.threads[me + 1:], memory=memory.trimmed(),
                             carried=carried, wrong=wrong)
