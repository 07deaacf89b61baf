#include "faults.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <sstream>
#include <stdexcept>
#include <type_traits>

#include "log.hpp"
#include "softnic/engine/dma.hpp"

namespace softnic {
namespace {

constexpr std::array kRuleNames{"error", "lost_doorbell", "delay",        "stall",    "vanish",
                                "rnr",   "torn",          "slow_atomics", "late_cqe", "reorder"};

constexpr Syndrome kSyndromes[] = {
    Syndrome::kLocalLength,      Syndrome::kLocalQpOperation, Syndrome::kLocalProtection,
    Syndrome::kBadResponse,      Syndrome::kLocalAccess,      Syndrome::kRemoteInvalidRequest,
    Syndrome::kRemoteAccess,     Syndrome::kRemoteOperation,  Syndrome::kTransportRetryExceeded,
    Syndrome::kRnrRetryExceeded, Syndrome::kRemoteAborted};

// A rule meets a doorbell, a message or a completion, which has a queue pair. These have none.
constexpr std::array kRulesOfTheNic{"vanish", "slow_atomics"};

[[noreturn]] void refuse(const std::string& rule, const std::string& why) {
  throw std::runtime_error("softnic: SOFTNIC_FAULTS: rule '" + rule + "': " + why);
}

Syndrome syndrome_named(const std::string& rule, const std::string& name) {
  std::string all;
  for (Syndrome s : kSyndromes) {
    if (name == name_of(s)) return s;
    all += std::string(all.empty() ? "" : ", ") + name_of(s);
  }
  refuse(rule, "syndrome '" + name + "' is not one of " + all);
}

template <class T>
T number(const std::string& rule, const std::string& key, const std::string& text) {
  const bool hexadecimal = std::is_integral_v<T> && text.starts_with("0x");
  const char* const start = text.data() + (hexadecimal ? 2 : 0);
  const char* const end = text.data() + text.size();
  T value{};
  std::from_chars_result result;
  if constexpr (std::is_integral_v<T>)
    result = std::from_chars(start, end, value, hexadecimal ? 16 : 10);
  else
    result = std::from_chars(start, end, value);
  if (result.ec != std::errc() || result.ptr != end || value < T{})
    refuse(rule, key + " is '" + text + "', which is no number that it may be");
  return value;
}

void busy_wait(std::chrono::nanoseconds time) {
  for (const auto end = Clock::now() + time; Clock::now() < end;) {
  }
}

}  // namespace

Faults::Faults(const std::string& text) {
  std::uint64_t seed = 1;
  std::istringstream rules(text);
  for (std::string rule; std::getline(rules, rule, ';');) {
    if (rule.empty()) continue;
    if (rule.starts_with("seed=") || rule.starts_with("seed:")) {
      seed = number<std::uint64_t>(rule, "seed", rule.substr(5));
      continue;
    }
    rules_.push_back(parse(rule));
  }
  random_.seed(seed);
}

Faults::Rule Faults::parse(const std::string& text) {
  Rule rule;
  const auto colon = text.find(':');
  rule.name = text.substr(0, colon);
  if (std::ranges::find(kRuleNames, rule.name) == kRuleNames.end()) {
    std::string all;
    for (const char* name : kRuleNames) all += std::string(all.empty() ? "" : ", ") + name;
    refuse(text, "no such fault; there are " + all);
  }
  std::istringstream settings(colon == std::string::npos ? "" : text.substr(colon + 1));
  for (std::string setting; std::getline(settings, setting, ',');) {
    const auto equals = setting.find('=');
    const std::string key = setting.substr(0, equals);
    const std::string value = equals == std::string::npos ? "" : setting.substr(equals + 1);
    if (value.empty()) refuse(text, "'" + setting + "' is not key=value");
    if (key == "p")
      rule.probability = number<double>(text, key, value);
    else if (key == "qp")
      rule.qp = number<std::uint32_t>(text, key, value);
    else if (key == "wqe")
      rule.wqe = number<std::uint64_t>(text, key, value);
    else if (key == "count")
      rule.count = number<std::uint64_t>(text, key, value);
    else if (key == "us")
      rule.microseconds = number<std::uint32_t>(text, key, value);
    else if (key == "syndrome")
      rule.syndrome = syndrome_named(text, value);
    else
      refuse(text, "key '" + key + "' is not one of p, qp, wqe, count, us, syndrome");
  }
  if (!(rule.probability <= 1)) refuse(text, "p is a probability: 0 to 1");
  if (rule.name == "error" && rule.syndrome == Syndrome::kNone) refuse(text, "needs syndrome=NAME");
  if (rule.name != "error" && rule.syndrome != Syndrome::kNone)
    refuse(text, "only error has a syndrome");
  if (rule.name != "error" && rule.wqe)
    refuse(text, "only error strikes at a work request's number");
  if (rule.qp && std::ranges::find(kRulesOfTheNic, rule.name) != kRulesOfTheNic.end())
    refuse(text, "strikes the whole NIC: it has no qp");
  if (rule.name == "error" && rule.count == ~0ull) rule.count = 1;
  return rule;
}

bool Faults::strikes(Rule& rule) {
  if (rule.struck == rule.count) return false;
  if (rule.probability < 1.0 && std::uniform_real_distribution<>(0, 1)(random_) >= rule.probability)
    return false;
  ++rule.struck;
  return true;
}

Faults::Rule* Faults::pick(const char* name, std::uint32_t qpn) {
  for (Rule& rule : rules_)
    if (rule.name == name && (!rule.qp || qpn % kQpsPerNic == *rule.qp) && strikes(rule))
      return &rule;
  return nullptr;
}

bool Faults::loses_doorbell(std::uint32_t qpn) {
  return !rules_.empty() && pick("lost_doorbell", qpn);
}

Syndrome Faults::syndrome_for(const QueuePair& qp, std::uint64_t nth, Syndrome found) {
  if (found != Syndrome::kNone) return found;
  for (Rule& rule : rules_) {
    const bool here = rule.name == "error" && (!rule.qp || qp.qpn % kQpsPerNic == *rule.qp) &&
                      (!rule.wqe || *rule.wqe == nth);
    if (!here || !strikes(rule)) continue;
    print("softnic: fault: error: work request %llu of queue pair %#x fails with %s\n",
          static_cast<unsigned long long>(nth), qp.qpn, name_of(rule.syndrome));
    return rule.syndrome;
  }
  return Syndrome::kNone;
}

bool Faults::holds_back(const QueuePair& qp) {
  if (rules_.empty()) return false;
  const auto now = Clock::now();
  auto held =
      std::ranges::find(held_until_, qp.qpn, &std::pair<std::uint32_t, Clock::time_point>::first);
  if (held != held_until_.end()) {
    if (now < held->second) return true;
    held_until_.erase(held);
    return false;  // the held message goes out now; the next one may be held again
  }
  if (Rule* rule = pick("delay", qp.qpn)) {
    held_until_.emplace_back(qp.qpn, now + std::chrono::microseconds(rule->microseconds));
    return true;
  }
  return false;
}

bool Faults::stalls(const QueuePair& qp) { return !rules_.empty() && pick("stall", qp.qpn); }

bool Faults::not_ready(const QueuePair& qp) { return !rules_.empty() && pick("rnr", qp.qpn); }

std::optional<std::chrono::microseconds> Faults::delays_completion(std::uint32_t qpn) {
  const Rule* rule = rules_.empty() ? nullptr : pick("late_cqe", qpn);
  if (!rule) return std::nullopt;
  return std::chrono::microseconds(rule->microseconds);
}

void Faults::place(const QueuePair& qp, std::byte* to, const std::byte* payload,
                   std::uint32_t bytes) {
  constexpr std::uint32_t kLeast = 16;  // a word is never torn
  const Rule* rule = rules_.empty() || bytes < kLeast ? nullptr : pick("torn", qp.qpn);
  if (!rule) return dma_write(to, payload, bytes);
  const std::uint32_t first = bytes / 2 / 8 * 8;
  dma_write(to, payload, first);
  busy_wait(std::chrono::microseconds(rule->microseconds));
  dma_write(to + first, payload + first, bytes - first);
}

std::optional<std::chrono::microseconds> Faults::lets_overtake(const QueuePair& qp) {
  const Rule* rule = rules_.empty() ? nullptr : pick("reorder", qp.qpn);
  if (!rule) return std::nullopt;
  return std::chrono::microseconds(rule->microseconds);
}

bool Faults::reorders(std::uint32_t qpn) const {
  return std::ranges::any_of(rules_, [&](const Rule& rule) {
    return rule.name == "reorder" && (!rule.qp || qpn % kQpsPerNic == *rule.qp);
  });
}

bool Faults::vanishes() {
  if (rules_.empty()) return false;
  for (Rule& rule : rules_)
    if (rule.name == "vanish" &&
        Clock::now() - started_ > std::chrono::microseconds(rule.microseconds)) {
      ++rule.struck;
      print("softnic: fault: vanish: the NIC is gone, %u us after its start\n", rule.microseconds);
      return true;
    }
  return false;
}

void Faults::pause_inside_atomic() {
  constexpr std::uint32_t kAnyQp = 0;  // the rule has no qp
  const Rule* rule = rules_.empty() ? nullptr : pick("slow_atomics", kAnyQp);
  if (rule) busy_wait(std::chrono::nanoseconds(random_() % (2000ull * rule->microseconds + 1)));
}

Faults::Strikes Faults::strikes() const {
  Strikes all;
  for (const Rule& rule : rules_) all[rule.name] += rule.struck;
  return all;
}

}  // namespace softnic
