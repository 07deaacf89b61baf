// How an OS thread that only waits makes room for others, of this process and of all others.
#pragma once

namespace chime::simt {

// Lets others have the core: yields it, or naps where somebody computes there (crowding.hpp).
void make_room();

// For how many turns of a wait this thread hopes before it makes room.
unsigned hopeful_turns();

}  // namespace chime::simt
