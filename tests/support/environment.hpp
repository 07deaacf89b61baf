// The tests' environment variables. CTest sets these; by hand, only CHIME_TEST_WORLD is needed.
#pragma once

#include <chrono>
#include <string>

namespace chime::tests {

// CHIME_TEST_WORLD: the World to run in. "cpu-p2p-2threads" if unset.
std::string world_from_environment();

// CHIME_TEST_WORLD_MUST=1: this World must run here, by worlds.txt, so that a skip is a failure.
bool world_must_run();

// CHIME_TEST_GPU_EACH=1: kernels of this program find their PE in their unit's state, of which a
// GPU has one (device/state.cuh).
bool pes_want_a_gpu_each();

// CHIME_TEST_LIMIT: seconds that one fact may take before the World is stopped (60, and more for
// many seeds).
std::chrono::milliseconds fact_limit();

// CHIME_TEST_SEEDS: how many schedules an ordering test tries (50; soak: 1000).
int seed_count();

// CHIME_TEST_FIRST_SEED: the first of them (1); to repeat the one that a failure printed.
int first_seed();

// CHIME_TEST_BOARD: the inherited file descriptor of the board; -1 in a process that inherited
// none.
int inherited_board();

}  // namespace chime::tests
