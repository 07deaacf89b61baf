"""A host's part in opening paths (opening.py has the whole): the functions of host/peers/opener.cpp, and its places."""

from connections.opening_state import Place, State


class Opener:
    """All PEs' openers, with their places: a writable copy of a state. A function is one step."""

    def __init__(self, job, state):
        self.job = job
        self.paths, self.pools, self.wires = dict(state.paths), list(state.pools), dict(state.wires)
        self.pending, self.gone, self.unasked = set(state.pending), state.gone, state.unasked
        self.late, self.wrong = state.late, ""

    def done(self):
        return State(tuple(self.paths.items()), tuple(self.pools),
                     tuple(sorted([wire for wire in self.wires.items() if wire[1]])), frozenset(self.pending),
                     self.gone, self.unasked, self.late, self.wrong)

    def has(self, fault):
        return fault in self.job.faults

    def change(self, me, peer, **changes):
        self.paths[me, peer] = self.paths[me, peer]._replace(**changes)

    # ---- Places

    def has_room(self, me, peer):
        return any(place.peer in (None, peer) for place in self.pools[me])

    def hold(self, me, peer):
        """Holds a place for the peer: the one that it has, or a free one. Returns its index."""
        held = [place.peer for place in self.pools[me]]
        again = peer in held and not self.has("a second place for crossing offers")
        at = held.index(peer if again else None)
        self.set_place(me, at, self.pools[me][at]._replace(peer=peer))
        return at

    def set_place(self, me, at, place):
        self.pools[me] = self.pools[me][:at] + (place,) + self.pools[me][at + 1:]

    def withdraw(self, me, peer):
        for at, place in enumerate(self.pools[me]):
            if place.peer != peer or self.has("a place is not freed"):
                continue
            if place.leads_to is None:
                self.set_place(me, at, Place())
            elif self.has("connected places are freed"):
                self.set_place(me, at, Place())
                self.wrong = "a live queue pair is closed"

    # ---- Messages

    def send(self, me, to, *message):
        path = self.paths[me, to]
        if path.is_lost:
            if path.state in ("asked", "connecting"):
                self.refuse(me, to)
            return
        self.change(me, to, sent=path.sent + 1)
        if to in self.gone:
            self.pending.add((me, to))
        elif (me, to) not in self.pending:
            self.wires[me, to] = self.wires.get((me, to), ()) + (message,)

    def receive(self, sender, me, message):
        kind, *content = message
        if kind == "offer":
            self.on_offer(me, sender, *content)
        elif kind == "receipt":
            self.on_receipt(me, sender)
        else:
            self.on_refusal(me, sender)

    # ---- The opener

    def answer(self, me, peer, is_reached):
        if self.paths[me, peer].answer is not None:
            self.wrong = "answered twice"
        self.change(me, peer, answer=is_reached)

    def refuse(self, me, peer):
        if self.paths[me, peer].state == "asked" or self.has("connected places are freed"):
            self.withdraw(me, peer)
        self.change(me, peer, state="refused")
        self.answer(me, peer, False)

    def want(self, me, peer):
        path = self.paths[me, peer]
        self.unasked -= {(me, peer)}
        self.change(me, peer, waits=True)
        if path.state != "unknown" or path.is_buried and self.has("no answer for a dead peer"):
            return
        if path.is_buried or not self.has_room(me, peer):
            self.refuse(me, peer)
            return
        self.change(me, peer, state="asked")
        offer = (me, peer, "offer", self.hold(me, peer))
        if self.has("an offer outside the lock"):
            self.late += ((False, "send", offer),)
        else:
            self.send(*offer)

    def on_offer(self, me, peer, theirs):
        state = "buried" if self.paths[me, peer].is_buried else self.paths[me, peer].state
        if state == "unknown" and not self.has_room(me, peer):
            self.refuse(me, peer)
            if not self.has("no refusal where there is no place"):
                self.send(me, peer, "refusal")
        elif state == "unknown":
            self.on_first_offer(me, peer, theirs)
        elif state == "asked" and not self.has("an initiator ignores an offer"):
            if self.has("a second place for crossing offers") and self.has_room(me, None):
                self.hold(me, peer)
            self.on_crossing_offer(me, peer, theirs)
        elif state == "refused" and not self.has("an offer after a refusal is ignored"):
            self.send(me, peer, "refusal")
        elif state in ("connecting", "usable"):
            self.wrong = "a second offer"

    def on_first_offer(self, me, peer, theirs):
        mine = self.hold(me, peer)
        self.change(me, peer, state="asked")
        if not self.accept(me, peer, theirs):
            return
        messages = [("offer", mine), ("receipt",)]
        if self.has("the receipt comes first"):
            messages.reverse()
        for message in messages:
            self.send(me, peer, *message)

    def on_crossing_offer(self, me, peer, theirs):
        if self.has("a receipt before it accepts"):
            self.send(me, peer, "receipt")
            self.late += ((True, "accept", (me, peer, theirs)),)
        elif self.accept(me, peer, theirs):
            self.send(me, peer, "receipt")

    def accept(self, me, peer, theirs):
        """Connects the place's queue pairs to the peer's. False if that fails: then the path is refused, and the peer gets
        a refusal."""
        fits = (me, peer) not in self.job.misfits
        for at, place in enumerate(self.pools[me]):
            if place.peer == peer and fits:
                self.set_place(me, at, place._replace(leads_to=(peer, theirs)))
        if not fits or (me, peer) in self.job.breaks:
            self.refuse(me, peer)
            if not self.has("a misfit is not reported"):
                self.send(me, peer, "refusal")
            return False
        self.change(me, peer, state="connecting")
        if self.has("usable when it has accepted"):
            self.use(me, peer)
        return True

    def use(self, me, peer):
        self.change(me, peer, state="usable")
        self.answer(me, peer, True)

    def on_receipt(self, me, peer):
        path = self.paths[me, peer]
        is_over = path.state == "refused" and not self.has("a late receipt opens")
        if path.is_buried or is_over or self.has("usable when it has accepted"):
            return
        if path.state in ("unknown", "asked", "usable"):
            self.wrong = "a receipt for nothing"
            return
        self.use(me, peer)

    def on_refusal(self, me, peer):
        path = self.paths[me, peer]
        if not path.is_buried and path.state in ("asked", "connecting"):
            self.refuse(me, peer)
        if self.has("a refusal is answered"):
            self.send(me, peer, "refusal")

    def on_lost(self, me, peer):
        path = self.paths[me, peer]
        if path.is_buried and self.has("no answer for a dead peer") or self.has(f"a loss is nothing when {path.state}"):
            return
        if path.state in ("asked", "connecting"):
            self.refuse(me, peer)
