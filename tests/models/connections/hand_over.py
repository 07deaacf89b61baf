"""A host hands a path that it has opened over to kernels: include/chime/abi/openings.h, device/channel/opening.cuh.

A kernel's thread that finds no route to a peer looks for the host's answer. If there is none, it sets the peer's bit, adds one to
`asked` if the bit was not set, and waits for the answer. When `asked` has changed, the host looks for new bits and opens these paths.
For each it writes an entry (what the path's place leads to), then the answer. One thread that has the answer wins the place's claim:
it carries the entry over into the channels and sets the route's word. The others wait for this word.

An answer may also name channels that lead to many peers and were filled from the beginning. Then each thread that finds it sets the
word, all to the same value. A poster sets the channel's touched bit first, so that a quiet or a watch of any thread finds the channel.
The host also answers for peers that no kernel here has asked for.

`check` returns the first thing that must not happen: "read before it is filled" (the host's entry, or the channel), "carried over
twice", "a touched channel is missed", a thread that "waits for ever".

opening.py models how the hosts agree. This model lacks the first touch's look at the other channels of its peer, and `fresh`."""

from connections.hand_over_kernel import ENDS, thread_moves
from connections.hand_over_state import ANSWER, ASKED, ENTRY, FILLED, REFUSED, SHARED, WANTED, Access, Host, State, word
from memory import Strong, Weak
from search import explore


# ---- The host: host/transport/channels. Each step yields (host after, memory after). --------------


def idle(job, at, host):
    for asked, memory in at.load(ASKED, "asked's acquire"):
        if asked != host.seen:
            late = "counts after the bits" in job.faults
            yield host._replace(step="take", seen=host.seen if late else asked), memory
    for peer in range(job.count()):
        if job.unasked and peer not in host.answered:
            yield host._replace(step="open", bits=frozenset({peer})), at.memory


def take(job, at, host):
    following = "count" if "counts after the bits" in job.faults else "open"
    for bits, memory in at.load(WANTED):
        yield host._replace(step=following, taken=bits | host.taken, bits=bits - host.taken), memory


def count(job, at, host):
    for asked, memory in at.load(ASKED):
        yield host._replace(step="open", seen=asked), memory


def open_next(job, at, host):
    to_open = host.bits - host.answered
    if not to_open:
        yield host._replace(step="idle", bits=frozenset()), at.memory
        return
    peer = min(to_open)
    opened = host._replace(bits=to_open - {peer}, answered=host.answered | {peer}, peer=peer)
    yield opened._replace(step="answer" if "answer before the entry" in job.faults else "enter"), at.memory
    if job.may_refuse:
        yield opened._replace(step="refuse"), at.memory
    if job.may_share:
        yield opened._replace(step="share"), at.memory


def enter(job, at, host):
    following = "open" if "answer before the entry" in job.faults else "answer"
    for memory in at.store(word(host.peer, ENTRY), FILLED):
        yield host._replace(step=following), memory


def answer(job, at, host):
    following = "enter" if "answer before the entry" in job.faults else "open"
    for memory in at.store(word(host.peer, ANSWER), FILLED, "answer's release"):
        yield host._replace(step=following), memory


def refuse(job, at, host):
    for memory in at.store(word(host.peer, ANSWER), REFUSED, "answer's release"):
        yield host._replace(step="open"), memory


def share(job, at, host):
    for memory in at.store(word(host.peer, ANSWER), SHARED, "answer's release"):
        yield host._replace(step="open"), memory


STEPS = {"idle": idle, "take": take, "count": count, "open": open_next, "enter": enter, "answer": answer,
         "refuse": refuse, "share": share}


def host_moves(job, state):
    at = Access(job, state.memory, len(state.threads))
    for host, memory in STEPS[state.host.step](job, at, state.host):
        yield state._replace(host=host, memory=memory.trimmed())


# ---- The search -----------------------------------------------------------------------------------


def moves(job, state):
    if all(step in ENDS for step in state.threads):
        return
    yield from host_moves(job, state)
    for me, step in enumerate(state.threads):
        if step not in ENDS:
            yield from thread_moves(job, state, me)


def verdict(state, is_end):
    if state.wrong:
        return state.wrong
    return "waits for ever" if is_end and any(step not in ENDS for step in state.threads) else ""


def check(job):
    """(what is wrong or "", states)"""
    threads = ("look",) * len(job.peers) + ("watch",) * job.watchers + ("await post",) * job.syncs
    no_peers = frozenset()
    words = (0, no_peers, no_peers, 0) + (0,) * 5 * job.count()
    memory = Weak.of(words, len(threads) + 1, by_the_letter=True) if job.is_weak else Strong(words)
    return explore(State(threads, Host(), memory), lambda state: moves(job, state), verdict)
