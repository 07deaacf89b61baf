// The user's choices of algorithms (CHIME_COLL_REDUCE and the like).
#pragma once

#include <cstdint>
#include <optional>

namespace chime::host {

inline constexpr std::uint64_t kNoBytes = ~std::uint64_t{0};  // never that one

// The bytes from which a call takes the second of its algorithms, or goes by nodes
// (host/teams/algorithms.hpp), where the user says so.
struct CollectiveOptions {
  using Bytes = std::optional<std::uint64_t>;
  Bytes broadcast, fcollect, alltoall, reduce, reducescatter, scan;
  Bytes fcollect_by_nodes, reduce_by_nodes;
  std::optional<std::uint64_t> doubling;  // from how many members on; 0: never
  std::optional<bool> direct_barrier;     // as far as a team is small enough
  std::uint32_t by_multimem = 0;  // bits of abi::Team::by_multimem: those calls, where they can
};

}  // namespace chime::host
