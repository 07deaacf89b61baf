// The facts that the PEs of one host need from a PMIx launcher. The lowest of these PEs, the host's
// leader, asks for them once and leaves them for the others. README.md, "What is asked of a PMIx
// launcher", says which PE puts and gets what. Needs PMIx's headers.
//
// "Host" is the launcher's word: the PEs that one of its daemons has started. Each PE leaves a name
// that shows which of them share a node (bootstrap/place.hpp).
#pragma once

#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "bootstrap/bootstrap.hpp"
#include "bootstrap/pmix/pmix_client.hpp"
#include "bootstrap/process_endpoint_info.hpp"
#include "net/mesh/fields.hpp"

namespace chime::bootstrap {

class PmixHost {
 public:
  // `endpoint_infos` is a PE's first joining, and outlives it. Throws BootstrapError.
  PmixHost(Bootstrap& endpoint_infos, PmixClient& client);
  // After stop().
  ~PmixHost();

  // Leaves this PE's endpoint infos and begins to ask: no program needs to come to a call of Chime
  // for others of its host to find their node. Throws BootstrapError.
  void join();
  // Ends what join() began. REQUIRES: no question is answered any more.
  void stop();

  // The PEs of this PE's node, and PE 0's secret. Wait until all of this host have joined, and PE
  // 0; at the latest until `deadline`. Throw BootstrapError that names a PE that is late or dead.
  NodeInfo node(Deadline deadline) const;
  Bytes secret(Deadline deadline) const;

  // As Bootstrap::lookup_of_first.
  Bytes lookup_of_first(std::string_view key, Deadline deadline);

 private:
  struct Member {
    int pe = -1;
    ProcessEndpointInfo process = {};
    std::string node = {};
  };
  static constexpr int kNobody = -1;
  // Why this host's PEs will never be together.
  struct Failure {
    chimex_status code;
    int gone;         // the PE that has ended, or kNobody
    std::string why;  // it has ended; or what else is wrong

    net::Writer& write(net::Writer& endpoint_info) const;
    static Failure read(net::Reader& fields);
    [[noreturn]] void raise(const std::string& what) const;
  };

  bool leads() const { return leader_ == me_; }
  bool has_pe_0() const { return leader_ == 0; }
  void ask(int pe, std::string_view key, void (PmixHost::*hear)(int pe, Bytes endpoint_info));
  void hear_member(int pe, Bytes endpoint_info);
  void hear_secret(int pe, Bytes endpoint_info);
  void hear_leader(int leader, Bytes endpoint_info);
  void add(Member member);
  void fail(int pe, const Answer& answer);
  void note(Failure failure);
  void lead();
  bool is_complete() const { return members_.size() == pes_.size() && !secret_.empty(); }
  Bytes endpoint_info_for_others() const;
  void wait(std::unique_lock<std::mutex>& lock, Deadline deadline) const;
  std::string who_is_late() const;
  Bytes ask_first_for_others(const std::string& relay, std::string_view key, Deadline deadline);
  bool is_there(int pe, std::string_view key) const;

  Bootstrap& endpoint_infos_;
  PmixClient& client_;
  const int me_;
  const std::vector<int> pes_;  // of this host, ascending
  const int leader_;

  mutable std::mutex mutex_;  // guards what follows
  mutable std::condition_variable changed_;
  std::vector<Member> members_;  // in the order of hearing of them
  Bytes secret_;
  std::optional<Failure> failure_;
  bool has_left_result_;  // the others of this host, if any wait for this PE
  bool must_stop_ = false;

  std::thread thread_;           // the leader's, for as long as it waits for others
  std::vector<Question> asked_;  // last: their answers change the above
};

}  // namespace chime::bootstrap
