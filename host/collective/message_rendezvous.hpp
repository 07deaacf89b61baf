// Collective calls by messages: where some PE does not map another's control page, and before any
// does.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "chime/abi/context.h"
#include "host/collective/meeting.hpp"
#include "host/collective/messenger.hpp"
#include "host/collective/rendezvous.hpp"
#include "host/errors/error.hpp"
#include "host/errors/wait.hpp"

namespace chime::host {

class MessageRendezvous final : public Rendezvous, private Messenger::Listener {
 public:
  // `limit` bounds each call, and `abort`, which outlives this, ends it. It is raised where a PE
  // stands in a barrier while others wait in a call.
  MessageRendezvous(std::unique_ptr<Messenger> messenger, abi::AbortWord& abort, TimeLimit limit,
                    const Beside& beside = {});

  void meet(const CollectiveCall& call) override;

 private:
  using Lock = std::unique_lock<std::mutex>;

  void wait_until_settled(Lock& lock, const CollectiveCall& call);
  void give_up(Lock& lock, const Error& error);
  void throw_loss(Lock& lock);
  [[noreturn]] void throw_given_up(Lock& lock);
  void wait_for_better_words(Lock& lock, const std::function<bool()>& done);
  std::string why_given_up() const;
  void tell_of_being_late() const;
  void ask_if_late(Lock& lock);
  void give_up_if_in_a_barrier();
  void end_barriers();
  void send_outgoing(Lock& lock);

  void on_message(int from, std::span<const std::byte> message) override;
  void on_lost(int pe, const std::string& why) override;

  abi::AbortWord& abort_;
  const TimeLimit limit_;
  const Beside beside_;

  std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  Meeting meeting_;
  std::map<int, std::string> lost_;                                       // PEs, and why
  std::optional<std::chrono::steady_clock::time_point> better_words_by_;  // once they are wanted
  Elsewhere elsewhere_;
  Elsewhere::Clock::time_point next_ask_;
  std::mutex
      one_sender_;  // taken before mutex_: messages leave in the order in which they were written

  std::unique_ptr<Messenger> messenger_;  // last: its thread uses all of the above
};

}  // namespace chime::host
