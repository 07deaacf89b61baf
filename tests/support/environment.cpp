#include "support/environment.hpp"

#include <cstdlib>

namespace chime::tests {
namespace {

int number(const char* name, int fallback) {
  const char* text = std::getenv(name);
  return text && *text ? std::atoi(text) : fallback;
}

}  // namespace

std::string world_from_environment() {
  const char* text = std::getenv("CHIME_TEST_WORLD");
  return text && *text ? text : "cpu-p2p-2threads";
}

bool world_must_run() { return number("CHIME_TEST_WORLD_MUST", 0) != 0; }

bool pes_want_a_gpu_each() { return number("CHIME_TEST_GPU_EACH", 0) != 0; }

int seed_count() { return number("CHIME_TEST_SEEDS", 50); }

std::chrono::milliseconds fact_limit() {
  return std::chrono::seconds(number("CHIME_TEST_LIMIT", 60 + seed_count() / 5));
}

int first_seed() { return number("CHIME_TEST_FIRST_SEED", 1); }

int inherited_board() { return number("CHIME_TEST_BOARD", -1); }

}  // namespace chime::tests
