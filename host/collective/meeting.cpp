#include "host/collective/meeting.hpp"

#include <algorithm>
#include <variant>

#include "host/collective/tree.hpp"
#include "net/socket/error.hpp"

namespace chime::host {

Meeting::Meeting(int my_pe, int n_pes) : my_pe_(my_pe) {
  for_each_below(my_pe, n_pes, [this](int pe) { below_.push_back({.pe = pe}); });
}

void Meeting::come(const CollectiveCall& call) {
  ++call_;
  my_call_ = call;
  pass_on_if_all_have_come();
}

void Meeting::give_up(chimex_status code, std::string why) {
  if (!is_settled()) pass_on({call_, my_pe_, -1, code, std::move(why)});
}

void Meeting::give_up_directly(chimex_status code, std::string why) {
  if (is_settled() || above() == 0) return;
  outgoing_.push_back(
      {0, write(GiveUp{call_, my_pe_, who_is_absent(call_), code, std::move(why)})});
}

void Meeting::ask() {
  if (is_settled()) return;
  const net::Bytes question = write(Ask{call_, my_pe_, my_call_});
  if (!is_decider()) outgoing_.push_back({above(), question});
  for (const Below& below : below_)
    if (below.come < call_) outgoing_.push_back({below.pe, question});
}

void Meeting::give_up_awaited(chimex_status code, std::string why) {
  if (awaited()) pass_on({awaited_.call, my_pe_, my_pe_, code, std::move(why)});
}

void Meeting::be_unsure(chimex_status code, std::string why) {
  if (!is_settled()) decide_given_up({call_, my_pe_, -1, code, std::move(why)});
}

void Meeting::receive(int from, std::span<const std::byte> message) {
  std::visit([&](const auto& heard) { hear(from, heard); }, read_message(message));
}

void Meeting::hear(int from, const Come& come) {
  if (is_decider() && from == my_pe_) return decide_met(come);
  Below* const below = find_below(from);
  if (!below)
    throw net::Error(net::Fault::kProtocol,
                     "PE " + std::to_string(from) + " does not come to this one");
  below->come = come.call;
  below->calls = come.calls;
  // Who comes later than others gave up, and has not heard of that.
  if (is_broken()) outgoing_.push_back({from, write(verdict_)});
  pass_on_if_all_have_come();
}

void Meeting::hear(int from, const GiveUp& give_up) {
  if (!is_decider()) return pass_on(give_up);
  // Once: what has met has met, and what is given up is.
  if (give_up.call > verdict_.met && !is_broken()) decide_given_up(give_up);
  // Those below have been told, now or before.
  if (from != my_pe_ && !find_below(from)) outgoing_.push_back({from, write(verdict_)});
}

void Meeting::hear(int, const Ask& ask) {
  if (ask.call > awaited_.call) awaited_ = ask;
}

// It may come twice, from above and as an answer, and what comes second may be older.
void Meeting::hear(int, const Verdict& news) {
  const bool tells_of_met = news.met > verdict_.met;
  const bool tells_of_given_up = news.given_up != 0 && !is_broken();
  if (!tells_of_met && !tells_of_given_up) return;
  if (tells_of_met) {
    verdict_.met = news.met;
    verdict_.calls = news.calls;
  }
  if (tells_of_given_up) {
    verdict_.given_up = news.given_up;
    verdict_.by = news.by;
    verdict_.absent = news.absent == my_pe_ ? who_is_absent(news.given_up) : news.absent;
    verdict_.code = news.code;
    verdict_.why = news.why;
  }
  hand_down();
}

int Meeting::first_absent_below() const {
  const auto absent = std::find_if(below_.begin(), below_.end(),
                                   [this](const Below& below) { return below.come < call_; });
  return absent == below_.end() ? -1 : absent->pe;
}

// As far as this PE knows.
int Meeting::who_is_absent(std::uint64_t call) const {
  return call_ < call ? my_pe_ : first_absent_below();
}

// REQUIRES: this PE has just come, or one of those below: so it is done once a call.
void Meeting::pass_on_if_all_have_come() {
  if (is_settled() || first_absent_below() >= 0) return;
  CollectiveCalls calls = CollectiveCalls::of(my_call_, my_pe_);
  for (const Below& below : below_) calls.add(below.calls);
  outgoing_.push_back({above(), write(Come{call_, calls})});
}

// One is enough, whoever's it is.
void Meeting::pass_on(const GiveUp& give_up) {
  if (asked_ >= give_up.call) return;
  asked_ = give_up.call;
  GiveUp named = give_up;
  if (named.absent < 0) named.absent = who_is_absent(give_up.call);
  outgoing_.push_back({above(), write(named)});
}

void Meeting::decide_met(const Come& come) {
  if (is_broken()) return;
  verdict_.met = come.call;
  verdict_.calls = come.calls;
  hand_down();
}

void Meeting::decide_given_up(const GiveUp& give_up) {
  verdict_.given_up = give_up.call;
  verdict_.by = give_up.by;
  verdict_.absent = give_up.absent < 0 ? who_is_absent(give_up.call) : give_up.absent;
  verdict_.code = give_up.code;
  verdict_.why = give_up.why;
  hand_down();
}

void Meeting::hand_down() {
  for (const Below& below : below_) outgoing_.push_back({below.pe, write(verdict_)});
}

// PE 0 decides when its own message comes back to it, behind all that has arrived before: had its
// process been stopped, others would have waited meanwhile, and may have given up.
int Meeting::above() const { return is_decider() ? 0 : pe_above(my_pe_); }

Meeting::Below* Meeting::find_below(int pe) {
  const auto found = std::find_if(below_.begin(), below_.end(),
                                  [pe](const Below& below) { return below.pe == pe; });
  return found == below_.end() ? nullptr : &*found;
}

}  // namespace chime::host
