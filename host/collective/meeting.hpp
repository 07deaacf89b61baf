// One PE's part in the collective calls of a job, by messages (README.md): a state machine without
// threads, clocks and sockets. Who owns it hands it what happens, and sends what it has to say.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "chime/error.h"
#include "host/collective/collective_call.hpp"
#include "host/collective/messages.hpp"
#include "net/secure/secret.hpp"

namespace chime::host {

class Meeting {
 public:
  struct Outgoing {
    int to;  // PE 0 writes to itself, too
    net::Bytes content;
  };

  Meeting(int my_pe, int n_pes);

  // This PE comes to its next call. REQUIRES: all before it have met here.
  void come(const CollectiveCall& call);

  // It waits no longer for the call that it has come to, and asks for that to be decided: by way of
  // the PEs above it, which keeps the order with what it has said before; or past them, where one
  // does not answer.
  void give_up(chimex_status code, std::string why);
  void give_up_directly(chimex_status code, std::string why);

  // It has waited for a while: asks those that it may wait for whether they will ever come.
  void ask();
  // What others wait in that this PE has not come to; null: nothing, for all that is known here.
  const Ask* awaited() const { return awaited_.call > call_ && !is_broken() ? &awaited_ : nullptr; }
  // This PE will never come to that.
  void give_up_awaited(chimex_status code, std::string why);

  // Nobody will decide any more: for this PE, and those below it that have not heard, no call meets
  // from the one on that it has come to.
  void be_unsure(chimex_status code, std::string why);

  // Throws net::Error if the message makes no sense, and is then as before.
  void receive(int from, std::span<const std::byte> message);

  // Whether the call that this PE has come to is decided, and how.
  bool is_settled() const { return has_met() || is_broken(); }
  bool has_met() const { return verdict_.met >= call_; }
  // Whether any call has been given up: the next one fails.
  bool is_broken() const { return verdict_.given_up != 0; }
  // Whether it was given up, for all that is known here, because this PE had not come.
  bool is_late() const { return is_broken() && call_ < verdict_.given_up; }
  const Verdict& verdict() const { return verdict_; }

  // What is to be sent, in order.
  std::vector<Outgoing> take_outgoing() { return std::exchange(outgoing_, {}); }

 private:
  struct Below {
    int pe;
    std::uint64_t come = 0;      // the last call that all of its tree have come to
    CollectiveCalls calls = {};  // to that
  };

  void hear(int from, const Come& come);
  void hear(int from, const GiveUp& give_up);
  void hear(int from, const Ask& ask);
  void hear(int from, const Verdict& news);
  void pass_on_if_all_have_come();
  void pass_on(const GiveUp& give_up);
  void decide_met(const Come& come);
  void decide_given_up(const GiveUp& give_up);
  void hand_down();
  int first_absent_below() const;
  int who_is_absent(std::uint64_t call) const;
  bool is_decider() const { return my_pe_ == 0; }
  int above() const;
  Below* find_below(int pe);

  int my_pe_;
  std::vector<Below> below_;
  std::uint64_t call_ = 0;  // that this PE has come to
  CollectiveCall my_call_;
  std::uint64_t asked_ = 0;  // the last call that this PE, or one below it, has asked to give up
  Ask awaited_;              // the last that another PE has asked about
  Verdict verdict_;
  std::vector<Outgoing> outgoing_;
};

}  // namespace chime::host
