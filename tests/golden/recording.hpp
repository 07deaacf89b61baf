// What the softnic saw of two queues: each request with what it must be like.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "comparison.hpp"
#include "two_queues.hpp"
#include "wqe.hpp"

namespace chime::tests {

struct Compared {
  std::string name;
  const char* source;  // who made the reference
  std::set<Allow> allowed;
  Bytes reference, ours;
};

// A queue's requests and doorbells, as the softnic took them.
struct Seen {
  std::vector<Bytes> requests;
  std::vector<Bytes> doorbells;
};

class Recording {
 public:
  explicit Recording(const std::string& trace) : trace_(trace) {}

  TwoQueues& queues() { return queues_; }

  // `ours` runs in a kernel of one thread, or `lanes` of a warp, and posts as many requests as
  // there are references.
  using Body = std::function<void(const Context&)>;
  void like_libmlx5(const std::string& name, std::vector<TwoQueues::Request> theirs,
                    const Body& ours, unsigned lanes = 1);
  // As the PRM describes them; but for qpn and index every byte is given.
  void like_prm(const std::string& name, std::vector<direct::Wqe> theirs, const Body& ours);
  // As UCX 1.13.1 (rc_mlx5) posted it on the softnic, in hexadecimal.
  void like_ucx(const std::string& name, const char* theirs, const Body& ours);

  // Reads the trace and puts every request beside its reference.
  std::vector<Compared> compared() const;
  Seen seen(std::uint32_t qpn) const;

 private:
  struct Case {
    std::string name;
    const char* source;
    std::set<Allow> allowed;
    std::size_t requests;
    std::vector<Bytes> references;  // empty: those that libmlx5 posted
  };
  void post(Case a_case, const Body& ours, unsigned lanes = 1);

  std::string trace_;
  TwoQueues queues_;
  std::vector<Case> cases_;
};

}  // namespace chime::tests
