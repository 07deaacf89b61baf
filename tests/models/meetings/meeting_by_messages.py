"""Collective host calls where some PE is not mapped: host/collective/README.md, "By messages".

PEs form a binary tree. When a PE and its children have come to call s, the PE sends "come" to its parent, PE 0 to itself. Then PE 0,
the decider, decides "s met", and the verdict goes down the tree. A PE that stops waiting sends "give up" up the tree, and obeys the
verdict; it may also ask PE 0 directly. A verdict is two numbers: the last call that has met, and the first that is given up, 0 for
none.

Messages from one PE to another arrive in order, after any time. Each PE has a thread that takes messages at any time, in a call or
not. A PE may die at any time. Its messages may arrive or not; then the PEs that are connected to it get a report of its death. PE 0
may be stopped for long: a hasty PE stops waiting for its answer once the question has arrived there. So PE 0 takes its own message
last, after all others that have arrived.

What must not happen: a call has met for one PE and not for another; a call meets before all have come; a call meets after one that
has not; a PE waits for ever."""

from typing import NamedTuple

from search import explore, of_parts


class Job(NamedTuple):
    pes: int = 3
    calls: int = 2
    impatient: frozenset = frozenset()  # PEs whose time may be over in any wait; (pe, call): in this call's
    hasty: frozenset = frozenset()  # PEs that may stop waiting for PE 0's answer, too, if PE 0 is stopped
    mortal: frozenset = frozenset()  # PEs that may die
    deaths: int = 1
    faults: frozenset = frozenset()


@of_parts
class Pe(NamedTuple):
    call: int = 1  # the one that it is in, or comes to next
    at: str = "out"  # out, waits, asks, asks directly, left, dead
    come: tuple = ()  # ((child, last call that its tree has come to), ...)
    up: int = 0  # last call of its "come" to its parent
    met: int = 0  # of the last verdict that it has
    given_up: int = 0  # likewise
    asked: int = 0  # the last call that it, or a PE below it, has asked to give up
    lost: frozenset = frozenset()  # dead PEs that it was connected to
    results: tuple = ()


IN_CALL = ("waits", "asks", "asks directly")


@of_parts
class State(NamedTuple):
    pes: tuple
    wires: tuple  # ((from, to), messages)
    wrong: str = ""


def above(pe):
    return (pe - 1) // 2 if pe else 0


def children(job, pe):
    return [child for child in (2 * pe + 1, 2 * pe + 2) if child < job.pes]


class Step:
    """One transition: a writable copy of a state."""

    def __init__(self, job, state):
        self.job, self.pes, self.wires, self.wrong = job, list(state.pes), dict(state.wires), ""

    def done(self):
        wires = tuple(sorted([wire for wire in self.wires.items() if wire[1]]))
        return State(tuple(self.pes), wires, self.wrong)

    def change(self, pe, **changes):
        self.pes[pe] = self.pes[pe]._replace(**changes)

    def send(self, sender, to, message):
        if self.pes[to].at == "dead":
            if message[0] != "lost":
                self.send(to, sender, ("lost", to))  # the connection ends, or cannot be opened
            return
        self.wires[sender, to] = self.wires.get((sender, to), ()) + (message,)

    def send_verdict(self, sender, to):
        pe = self.pes[sender]
        met = 0 if "a verdict of one number" in self.job.faults and pe.given_up else pe.met
        self.send(sender, to, ("verdict", met, pe.given_up))

    def learn(self, pe, met, given_up):
        me = self.pes[pe]
        if met <= me.met and (me.given_up or not given_up):
            return
        self.change(pe, met=max(met, me.met), given_up=me.given_up or given_up)
        for child in children(self.job, pe):
            self.send_verdict(pe, child)

    def say_if_all_have_come(self, pe):
        me = self.pes[pe]
        awaited = [] if "does not wait for those below" in self.job.faults else me.come
        if me.given_up or me.at not in IN_CALL or me.up >= me.call or any(call < me.call for _, call in awaited):
            return
        self.change(pe, up=me.call)
        self.send(pe, above(pe), ("come", me.call))

    def decide_met(self, call):
        if self.pes[0].given_up:
            return
        if any(pe.call < call or pe.call == call and pe.at == "out" for pe in self.pes if pe.at != "dead"):
            self.wrong = "met before all have come"
        self.learn(0, call, 0)

    def ask(self, pe, call):
        if self.pes[pe].asked < call:
            self.change(pe, asked=call)
            self.send(pe, above(pe), ("give up", call))

    def decide_given_up(self, call, initiator):
        decider = self.pes[0]
        if "decides twice" in self.job.faults and not decider.given_up:
            decider = decider._replace(met=min(decider.met, call - 1))
            self.change(0, met=decider.met)
        if decider.met < call and not decider.given_up:
            if "keeps the verdict from others" in self.job.faults:
                self.change(0, given_up=call)
            else:
                self.learn(0, 0, call)
        if initiator not in (0, 1, 2):
            self.send_verdict(0, initiator)

    def receive(self, sender, to, message):
        me = self.pes[to]
        if message[0] == "come" and sender == to:
            self.decide_met(message[1])
        elif message[0] == "come":
            self.change(to, come=tuple((child, message[1] if child == sender else call) for child, call in me.come))
            if me.given_up:
                self.send_verdict(to, sender)
            self.say_if_all_have_come(to)
        elif message[0] == "verdict":
            self.learn(to, message[1], message[2])
        elif message[0] == "give up":
            if to == 0:
                self.decide_given_up(message[1], sender)
            else:
                self.ask(to, message[1])
        elif "does not hear of a loss" not in self.job.faults:
            self.change(to, lost=me.lost | {message[1]})

    def come_to_call(self, pe):
        self.change(pe, at="waits")
        self.say_if_all_have_come(pe)

    def stop_waiting(self, pe):
        self.change(pe, at="asks")
        if "fails by itself" in self.job.faults:
            self.end_call(pe, "failed")
        else:
            self.ask(pe, self.pes[pe].call)

    def ask_directly(self, pe):
        self.change(pe, at="asks directly")
        if above(pe) != 0:
            self.send(pe, 0, ("give up", self.pes[pe].call))

    def be_unsure(self, pe):
        self.learn(pe, 0, self.pes[pe].call)
        self.end_call(pe, "failed")

    def end_call(self, pe, result):
        me = self.pes[pe]
        self.change(pe, at="out" if me.call < self.job.calls else "left", call=me.call + 1,
                    results=me.results + (result,))

    def die(self, pe, arrives):
        self.change(pe, at="dead")
        self.wires = {ends: messages for ends, messages in self.wires.items()
                      if ends[1] != pe and (arrives or ends[0] != pe)}
        for other in {*children(self.job, pe), above(pe)} - {pe}:
            self.send(pe, other, ("lost", pe))


def is_stopped(state, call):
    """Whether only PE 0 stands still: a question waits there, and no message anywhere else."""
    asked = any(sender != 0 and ("give up", call) in messages for (sender, _), messages in state.wires)
    return asked and all(to == 0 for (_, to), _ in state.wires)


def steps_of(job, state, pe):
    """(method, arguments) of each next step of this PE's calling thread, and of its death."""
    me = state.pes[pe]
    if me.at == "out":
        yield ("end_call", (pe, "failed")) if me.given_up and me.met < me.call else ("come_to_call", (pe,))
    if me.at in IN_CALL:
        if me.met >= me.call:
            yield "end_call", (pe, "met")
        elif me.given_up:
            yield "end_call", (pe, "failed")
        elif me.at == "waits" and (job.impatient & {pe, (pe, me.call)} or me.lost):
            yield "stop_waiting", (pe,)
        elif me.at == "asks":
            yield "ask_directly", (pe,)
        elif 0 in me.lost or pe in job.hasty and is_stopped(state, me.call):
            yield "be_unsure", (pe,)
    if pe in job.mortal and me.at != "dead" and sum(other.at == "dead" for other in state.pes) < job.deaths:
        yield "die", (pe, True)
        yield "die", (pe, False)


def takes_its_own_last(job, wires, sender, to):
    """Whether a message may be taken: PE 0's own waits until the others are taken. Without hasty PEs it need not."""
    if sender != to or not job.hasty or "decides before it has read" in job.faults:
        return True
    return not any(other_to == to for (other, other_to), _ in wires if other != to)


def moves(job, state):
    for pe in range(job.pes):
        for name, arguments in steps_of(job, state, pe):
            step = Step(job, state)
            getattr(step, name)(*arguments)
            yield step.done()
    for (sender, to), messages in state.wires:
        if not takes_its_own_last(job, state.wires, sender, to):
            continue
        step = Step(job, state)
        step.wires[sender, to] = messages[1:]
        step.receive(sender, to, messages[0])
        yield step.done()


def verdict(job, state, is_end):
    if state.wrong:
        return state.wrong
    alive = [pe for pe in state.pes if pe.at != "dead"]
    decider_is_dead = state.pes[0].at == "dead"
    for call in range(job.calls):
        results = {pe.results[call] for pe in alive if len(pe.results) > call}
        if "met" in results and "failed" in results and not decider_is_dead:
            return "met for some only"
        later = {result for pe in alive for result in pe.results[call + 1:]}
        if "failed" in results and "met" in later:
            return "met after one that has not"
    if is_end and any(pe.at != "left" for pe in alive):
        return "waits for ever"
    return ""


def check(job):
    """(what is wrong or "", states)"""
    pes = tuple(Pe(come=tuple((child, 0) for child in children(job, pe))) for pe in range(job.pes))
    return explore(State(pes, ()), lambda state: moves(job, state), lambda state, is_end: verdict(job, state, is_end))
