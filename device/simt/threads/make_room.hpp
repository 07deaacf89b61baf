// How an OS thread that only waits lets others run, of this process and of all others.
#pragma once

namespace chime::simt {

// Gives up the core: yields it, or naps if another thread computes there (crowding.hpp).
void make_room();

// For how many turns of a wait this thread polls without pauses before it makes room.
unsigned hopeful_turns();

}  // namespace chime::simt
