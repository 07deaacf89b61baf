// start_traffic_pe <folder>: a PE that starts, prints the traffic of its connections, and leaves
// when all have: one that leaves earlier sends to others. They meet by files, not by Chime.
#include <chime/chime.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>

#include "net/mesh/traffic.hpp"

namespace {

bool all_have_said_so(const std::filesystem::path& folder, int n_pes) {
  using Clock = std::chrono::steady_clock;
  const auto files = [&] { return std::distance(std::filesystem::directory_iterator(folder), {}); };
  const auto deadline = Clock::now() + std::chrono::seconds(60);
  while (files() < n_pes && Clock::now() < deadline)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  return files() == n_pes;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  chime_init();
  const auto hub = chime::net::traffic_of("hub"), mesh = chime::net::traffic_of("mesh");
  std::printf(
      "started: pe %d hub %llu %llu mesh %llu %llu\n", chime_my_pe(),
      static_cast<unsigned long long>(hub.messages), static_cast<unsigned long long>(hub.bytes),
      static_cast<unsigned long long>(mesh.messages), static_cast<unsigned long long>(mesh.bytes));
  std::fflush(stdout);
  const std::filesystem::path folder = argv[1];
  std::ofstream(folder / std::to_string(chime_my_pe()));
  const bool have_all = all_have_said_so(folder, chime_n_pes());
  if (!have_all) std::fprintf(stderr, "after a minute not all PEs had started\n");
  chime_finalize();
  return have_all ? 0 : 1;
}
