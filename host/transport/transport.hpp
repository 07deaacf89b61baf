// The interface of a transport, by which a PE reaches peers: mapped memory (p2p/), a NIC whose
// queues kernels write (mlx5/), a fabric that the host drives (ofi/). host/ knows no more of a
// transport than this.
//
// host/peers, which brings two PEs together, goes through the same steps for every transport:
//
//   own_endpoint_info()    shown to all peers
//   offer(pe)     for `pe` alone
//   accept(pe)    with what `pe` shows and offers: it can be heard from here on
//   confirm(pe)   with what `pe` says of having accepted: it can be written to
//
// Endpoint infos, offers and receipts are bytes of one version of Chime. Where a transport works
// inside a node alone (Reach::kNode) a descriptor travels beside the endpoint info, there are no
// offers, and a PE that has accepted is connected: there is nothing to confirm.
//
// Calls come from one thread at a time, except where a comment says otherwise.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "chime/abi/amo_op.h"
#include "chime/abi/context.h"
#include "chime/error.h"

namespace chime::host {

using EndpointInfoBytes = std::vector<std::byte>;

// Bounds: what two PEs say to each other does not grow with the job.
inline constexpr std::size_t kMostEndpointInfoBytes = 512;
inline constexpr std::size_t kMostOfferBytes = 512;  // of an offer, and of a receipt

// The PEs that it may reach, and so how endpoint infos cross.
enum class Reach {
  kSelf,  // this PE alone: none do
  kNode,  // PEs of its node: with the node's exchange
  kJob,   // any: through the launcher
};

struct Capabilities {
  Path path;  // of device code
  Reach reach;
  bool maps;   // loads and stores reach a peer's heap
  bool posts;  // operations are requests, complete when a quiet says so
};

// The endpoint info that a PE shows to all peers.
struct OwnEndpointInfo {
  EndpointInfoBytes bytes;
  int descriptor = -1;  // borrowed; of Reach::kNode, if it has one
};

// Where a transport that finds its peers (Transport::finds_peers) gets their endpoint infos. By one
// thread.
class EndpointInfoFinder {
 public:
  struct Found {
    int pe;
    EndpointInfoBytes endpoint_info = {};
    std::string why_none = {};  // where there is no endpoint info
  };
  virtual ~EndpointInfoFinder() = default;
  // Looks for the endpoint info of `pe`, and returns at once. Once for each.
  virtual void look_for(int pe) = 0;
  // The answers that have come since the last call: one for each PE that was looked for, in bounded
  // time.
  virtual std::vector<Found> take() = 0;
};

// The endpoint info and offer that `pe` shows this PE.
struct PeerEndpointInfo {
  std::span<const std::byte> bytes = {};
  std::span<const std::byte> offer = {};  // for this PE alone
  int descriptor = -1;                    // borrowed
  bool is_of_this_process = false;        // a thread local peer: one address space
};

struct Acceptance {
  bool is_accepted = false;        // else why_not() says why it is not
  EndpointInfoBytes receipt = {};  // for confirm() at the peer
  std::byte* mapped = nullptr;     // where its heap begins here; null: nowhere
};

// Memory of this PE that its own requests may name. Given back on destruction.
class Registration {
 public:
  virtual ~Registration() = default;
  // A NIC's key, as requests name it; 0 where requests take none.
  virtual std::uint32_t key() const { return 0; }
};

// The side of a PE that sees the path to its peers: kernels, or a host operation. As
// abi::Channels::id.
enum class ContextOwner : std::uint32_t { kKernels = 0, kHost = 1 };
inline constexpr std::uint32_t context_id(ContextOwner owner) {
  return static_cast<std::uint32_t>(owner);
}

// The room that a transport needs in the PE's channel tables (channels/tables.hpp). A place is as
// many channels of each context as `slots` say, which are powers of two, at most 64.
struct ChannelNeeds {
  unsigned places = 0;
  unsigned kernel_slots = 0, host_slots = 0;
  bool opens_on_demand = false;  // some of them get a peer while kernels run
};
class ChannelTables;

// The resource that a wait found missing, for its message: "no staging slot came free" in 3 s;
// "there are 64".
struct Scarcity {
  std::string what, note;
  const char* remedy = nullptr;  // the call of Chime's that does what the note ends with
};

// An atomic update of a word of 4 or 8 bytes; low bytes of the operands.
struct WordUpdate {
  AmoOp op;
  std::uint32_t bytes;
  std::uint64_t operand, compare;  // compare: of kCompareSwap
};

// Updates the words of this PE's heap for all other PEs, so that all updates of a word are atomic
// with each other; and writes the data that comes with them.
class WordOwner {
 public:
  virtual ~WordOwner() = default;
  // The word before. `at`: its offset in this PE's heap, a multiple of its size, and inside.
  // Release and acquire: a reader that sees the update sees what this PE's memory held before.
  virtual std::uint64_t update(std::uint64_t at, const WordUpdate& update) = 0;
  // Writes a few bytes, inside the heap: each aligned word of 8, 4 or 2 bytes of them at once, so
  // that nobody sees half of one, and by release. Only asked for where the processor reaches the
  // heap.
  virtual void write(std::uint64_t at, std::span<const std::byte> data) = 0;
};

// An operation that the host carries out for a kernel or for itself. `here` is an address of this
// PE's, at which memory stays as it is until the operation has ended.
struct HostRequest {
  enum class Kind { kPut, kGet, kAtomic };
  Kind kind;
  int pe;
  std::uint64_t at;        // offset in the peer's heap
  std::byte* here;         // kAtomic: 8 bytes that become the word before; null: nobody wants it
  std::size_t bytes;       // kPut, kGet
  WordUpdate update = {};  // kAtomic, and of a put's signal
  // kPut: `update` of the word of 8 bytes at `signal_at` is carried out behind it (joins_signal).
  bool has_signal = false;
  std::uint64_t signal_at = 0;
};

// Transports that the host drives, and no kernel. By one thread.
class HostDriven {
 public:
  virtual ~HostDriven() = default;
  // Before the first poll(). `owner` outlives this.
  virtual void serve(WordOwner& owner) = 0;
  // Whether it has this PE's device update words and write to the heap: then there is no serve().
  virtual bool owns_words() const { return false; }
  // Before the first poll(), where it has, and NICs update words of the job: the device does by
  // this PE's, with `kernels`, which is a context of theirs.
  virtual void update_by_nic([[maybe_unused]] const Context& kernels) {}

  // Takes a request; false: there is no room until poll() has reported another's end. poll() hands
  // `completion` back. Requests pass each other, with one exception: an atomic is carried out
  // behind all puts to the same PE that were posted before it, so that a reader of its effect sees
  // the data of those.
  virtual bool post(const HostRequest& request, std::uint64_t completion) = 0;
  // How many requests it has room for.
  virtual std::size_t room() const { return ~std::size_t{0}; }
  // A put has ended when its data is in the peer's memory, a get or an atomic when its result is at
  // `here`. A failed request has changed nothing, or some of it.
  struct Ended {
    std::uint64_t completion;
    chimex_status status;
  };
  // Moves data in flight, carries out what peers ask for, and reports requests that have ended: at
  // most `ended.size()`. How many.
  virtual std::size_t poll(std::span<Ended> ended) = 0;
  // Whether the last poll() found anything, also messages of peers that are not reported here.
  virtual bool has_moved() const { return false; }
  // A descriptor that can be waited for by poll(2) or epoll until there may be something to do
  // here. Else kNoDescriptor: nothing wakes a sleeper; or kLookSoon: there may be something now.
  static constexpr int kNoDescriptor = -1, kLookSoon = -2;
  virtual int idle_descriptor() { return kNoDescriptor; }
  // Whether a put that is posted next may have its signal with it, as one request that has ended
  // when both have. Else the signal is an atomic that is posted behind it.
  virtual bool joins_signal([[maybe_unused]] const HostRequest& put) const { return false; }
};

// What makes a GPU's kernels slower than they could be on this machine.
struct Shortfall {
  enum class Of { kQueuesInHostMemory, kDoorbellsOfHostThread } of;
  std::string text;  // a sentence, with the remedy
};

class Transport {
 public:
  virtual ~Transport() = default;
  virtual Capabilities capabilities() const = 0;

  // "mlx5_0 port 1, InfiniBand, LID 7; ...": for logs and chime-info, once its peers are connected.
  virtual std::string describe() const = 0;

  // Whether this PE wanted a device that it does not have, and reaches nobody by it.
  virtual bool is_stand_in() const { return false; }

  // Without those that the user has chosen.
  virtual std::vector<Shortfall> shortfalls() const { return {}; }

  // ---- Connecting: see above. Throw Error where PEs do not fit together.
  virtual OwnEndpointInfo own_endpoint_info() const = 0;
  virtual EndpointInfoBytes offer([[maybe_unused]] int pe) { return {}; }
  // `pe` may be this PE itself.
  virtual Acceptance accept(int pe, const PeerEndpointInfo& endpoint_info) = 0;
  virtual void confirm([[maybe_unused]] int pe,
                       [[maybe_unused]] std::span<const std::byte> receipt) {}
  // The reason why this transport does not reach `pe` and what to change, in one sentence.
  // REQUIRES: it does not.
  virtual std::string why_not(int pe) const = 0;

  // Whether this transport reaches some PE of the job: alike on all PEs, once connected.
  virtual bool is_used() const { return true; }

  // ---- On demand: the steps above are taken for a peer when it is first touched, and at init for
  // this PE alone. The same answer on all PEs of the job.
  virtual bool opens_on_demand() const { return false; }
  // Whether the job goes by this transport, as the endpoint info of PE 0 says, which may be this
  // one. Throws Error where the job does and this PE cannot.
  virtual bool agrees_with_first([[maybe_unused]] std::span<const std::byte> endpoint_info) {
    return true;
  }
  // Whether an endpoint info is all that it takes to reach a peer. Then all PEs leave theirs, and
  // the transport finds peers that are touched by itself. The functions below are for other
  // transports.
  virtual bool finds_peers() const { return false; }
  // Why no offer can be made to `pe`; empty if one can be.
  virtual std::string why_no_offer([[maybe_unused]] int pe) const { return ""; }
  // An offer to `pe` that was not accepted here is free for others.
  virtual void withdraw([[maybe_unused]] int pe) {}
  // The PEs that device code has asked for since the last call. From any thread.
  virtual std::vector<int> take_wanted() { return {}; }
  // Tells device code that waits for `pe`: it is reached, or never will be. From make_view() on,
  // once a PE.
  virtual void answer([[maybe_unused]] int pe, [[maybe_unused]] bool is_reached) {}

  // ---- The view of device code. make_view() is called once, when all that init connects is
  // connected, by all transports: it fills the tables, which outlive it. Transports come in the
  // order of opening. view() enters into a context what the tables do not have.
  virtual ChannelNeeds channel_needs() const { return {}; }
  virtual void make_view(ChannelTables& tables) = 0;
  // Device code finds what was filled: threads that may have kernels run begin here.
  virtual void begin() {}
  virtual void view([[maybe_unused]] ContextOwner owner, [[maybe_unused]] Context& context) const {}

  // ---- What follows is of transports that post.

  // Makes memory beside the heap known to requests. Null: there is nothing to make known. From any
  // thread, one at a time. Throws Error with what the system says and the limit to raise.
  virtual std::unique_ptr<Registration> register_memory(std::byte*, std::size_t) { return nullptr; }
  // No request names memory that is registered any more: before all registrations go, each of which
  // would see to that for itself alone.
  virtual void forget_all_memory() {}

  // ---- Failures. From any thread.
  // Where `maps`: operations find `pe` unmapped from here on, of kernels on a GPU excepted (fail).
  // Its memory stays, for those that have begun. Waits for nothing.
  virtual void take_mapping([[maybe_unused]] int pe) {}
  // Ends the path to `pe`: requests in flight on it fail, and so do later ones.
  virtual void fail([[maybe_unused]] int pe) {}
  // Ends whatever threads of this PE have given up, so that nothing of it arrives later. Why that
  // failed; empty if it did not.
  virtual std::string end_given_up() { return ""; }
  // The first request to `pe` that failed, and why.
  virtual std::optional<std::string> why_lost([[maybe_unused]] int pe) const {
    return std::nullopt;
  }

  // The activity of its own thread, for a report of what the PE is doing. From any thread, once the
  // view is made. Empty: it has none.
  virtual std::string activity() const { return ""; }

  // Null: kernels write to its queues, or nobody does.
  virtual HostDriven* host_driven() { return nullptr; }
};

// In the order of preference and opening. They are destroyed in the reverse order, since a later
// one may stand on an earlier. A vector would begin with the first.
class Transports {
 public:
  Transports() = default;
  Transports(const Transports&) = delete;
  ~Transports() {
    while (!all_.empty()) all_.pop_back();
  }

  Transport& add(std::unique_ptr<Transport> opened) {
    return *all_.emplace_back(std::move(opened));
  }
  auto begin() const { return all_.begin(); }
  auto end() const { return all_.end(); }

 private:
  std::vector<std::unique_ptr<Transport>> all_;
};

}  // namespace chime::host
