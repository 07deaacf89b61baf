"""Ways to peers that the hosts of two PEs open while kernels run: host/peers/README.md, "On demand".

A host that is asked for a peer holds a place of its pool for it and sends an offer; who has the other's offer accepts it, by
which the place's queue pairs are connected, and sends a receipt; who has accepted and has the other's receipt lets kernels
post. Who has no place, or cannot accept, sends a refusal. Each function of an `Opener` is one step: it holds a lock.

Messages of one PE to another arrive in order. A PE may die or leave at any time; what it has sent may arrive or not, also
after the others have been told of the loss; a watch may have told them before (`is_buried`). A PE may lose a peer that lives:
nothing it has sent arrives any more. It then hears nothing of the peer either, which is told as well.

What must not happen: a queue pair that kernels may use and that is not connected, or to one that is not; one closed that was;
two places for one peer, or one that is held for nothing; messages without end; an answer that is taken back; a way that is
open for one only, or refused without a reason; somebody who waits for ever."""

from opener import Opener
from opening_state import Place, State, Way
from opening_verdict import verdict
from search import explore


class Step(Opener):
    """One transition."""

    def do_late(self, late):
        self.late = tuple(other for other in self.late if other != late)
        getattr(self, late[1])(*late[2])

    # ---- The side channel, and those who go

    def tell_of_loss(self, me, peer):
        """Of a peer that lives, too: then it hears of it, as nothing comes from it any more."""
        self.untold.discard((me, peer))
        self.change(me, peer, is_lost=True)
        is_known_there = peer in self.gone or self.ways[peer, me].is_lost
        if not is_known_there and not self.has("a loss is kept to oneself"):
            self.wires.pop((peer, me), None)
            self.untold.add((peer, me))
        self.on_lost(me, peer)

    def cut(self, me, peer):
        self.wires.pop((me, peer), None)
        self.tell_of_loss(me, peer)

    def bury(self, me, peer):
        self.change(me, peer, is_buried=True)

    def go(self, pe, arrives, is_told=True):
        self.gone |= {pe}
        self.pools[pe] = ()
        self.unasked = frozenset(pair for pair in self.unasked if pair[0] != pe)
        self.late = tuple(late for late in self.late if late[2][0] != pe)
        self.wires = {ends: messages for ends, messages in self.wires.items()
                      if ends[1] != pe and (arrives or ends[0] != pe)}
        self.untold = {pair for pair in self.untold if pair[0] != pe}
        for me, peer in self.ways:
            if me == pe:
                self.ways[me, peer] = Way()     # nobody looks at it any more
            elif peer == pe and me not in self.gone and not self.ways[me, peer].is_lost:
                if is_told:
                    self.untold.add((me, peer))
                else:
                    self.change(me, peer, is_lost=True)

    def leave(self, pe):
        self.go(pe, True, is_told=not self.has("a goodbye tells nobody"))


def waits_for_room(job, state, me, peer):
    """By a fault: where there is no place, an asker is left waiting until there is one."""
    return ("waits for a place" in job.faults and dict(state.ways)[me, peer].state == "unknown"
            and not Step(job, state).has_room(me, peer))


def steps(job, state):
    """(method, arguments) of what may happen next."""
    yield from (("do_late", (late,)) for late in state.late)
    busy = {arguments[0] for holds_lock, _, arguments in state.late if holds_lock}
    for me, peer in state.unasked:
        if me not in busy and not waits_for_room(job, state, me, peer):
            yield "want", (me, peer)
    for (sender, to), messages in state.wires:
        if to not in busy and not (messages[0][0] == "offer" and waits_for_room(job, state, to, sender)):
            yield "receive", (sender, to, messages[0])
    for me, peer in state.untold:
        if me not in busy:
            yield "tell_of_loss", (me, peer)
    yield from ends(job, state)


def ends(job, state):
    for pe in (job.mortal | job.leavers) - state.gone:
        if len(state.gone) < job.deaths:
            yield from [("go", (pe, True)), ("go", (pe, False))] if pe in job.mortal else [("leave", (pe,))]
    for (me, peer), way in state.ways:
        if me in state.gone:
            continue
        if job.is_watched and peer in state.gone and not way.is_buried:
            yield "bury", (me, peer)
        if (me, peer) in job.cuts and not way.is_lost and peer not in state.gone:
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
    start = State(tuple(((me, peer), Way()) for me in pes for peer in pes if me != peer),
                  tuple((Place(),) * places for places in job.places), unasked=frozenset(job.wants))
    return explore(start, lambda state: moves(job, state), lambda state, is_end: verdict(job, state, is_end))
