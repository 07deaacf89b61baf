// The PEs of a benchmark of the proxy's path, and libfabric's own path between two of them.
#pragma once

#include <chime/chime.h>
#include <sched.h>

#include <chrono>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <thread>

#include "fabric_rival.hpp"
#include "measure.hpp"
#include "path.hpp"

namespace chime::perf {

// The provider that Chime chooses for two PEs on one machine.
inline std::string provider_of_job() {
  const char* const wanted = std::getenv("CHIME_FABRIC");
  const bool is_named = wanted != nullptr && *wanted != '\0' && std::string(wanted) != "auto";
  return is_named ? wanted : "tcp;ofi_rxm";
}

// Every wait ends: with a message that names the event that did not come. Yields at each look that
// finds nothing: four threads share the available processors.
template <class Condition>
void wait_giving_way(const char* what, const Condition& holds) {
  using Clock = std::chrono::steady_clock;
  const auto deadline = Clock::now() + std::chrono::seconds(30);
  while (!holds()) {
    if (Clock::now() > deadline)
      throw std::runtime_error(std::string("after 30 s there is still no ") + what);
    sched_yield();
  }
}

// Ends the program with a message unless the proxy leads from PE 0 to PE 1, and from PE 1 to PE 0.
inline void need_proxy_path(const char* program) {
  if (path_to(chime_my_pe() == 0 ? 1 : 0) == Path::kProxy) return;
  if (chime_my_pe() == 0) {
    std::fprintf(
        stderr,
        "%s measures the proxy's path, but another one leads from PE 0 to PE 1. Run it with\n"
        "CHIME_P2P=off CHIME_NIC=none chime-run -n %d %s\n",
        program, chime_n_pes(), program);
  }
  chime_finalize();
  std::exit(2);
}

// This PE's end of libfabric's path to the other; null if the build has none. Called by both.
inline std::unique_ptr<FabricRival> connect_by_fabric(std::size_t bytes) {
  auto rival = FabricRival::open(provider_of_job(), bytes);
  if (!rival) return nullptr;
  auto* const board =
      static_cast<FabricRival::EndpointInfo*>(chime_malloc(sizeof(FabricRival::EndpointInfo)));
  const FabricRival::EndpointInfo mine = rival->endpoint_info();
  FabricRival::EndpointInfo peer;
  chime_putmem(board, &mine, sizeof mine, 1 - chime_my_pe());
  chime_barrier_all();
  exec::copy(&peer, board, sizeof peer);
  rival->connect(peer);
  chime_barrier_all();  // both ends are ready
  chime_free(board);
  return rival;
}

inline std::string rival_note() {
  return "raw: fi_write by " + provider_of_job() +
         " between the same processes, in turns; 2 threads: one posts and waits, one lets the "
         "provider work, as the proxy does; 1 thread: one does both";
}

// Runs work at PE 0 while the other PEs only serve the network. Called by all.
class AloneAtPe0 {
 public:
  AloneAtPe0() : turns_(static_cast<std::uint64_t*>(chime_calloc(1, sizeof(std::uint64_t)))) {}

  // Returns the figure of `work()` at PE 0; kNotMeasured at the others, which sleep meanwhile.
  template <class Work>
  double operator()(Work work) {
    ++count_;
    chime_barrier_all();
    if (chime_my_pe() == 0) {
      const double figure = work();
      for (int pe = 1; pe < chime_n_pes(); ++pe) chime_uint64_p(turns_, count_, pe);
      chime_quiet();
      return figure;
    }
    while (chime_signal_fetch(turns_) < count_)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return kNotMeasured;
  }

 private:
  std::uint64_t* const turns_;
  std::uint64_t count_ = 0;
};

}  // namespace chime::perf
