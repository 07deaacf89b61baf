// The state of a PE's peers: how far the path to each is made, and which path is taken. Nothing
// else answers by which path a peer is reached, or why by none.
//
// Per transport and peer:
//
//   unknown --ask--> asked --connect--> connecting --use--> usable
//       |                    |              |
//       +--refuse------------+--refuse------+--refuse-----> refused
//   any of them, by the peer's end: dead
//
// Sparse: a peer that nobody has asked for costs nothing. All functions from any thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "host/settings/env.hpp"
#include "host/transport/transport.hpp"

namespace chime::host {

struct ControlBlock;

enum class PeerState : std::uint8_t { kUnknown, kAsked, kConnecting, kUsable, kRefused, kDead };

class PeerTable {
 public:
  struct Job {
    int my_pe, n_pes;
    AmoChoice amo;
  };
  explicit PeerTable(const Job& job);

  // A transport that may reach peers. Mappings are preferred to NICs, these to fabrics. It outlives
  // this.
  void add(const Transport& transport);

  // Steps of `path` to `pe`. REQUIRES: the state before it, as drawn above.
  void ask(int pe, Path path);
  void connect(int pe, Path path);
  void use(int pe, Path path, std::byte* mapped);
  // `why`: empty if the transport itself says it (why_not).
  void refuse(int pe, Path path, std::string why = "");
  // No peer is reached by `path`.
  void refuse_all(Path path);
  // From the time at which somebody sees it dead, `take_mapping` has been run: no operation stores
  // to its memory then without a word.
  void bury(
      int pe, const std::string& how, const std::function<void()>& take_mapping = [] {});

  PeerState state(int pe, Path path) const;
  bool is_dead(int pe) const;

  // The path that operations take: the preferred one of those that are usable, or that are opened
  // on demand and not refused. kNone: there is none, or the peer is gone. Once it is taken it
  // stays.
  Path path(int pe) const;
  // Why there is none and what to change.
  std::string why_not(int pe) const;
  // Whether all PEs, this one included, are reached by `path`, or ask for it on demand.
  bool all_by(Path path) const;
  bool any_by(Path path) const;  // whether some PE is

  // How the job updates words of atomics (CHIME_AMO): the same answer on every PE, since either all
  // PEs are mapped everywhere or each has one that is not, and all know whether some PE has a NIC.
  // kNic: the owners' NICs, also for PEs that ask by the proxy. Where there is none, an owner's
  // proxy and a PE that has mapped a word update it by the same processors, so that both may.
  // Throws Error where the choice asks for something that the job does not have.
  Path amo_path() const;
  // Whether PEs that have a NIC let it make all updates of their words: some PE has one, and each
  // is reached by it or by the proxy.
  bool owners_nics_update() const;

  // Where the heap of `pe` is mapped here; null: it is not.
  std::byte* heap(int pe) const;

  // The control page of a local peer, or this PE's own; null: it is on another node, or the node's
  // PEs have not met.
  void set_control(int pe, ControlBlock* control);
  ControlBlock* control(int pe) const;

  int my_pe() const { return job_.my_pe; }
  int n_pes() const { return job_.n_pes; }

 private:
  static constexpr std::size_t kPaths = 4;  // values of Path
  static constexpr int kPage = 256;

  struct Peer {
    std::array<PeerState, kPaths> states = {};
    bool is_dead = false;
    std::byte* heap = nullptr;
    ControlBlock* control = nullptr;
  };
  using Page = std::array<Peer, kPage>;

  Peer& at(int pe);                                            // REQUIRES: mutex_
  Peer known(int pe) const;                                    // a copy; REQUIRES: mutex_
  void move(int pe, Path path, PeerState from, PeerState to);  // REQUIRES: mutex_
  bool is_on_demand(Path path) const;                          // REQUIRES: mutex_
  bool some_pe_has_nic() const;                                // REQUIRES: mutex_
  bool reaches_all(Path path) const;                           // REQUIRES: mutex_
  bool job_goes_by(Path path) const;                           // REQUIRES: mutex_

  const Job job_;
  mutable std::mutex mutex_;  // guards what follows
  std::vector<const Transport*> transports_;
  std::vector<std::unique_ptr<Page>> pages_;  // null: all of its peers are unknown
  std::array<int, kPaths> usable_ = {};       // how many peers, by path
  std::map<int, std::string> dead_;           // and how
  std::map<int, std::string> refused_;        // and why, where that is no transport's to say
  std::array<bool, kPaths> none_by_ = {};     // refused for all peers
};

}  // namespace chime::host
