"""Two memories for the models: `Strong`, where accesses follow each other, and `Weak`, which does what PTX allows.

A weak memory keeps the messages (stored values) of each location in coherence order. A *time* is a position in
this order. A *view* is a time for each location: a thread with this view reads no older message. A thread has
three views:

    current     what it must see
    acquirable  what an acquire fence adds: views of messages that the thread read relaxed
    released    what its relaxed stores carry: its current view at its last release fence

What the accesses do:

    load      reads any message that the current view allows: a late load, a stale cache line
    store     goes anywhere behind the current view: stores of two threads pass each other
    update    reads a message and goes directly behind it; nothing comes between. It carries that message's
              view too, whatever its own order: PTX's observation order
    fence     acquire: the current view becomes the acquirable one. Release: the released view becomes the
              current one

These are PTX's rules for orders, fences and causality, without scopes, fence.sc and mixed sizes. One point is
stronger: a load never takes a value that was stored after a later store of its thread. Where no dependency
forbids that, the model must take the two steps in either order.

One rule comes from the machine and not from PTX; `by_the_letter` switches it off: a store that another thread
has read lies in the memory that all share, so a later store cannot go before it.
"""

from functools import lru_cache
from typing import NamedTuple

from search import of_parts

# Views are few and short, and the same ones are computed again and again.
remembered = lru_cache(1 << 18)


class Message(NamedTuple):
    value: object
    carries: tuple              # a view that contains the message itself
    is_update: bool = False     # nothing comes between it and the message before


class Thread(NamedTuple):
    current: tuple
    acquirable: tuple           # never less than `current`
    released: tuple             # never more than `current`


@remembered
def join(one, other):
    return tuple(map(max, one, other))


@remembered
def with_time(view, location, time):
    return view[:location] + (max(view[location], time),) + view[location + 1:]


@remembered
def lowered(view, floor):
    """The view after the first `floor` messages of each location were removed."""
    return tuple([max(0, time - since) for time, since in zip(view, floor)])


@remembered
def moved_up(view, location, time):
    """The view after a message was inserted at `time` of `location`."""
    if view[location] < time:
        return view
    return view[:location] + (view[location] + 1,) + view[location + 1:]


@of_parts
class Weak(NamedTuple):
    messages: tuple             # of each location, in coherence order
    threads: tuple              # None: this thread has left
    shared: tuple | None        # the times that other threads have read; None by the letter of PTX

    is_weak = True

    @classmethod
    def of(cls, values, threads, by_the_letter=False):
        nothing = (0,) * len(values)
        return cls(tuple((Message(value, nothing),) for value in values),
                   (Thread(nothing, nothing, nothing),) * threads,
                   None if by_the_letter else nothing)

    def readable(self, thread, location):
        """The values that a load may find, oldest first."""
        since = self.threads[thread].current[location]
        return [message.value for message in self.messages[location][since:]]

    def newest(self, location):
        return self.messages[location][-1].value

    def load(self, thread, location, acquire=False):
        """Yields (value, memory after it)."""
        for time in range(self.threads[thread].current[location], len(self.messages[location])):
            memory = self._reads(thread, location, time)
            if acquire:
                memory = memory.fence(thread, acquire=True)
            yield self.messages[location][time].value, memory

    def store(self, thread, location, value, release=False):
        """Yields the memory after it."""
        since = self.threads[thread].current[location] + 1
        for time in range(since, len(self.messages[location]) + 1):
            if self._may_stand(location, time):
                yield self._stores(thread, location, time, value, release)

    def update(self, thread, location, change, release=False):
        """Yields (value before, memory after it). `change(value)` is the new value, None leaves it."""
        history = self.messages[location]
        for time in range(self.threads[thread].current[location], len(history)):
            before = history[time]
            after = change(before.value)
            memory = self._reads(thread, location, time)
            if after is None:
                yield before.value, memory
            elif memory._may_stand(location, time + 1):
                yield before.value, memory._stores(thread, location, time + 1, after, release,
                                                   before.carries)

    def fence(self, thread, acquire=False, release=False):
        current, acquirable, released = self.threads[thread]
        shared = self.shared
        if acquire:
            current = acquirable
            shared = shared and join(shared, acquirable)
        return self._with_thread(thread, Thread(current, acquirable, current if release else released), shared)

    def leave(self, thread):
        """The thread makes no further access."""
        return self._replace(threads=self.threads[:thread] + (None,) + self.threads[thread + 1:])

    def trimmed(self):
        """The same memory without the messages that no thread can read any more."""
        known = [thread.current for thread in self.threads if thread is not None]
        floor = tuple(map(min, *known)) if len(known) > 1 else known[0]
        if not any(floor):
            return self
        memory = self._replace(messages=tuple([
            (Message(history[since].value, history[since].carries),) + history[since + 1:]
            for history, since in zip(self.messages, floor)]))
        return memory._with_views(lambda view: lowered(view, floor))

    def _may_stand(self, location, time):
        """Whether a new message may be inserted at `time`, before the message that is there."""
        history = self.messages[location]
        if time == len(history):
            return True
        return not history[time].is_update and (
            self.shared is None or time > self.shared[location])

    def _reads(self, thread, location, time):
        current, acquirable, released = self.threads[thread]
        shared = self.shared
        if shared is not None and time > current[location]:  # not its own
            shared = with_time(shared, location, time)
        acquirable = join(acquirable, self.messages[location][time].carries)
        return self._with_thread(
            thread, Thread(with_time(current, location, time), acquirable, released), shared)

    def _stores(self, thread, location, time, value, release, handed_on=None):
        memory = self if time == len(self.messages[location]) else self._moved_up(location, time)
        current, acquirable, released = memory.threads[thread]
        carries = with_time(current if release else released, location, time)
        if handed_on is not None:   # the view of a message before `time`, which was not moved up
            carries = join(carries, moved_up(handed_on, location, time))
        history = memory.messages[location]
        message = Message(value, carries, handed_on is not None)
        history = history[:time] + (message,) + history[time:]
        return memory._replace(
            messages=memory.messages[:location] + (history,) + memory.messages[location + 1:]
        )._with_thread(thread, Thread(with_time(current, location, time),
                                      with_time(acquirable, location, time), released), memory.shared)

    def _moved_up(self, location, time):
        """Makes room: the messages of `location` from `time` on move up by one."""
        return self._with_views(lambda view: moved_up(view, location, time))

    def _with_thread(self, thread, views, shared):
        threads = self.threads[:thread] + (views,) + self.threads[thread + 1:]
        return Weak(self.messages, threads, shared)

    def _with_views(self, change):
        return Weak(
            tuple([tuple([Message(value, change(carries), is_update) for value, carries, is_update in history])
                   for history in self.messages]),
            tuple([thread and Thread(*map(change, thread)) for thread in self.threads]),
            self.shared and change(self.shared))


class Strong(NamedTuple):
    """The same functions, but each load finds the last value stored."""
    values: tuple

    is_weak = False

    def readable(self, thread, location):
        return [self.values[location]]

    def newest(self, location):
        return self.values[location]

    def load(self, thread, location, acquire=False):
        yield self.values[location], self

    def store(self, thread, location, value, release=False):
        yield Strong(self.values[:location] + (value,) + self.values[location + 1:])

    def update(self, thread, location, change, release=False):
        before = self.values[location]
        after = change(before)
        if after is None:
            yield before, self
        else:
            for memory in self.store(thread, location, after):
                yield before, memory

    def fence(self, thread, acquire=False, release=False):
        return self

    def leave(self, thread):
        return self

    def trimmed(self):
        return self
