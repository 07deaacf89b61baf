#include "recording.hpp"

#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace chime::tests {
namespace {

const std::set<Allow> kOfAnotherQueue{Allow::kQpn, Allow::kIndex};
const std::set<Allow> kOfAnotherProgram{Allow::kQpn, Allow::kIndex, Allow::kCe};
const std::set<Allow> kOfAnotherRun{Allow::kQpn, Allow::kIndex, Allow::kAddress, Allow::kKey};

Bytes bytes_of(const std::string& hex) {
  Bytes bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
    bytes.push_back(static_cast<std::uint8_t>(std::stoul(hex.substr(i, 2), nullptr, 16)));
  return bytes;
}

void call(const std::function<void()>* body) { (*body)(); }

}  // namespace

void Recording::post(Case a_case, const Body& ours, unsigned lanes) {
  const std::function<void()> body = [&] {
    ours(queues_.context());
    channel::quiet(queues_.context());
  };
  run_block(lanes, call, &body);
  cases_.push_back(std::move(a_case));
}

void Recording::like_libmlx5(const std::string& name, std::vector<TwoQueues::Request> theirs,
                             const Body& ours, unsigned lanes) {
  queues_.post_by_libmlx5(theirs);
  post({name, "libmlx5", kOfAnotherProgram, theirs.size(), {}}, ours, lanes);
}

void Recording::like_prm(const std::string& name, std::vector<direct::Wqe> theirs,
                         const Body& ours) {
  std::vector<Bytes> references;
  for (const direct::Wqe& wqe : theirs) {
    references.push_back(wqe.bytes());
    references.back()[7] = static_cast<std::uint8_t>(wqe.segments());  // what posting fills in
  }
  post({name, "PRM", kOfAnotherQueue, references.size(), references}, ours);
}

void Recording::like_ucx(const std::string& name, const char* theirs, const Body& ours) {
  post({name, "UCX", kOfAnotherRun, 1, {bytes_of(theirs)}}, ours);
}

Seen Recording::seen(std::uint32_t qpn) const {
  Seen seen;
  std::ifstream file(trace_);
  for (std::string line; std::getline(file, line);) {
    const auto record = nlohmann::json::parse(line);
    if (record.value("qpn", 0u) != qpn) continue;
    if (record["event"] == "wqe") seen.requests.push_back(bytes_of(record["bytes"]));
    if (record["event"] == "doorbell") seen.doorbells.push_back(bytes_of(record["bytes"]));
  }
  return seen;
}

std::vector<Compared> Recording::compared() const {
  const Seen theirs = seen(queues_.qpn_of_libmlx5()), ours = seen(queues_.qpn_of_chime());
  std::vector<Compared> all;
  std::size_t by_libmlx5 = 0, by_chime = 0;
  for (const Case& c : cases_)
    for (std::size_t i = 0; i < c.requests; ++i) {
      const Bytes& reference =
          c.references.empty() ? theirs.requests.at(by_libmlx5++) : c.references[i];
      const std::string which = c.requests == 1 ? ""
                                                : " (" + std::to_string(i + 1) + " of " +
                                                      std::to_string(c.requests) + ")";
      all.push_back({c.name + which, c.source, c.allowed, reference, ours.requests.at(by_chime++)});
    }
  if (by_libmlx5 != theirs.requests.size() || by_chime != ours.requests.size())
    throw std::runtime_error("the softnic saw more requests than the cases have");
  return all;
}

}  // namespace chime::tests
