// How an OS thread that only waits makes room for others, of this process and of all others.
#pragma once

namespace chime::simt {

// Lets others have the core. A yield hands it to a neighbour who waits, too, and back within a
// microsecond. But who computes keeps it until his turn ends, and each yield beside him costs
// milliseconds: after that happened, naps take the place of yields for a while, because who wakes
// from a nap gets the core at once.
void make_room();

// For how many turns of a wait this thread hopes before it makes room: few, unless the last yield
// found nobody who wanted the core. Then for longer than a NIC's answer takes, 10 us.
unsigned hopeful_turns();

}  // namespace chime::simt
