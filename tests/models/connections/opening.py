"""Paths to peers that the hosts of two PEs open while kernels run: host/peers/README.md, "On demand".

A host that a kernel asks for a peer holds a QP set of its pool (here: a place) for the peer, and sends an offer. A host that has
the other's offer accepts it, which connects the place's queue pairs, and sends a receipt. A host that has accepted, and has the
other's receipt, lets kernels post. A host that has no place, or cannot accept, sends a refusal. Each function of an `Opener` is one
step: it holds a lock.

Messages from one PE to another arrive in order. A PE may die or leave at any time. Its messages may arrive or not, also after the
side channel has reported the loss to their receivers. A watch may have found the death before (`is_buried`). A PE may lose a peer
that lives: then no message passes between the two any more, and both get a report of the loss.

What must not happen:

- kernels may use a queue pair that is not connected, or whose peer's is not; a connected one is closed
- a peer has two places, or a place is held for nothing
- messages do not end
- an answer is taken back
- a path is open for one of the two only, or is refused without a reason
- a PE waits for ever
"""

from connections.opener import Opener
from connections.opening_state import Place, State, Path
from connections.opening_verdict import verdict
from search import explore


class Step(Opener):
    """One transition."""

    def do_late(self, late):
        self.late = tuple(other for other in self.late if other != late)
        getattr(self, late[1])(*late[2])

    # ---- The side channel, and PEs that die or leave

    def report_loss(self, me, peer):
        """The peer may live: then it gets a report too, as no message of this PE arrives any more."""
        self.pending.discard((me, peer))
        self.change(me, peer, is_lost=True)
        is_known_there = peer in self.gone or self.paths[peer, me].is_lost
        if not is_known_there and not self.has("a loss is kept to oneself"):
            self.wires.pop((peer, me), None)
            self.pending.add((peer, me))
        self.on_lost(me, peer)

    def cut(self, me, peer):
        self.wires.pop((me, peer), None)
        self.report_loss(me, peer)

    def bury(self, me, peer):
        self.change(me, peer, is_buried=True)

    def go(self, pe, arrives, is_reported=True):
        self.gone |= {pe}
        self.pools[pe] = ()
        self.unasked = frozenset(pair for pair in self.unasked if pair[0] != pe)
        self.late = tuple(late for late in self.late if late[2][0] != pe)
        self.wires = {ends: messages for ends, messages in self.wires.items()
                      if ends[1] != pe and (arrives or ends[0] != pe)}
        self.pending = {pair for pair in self.pending if pair[0] != pe}
        for me, peer in self.paths:
            if me == pe:
                self.paths[me, peer] = Path()   # no PE reads it any more
            elif peer == pe and me not in self.gone and not self.paths[me, peer].is_lost:
                if is_reported:
                    self.pending.add((me, peer))
                else:
                    self.change(me, peer, is_lost=True)

    def leave(self, pe):
        self.go(pe, True, is_reported=not self.has("a goodbye is not reported"))


def waits_for_room(job, state, me, peer):
    """By a fault: where there is no place, the initiator waits until one is free."""
    return ("waits for a place" in job.faults and dict(state.paths)[me, peer].state == "unknown"
            and not Step(job, state).has_room(me, peer))


def steps(job, state):
    """(method, arguments) of each step that may come next."""
    yield from (("do_late", (late,)) for late in state.late)
    busy = {arguments[0] for holds_lock, _, arguments in state.late if holds_lock}
    for me, peer in state.unasked:
        if me not in busy and not waits_for_room(job, state, me, peer):
            yield "want", (me, peer)
    for (sender, to), messages in state.wires:
        if to not in busy and not (messages[0][0] == "offer" and waits_for_room(job, state, to, sender)):
            yield "receive", (sender, to, messages[0])
    for me, peer in state.pending:
        if me not in busy:
            yield "report_loss", (me, peer)
    yield from ends(job, state)


def ends(job, state):
    for pe in (job.mortal | job.leavers) - state.gone:
        if len(state.gone) < job.deaths:
            yield from [("go", (pe, True)), ("go", (pe, False))] if pe in job.mortal else [("leave", (pe,))]
    for (me, peer), path in state.paths:
        if me in state.gone:
            continue
        if job.is_watched and peer in state.gone and not path.is_buried:
            yield "bury", (me, peer)
        if (me, peer) in job.cuts and not path.is_lost and peer not in state.gone:
            yield "cut", (me, peer)


def moves(job, state):
    for name, arguments in steps(job, state):
        step = Step(job, state)
        if name == "receive":
            sender, to, _ = arguments
            step.wires[sender, to] = step.wires[sender, to][1:]
        getattr(step, name)(*arguments)
        yield step.done()


def check(job):
    """(what is wrong or "", states)"""
    pes = range(len(job.places))
    start = State(tuple(((me, peer), Path()) for me in pes for peer in pes if me != peer),
                  tuple((Place(),) * places for places in job.places), unasked=frozenset(job.wants))
    return explore(start, lambda state: moves(job, state), lambda state, is_end: verdict(job, state, is_end))
