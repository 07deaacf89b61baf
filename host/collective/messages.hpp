// What PEs say to each other about collective calls, as bytes: a kind, then its fields.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <variant>

#include "chime/error.h"
#include "host/collective/collective_call.hpp"
#include "net/secure/secret.hpp"

namespace chime::host {

// All of the sender's tree have come to call `call`.
struct Come {
  std::uint64_t call = 0;
  CollectiveCalls calls;
};

// PE `by` waits no longer for `call`.
struct GiveUp {
  std::uint64_t call = 0;
  int by = -1;
  int absent = -1;  // who has not come, or one below it in the tree: as far as the writers know
  chimex_status code = CHIMEX_OK;
  std::string why;
};

// PE `by` waits in `call`, and its receiver may not have come.
struct Ask {
  std::uint64_t call = 0;
  int by = -1;
  CollectiveCall what;
};

// All that has been decided so far, as the sender knows it.
struct Verdict {
  std::uint64_t met = 0;       // the last call that has met
  CollectiveCalls calls;       // of that call
  std::uint64_t given_up = 0;  // the first call that has not, or 0
  int by = -1;                 // who gave it up
  int absent = -1;             // who had not come, or one below it in the tree; -1: not known
  chimex_status code = CHIMEX_OK;
  std::string why;  // in that PE's words
};

net::Bytes write(const Come& come);
net::Bytes write(const GiveUp& give_up);
net::Bytes write(const Ask& ask);
net::Bytes write(const Verdict& verdict);

// Throws net::Error{kProtocol} if it is none of these.
std::variant<Come, GiveUp, Ask, Verdict> read_message(std::span<const std::byte> message);

}  // namespace chime::host
