#include "faults.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <sstream>
#include <stdexcept>
#include <thread>

#include "dma.hpp"

namespace softnic {
namespace {

constexpr std::array kRuleNames{"error", "lost_doorbell", "delay",        "stall",    "vanish",
                                "rnr",   "torn",          "slow_atomics", "late_cqe", "seed"};

constexpr Syndrome kSyndromes[] = {
    Syndrome::kLocalLength,      Syndrome::kLocalQpOperation, Syndrome::kLocalProtection,
    Syndrome::kBadResponse,      Syndrome::kLocalAccess,      Syndrome::kRemoteInvalidRequest,
    Syndrome::kRemoteAccess,     Syndrome::kRemoteOperation,  Syndrome::kTransportRetryExceeded,
    Syndrome::kRnrRetryExceeded, Syndrome::kRemoteAborted};

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
      seed = std::strtoull(rule.c_str() + 5, nullptr, 10);
      continue;
    }
    rules_.push_back(parse(rule));
    if (rules_.back().name == "slow_atomics") atomic_pause_ns_ = rules_.back().microseconds * 1000;
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
      rule.probability = std::strtod(value.c_str(), nullptr);
    else if (key == "qp")
      rule.qp = static_cast<std::uint32_t>(std::strtoul(value.c_str(), nullptr, 0));
    else if (key == "wqe")
      rule.wqe = std::strtoull(value.c_str(), nullptr, 0);
    else if (key == "count")
      rule.count = std::strtoull(value.c_str(), nullptr, 0);
    else if (key == "us")
      rule.microseconds = static_cast<std::uint32_t>(std::strtoul(value.c_str(), nullptr, 0));
    else if (key == "syndrome")
      rule.syndrome = syndrome_named(text, value);
    else
      refuse(text, "key '" + key + "' is not one of p, qp, wqe, count, us, syndrome");
  }
  if (rule.name == "error" && rule.syndrome == Syndrome::kNone) refuse(text, "needs syndrome=NAME");
  if (rule.name == "error" && rule.count == ~0ull) rule.count = 1;
  return rule;
}

bool Faults::strikes(Rule& rule) {
  if (rule.count == 0) return false;
  if (rule.probability < 1.0 && std::uniform_real_distribution<>(0, 1)(random_) >= rule.probability)
    return false;
  if (rule.count != ~0ull) --rule.count;
  return true;
}

Faults::Rule* Faults::pick(const char* name, const QueuePair* qp) {
  for (Rule& rule : rules_)
    if (rule.name == name && (!rule.qp || (qp && qp->qpn % kQpsPerNic == *rule.qp)) &&
        strikes(rule))
      return &rule;
  return nullptr;
}

bool Faults::loses_doorbell() { return !rules_.empty() && pick("lost_doorbell", nullptr); }

Syndrome Faults::syndrome_for(const QueuePair& qp, std::uint64_t nth, Syndrome found) {
  if (found != Syndrome::kNone) return found;
  for (Rule& rule : rules_) {
    const bool here = rule.name == "error" && (!rule.qp || qp.qpn % kQpsPerNic == *rule.qp) &&
                      (!rule.wqe || *rule.wqe == nth);
    if (here && strikes(rule)) return rule.syndrome;
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
    return false;  // what was held goes out now; the next message may be held again
  }
  if (Rule* rule = pick("delay", &qp)) {
    held_until_.emplace_back(qp.qpn, now + std::chrono::microseconds(rule->microseconds));
    return true;
  }
  return false;
}

bool Faults::stalls(const QueuePair& qp) { return !rules_.empty() && pick("stall", &qp); }

bool Faults::not_ready(const QueuePair& qp) { return !rules_.empty() && pick("rnr", &qp); }

bool Faults::tears(QueuePair& qp, const PacketHeader& header, std::byte* to,
                   const std::byte* payload) {
  if (rules_.empty() || header.payload < 16) return false;
  const Rule* rule = pick("torn", &qp);
  if (!rule) return false;
  const std::uint32_t first = header.payload / 2 / 8 * 8;
  dma_write(to, payload, first);
  busy_wait(std::chrono::microseconds(rule->microseconds));
  dma_write(to + first, payload + first, header.payload - first);
  return true;
}

bool Faults::vanishes() {
  if (rules_.empty()) return false;
  for (const Rule& rule : rules_)
    if (rule.name == "vanish" &&
        Clock::now() - started_ > std::chrono::microseconds(rule.microseconds))
      return true;
  return false;
}

void Faults::pause_inside_atomic() {
  if (atomic_pause_ns_ != 0)
    busy_wait(std::chrono::nanoseconds(random_() % (2 * atomic_pause_ns_)));
}

}  // namespace softnic
