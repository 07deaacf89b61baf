// What the living members of a team decide alike, for the team that they make of themselves. A team
// with a dead member does not meet, so its members find each other by the bootstrap.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "bootstrap/bootstrap.hpp"
#include "chime/error.h"
#include "host/ops/teams/published.hpp"
#include "host/teams/members.hpp"
#include "host/teams/team_table.hpp"

namespace chime::host {

// What a member brings.
struct Offer {
  bool refuses = false;        // its arguments are wrong
  TeamProposal proposal = {};  // where it has room
  std::vector<int> dead = {};  // members that it knows to be
};

// Alike on all members: the new team's PEs and what they have in common, or why there is none.
struct Decision {
  chimex_status status = CHIMEX_OK;
  int by = -1;  // the PE that the call fails by
  TeamProposal proposal = {};
  std::vector<int> pes = {};
};

// One call, as a member sees it.
struct Shrink {
  bootstrap::Bootstrap& bootstrap;
  const Members& members;
  int my_rank;
  std::string name;  // alike on all members, and of this call alone
  std::function<bool(int pe)> is_dead;
  std::function<void()> need_no_abort;  // throws the reason of an abort
  std::chrono::nanoseconds limit;       // for which a member waits for others
  std::chrono::nanoseconds asker_is_later = kAskerIsLater;
};

// What all members that live decide, whoever of them dies meanwhile. Throws where others can not be
// asked, and where the member that decides does not come; then all others fail, too.
Decision decide(const Shrink& shrink, const Offer& own);

// Why there is no team. REQUIRES: the decision says so.
[[noreturn]] void throw_error(const Decision& none);

}  // namespace chime::host
