// The rival of the NIC path: the same by plain verbs (libmlx5) between the same two PEs, through
// the same NIC, on a queue pair of its own.
#pragma once

#include <chime/chime.h>

#include "endpoint.hpp"
#include "measure.hpp"

namespace chime::perf {

// This PE's end of a queue pair to the other of two PEs. Called by both, after chime_init, which
// loads the emulated NIC with CHIME_NIC=soft. `bytes`: the longest message.
inline std::unique_ptr<Endpoint> connect_by_verbs(std::size_t bytes) {
  auto endpoint = std::make_unique<Endpoint>(bytes);
  auto* const board = static_cast<Address*>(chime_malloc(sizeof(Address)));
  const Address mine = endpoint->address();
  Address peer;
  chime_putmem(board, &mine, sizeof mine, 1 - chime_my_pe());
  chime_barrier_all();
  exec::copy(&peer, board, sizeof peer);
  endpoint->connect(peer);
  chime_barrier_all();  // both ends are ready
  chime_free(board);
  return endpoint;
}

// Ends the program with a message unless only a NIC leads from one PE to the other.
inline void need_nic_path(const char* program) {
  auto* const word = static_cast<std::uint64_t*>(chime_malloc(sizeof(std::uint64_t)));
  if (!chime_ptr(word, 1 - chime_my_pe())) return chime_free(word);
  if (chime_my_pe() == 0) {
    std::fprintf(stderr,
                 "%s measures the NIC's path, but the PEs map each other's memory. Run it with\n"
                 "CHIME_NIC=soft CHIME_P2P=off chime-run -n 2 %s\n",
                 program, program);
  }
  chime_finalize();
  std::exit(2);
}

}  // namespace chime::perf
