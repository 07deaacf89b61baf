#include "tools/chime-doctor/job/exchange.hpp"

#include <fmt/format.h>

#include <condition_variable>
#include <mutex>
#include <nlohmann/json.hpp>
#include <utility>

#include "net/secure/secret.hpp"

namespace chime::doctor {
namespace {

using bootstrap::Answer;
using bootstrap::Deadline;
using nlohmann::json;

constexpr char kFacts[] = "chime.doctor.facts", kHosts[] = "chime.doctor.hosts",
               kPairs[] = "chime.doctor.pairs", kCode[] = "chime.doctor.code",
               kHeard[] = "chime.doctor.heard";

void publish(bootstrap::Bootstrap& job, const char* key, const json& value) {
  const std::string text = value.dump(-1, ' ', false, json::error_handler_t::replace);
  job.publish(key, net::bytes_of(text));
}

std::string text_of(const net::Bytes& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// The answers of many PEs, asked at once.
class Answers {
 public:
  Answers(const bootstrap::Bootstrap& job, const std::vector<int>& pes, const char* key)
      : n_open_(pes.size()) {
    for (const int pe : pes)
      questions_.push_back(job.ask(pe, key, [this, pe](const Answer& answer) {
        const std::lock_guard lock(mutex_);
        answers_.emplace(pe, answer);
        --n_open_;
        came_.notify_all();
      }));
  }

  // Those that are there when all are, or at the deadline.
  std::map<int, Answer> by(Deadline deadline) {
    std::unique_lock lock(mutex_);
    came_.wait_until(lock, deadline, [this] { return n_open_ == 0; });
    return answers_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable came_;
  std::size_t n_open_;
  std::map<int, Answer> answers_;
  std::vector<bootstrap::Question> questions_;  // last: after it no callback runs
};

// What `pe` said as `read` reads it; or why there is none.
template <class Read>
std::string why_none(const std::map<int, Answer>& answers, int pe, Read read) {
  const auto answer = answers.find(pe);
  if (answer == answers.end()) return "no word of it in time";
  if (answer->second.code != CHIMEX_OK) return answer->second.why;
  try {
    read(json::parse(text_of(answer->second.value)));
    return {};
  } catch (const json::exception& error) {
    return fmt::format("what it said cannot be read: {}", error.what());
  }
}

std::vector<int> others_in(const Job& job) {
  std::vector<int> pes;
  for (const PeFacts& pe : job.pes)
    if (pe.pe != 0) pes.push_back(pe.pe);
  return pes;
}

}  // namespace

void publish_facts(bootstrap::Bootstrap& job, const PeFacts& facts) {
  publish(job, kFacts, json_of(facts));
}

void publish_pairs(bootstrap::Bootstrap& job, const PairFacts& found) {
  publish(job, kPairs, json_of(found));
}

void publish_hosts(bootstrap::Bootstrap& job, const std::vector<HostAddresses>& hosts) {
  json all = json::array();
  for (const HostAddresses& host : hosts)
    all.push_back({{"pe", host.pe}, {"addresses", json_of(host.addresses)}});
  publish(job, kHosts, all);
}

void publish_code(bootstrap::Bootstrap& job, int code) { publish(job, kCode, code); }

Job ask_all(bootstrap::Bootstrap& bootstrap, Deadline deadline) {
  std::vector<int> pes;
  for (int pe = 0; pe < bootstrap.size(); ++pe) pes.push_back(pe);
  const auto answers = Answers(bootstrap, pes, kFacts).by(deadline);
  Job job;
  job.n_pes = bootstrap.size();
  for (const int pe : pes) {
    const std::string why = why_none(answers, pe, [&](const json& said) {
      PeFacts facts = pe_facts_of(said);
      facts.pe = pe;
      job.pes.push_back(std::move(facts));
    });
    if (!why.empty()) job.absent[pe] = why;
  }
  return job;
}

void ask_pairs(bootstrap::Bootstrap& bootstrap, const std::vector<HostAddresses>& hosts, Job& job,
               Deadline deadline) {
  std::vector<int> pes;
  for (const HostAddresses& host : hosts) pes.push_back(host.pe);
  const auto answers = Answers(bootstrap, pes, kPairs).by(deadline);
  for (const int pe : pes) {
    const std::string why = why_none(answers, pe, [&](const json& said) {
      PairFacts found = pair_facts_of(said);
      for (PathFacts& path : found.paths) job.found.paths.push_back(std::move(path));
      for (const ClockFacts& clock : found.clocks) job.found.clocks.push_back(clock);
    });
    if (!why.empty()) job.why_no_pairs[pe] = why;
  }
}

void wait_until_heard(bootstrap::Bootstrap& bootstrap, const Job& job, Deadline deadline) {
  Answers(bootstrap, others_in(job), kHeard).by(deadline);
}

std::vector<HostAddresses> hosts_by_first(bootstrap::Bootstrap& job, Deadline deadline) {
  const json all = json::parse(text_of(job.lookup(0, kHosts, deadline)));
  std::vector<HostAddresses> hosts;
  for (const json& one : all)
    hosts.push_back({one.value("pe", 0), addresses_of(one.value("addresses", json::array()))});
  return hosts;
}

int code_by_first(bootstrap::Bootstrap& job, Deadline deadline) {
  const int code = json::parse(text_of(job.lookup(0, kCode, deadline))).get<int>();
  publish(job, kHeard, true);
  return code;
}

}  // namespace chime::doctor
