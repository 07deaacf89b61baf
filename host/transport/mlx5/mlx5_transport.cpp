#include "host/transport/mlx5/mlx5_transport.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <random>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "host/error.hpp"
#include "host/transport/mlx5/connector.hpp"
#include "host/transport/mlx5/device_choice.hpp"
#include "host/transport/mlx5/mlx5_devx.hpp"
#include "host/transport/mlx5/mlx5_gid.hpp"
#include "host/transport/mlx5/mlx5_mr.hpp"
#include "host/transport/mlx5/mlx5_qp.hpp"
#include "host/transport/mlx5/softnic_activation.hpp"

namespace chime::host {

using namespace mlx5;  // NOLINT: this file puts its parts together

namespace {

bool wants_devx(const Device& device) {
  switch (device.options().backend) {
    case NicBackend::kVerbs:
      return false;
    case NicBackend::kDevx:
      if (!device.has_devx())
        throw Error("CHIME_NIC_BACKEND", CHIMEX_ERR_UNSUPPORTED,
                    "devx is asked for, but " + device.why_no_devx() +
                        "; CHIME_NIC_BACKEND=verbs does without");
      return true;
    case NicBackend::kAuto:
      break;
  }
  return false;  // both serve host memory alike; verbs leaves more to the kernel's driver
}

void check_depth(const Device& device) {
  if (device.options().queue_depth > device.capabilities().most_blocks)
    throw Error("CHIME_QP_DEPTH", CHIMEX_ERR_UNSUPPORTED,
                fmt::format("{} is more than this NIC's {}", device.options().queue_depth,
                            device.capabilities().most_blocks));
}

std::uint32_t random_psn() { return std::random_device{}() & 0xffffff; }

ActiveSoftnic softnic_for(const NicOptions& options, const std::string& job) {
  return options.is_soft() ? activate_softnic(job, options.softnic_library) : nullptr;
}

// The order of members is that of making; nothing outlives what it stands on.
class Nic final : public Connectable {
 public:
  Nic(const NicPlace& place, Gpu& gpu, const DeviceMemory& heap, const NicOptions& options,
      std::size_t scratch_bytes)
      : place_(place),
        gpu_(gpu),
        softnic_(softnic_for(options, place.job)),
        device_(options, place_of_pci_device(gpu.pci_address())),
        heap_bytes_(heap.bytes()),
        heap_(device_, gpu, heap),
        slab_(gpu, slab_bytes(scratch_bytes)),
        scratch_bytes_(scratch_bytes),
        scratch_(slab_.take(scratch_bytes, kPage)),
        scratch_key_(register_local(device_, slab_.address(), slab_.bytes())),
        doorbells_(
            options.doorbell,
            [&gpu](std::byte* page, std::size_t bytes) { return gpu.map_io_memory(page, bytes); },
            take_mailboxes()),
        backend_(make_backend()),
        psn_(random_psn()),
        cards_(static_cast<std::size_t>(place.n_pes)),
        orders_(static_cast<std::size_t>(place.n_pes)) {
    for (unsigned i = 0; i < n_queue_pairs(); ++i) {
      queue_pairs_.push_back(backend_->make_queue_pair());
      check_memory(queue_pairs_.back()->view());
    }
    doorbell_writer_ = doorbells_.start();
  }

  Card card() const override {
    Card card;
    card.port = device_.address();
    card.heap = RegisteredHeap::kStart;
    card.heap_bytes = heap_bytes_;
    card.key = heap_.key();
    card.strict_key = heap_.strict_key();
    card.is_relaxed = heap_.is_relaxed();
    card.psn = psn_;
    card.reads = device_.capabilities().reads;
    card.slots = slots();
    for (const auto& queue_pair : queue_pairs_) card.qpn.push_back(queue_pair->view().qpn);
    return card;
  }

  void connect(int pe, const Card& theirs) override {
    cards_[static_cast<std::size_t>(pe)] = theirs;
    if (!theirs.why_none.empty()) return;
    check_fits(pe, theirs);
    for (unsigned slot = 0; slot < theirs.slots; ++slot)
      at(pe, slot).connect(route_to(theirs, slot));
  }

  // One word for all queue pairs: the first that does not say that it keeps order.
  DataOrder data_order() const override {
    // Of one queue pair to each peer: those beside it go by the same port and address.
    for (int pe = 0; pe < place_.n_pes; ++pe)
      if (is_connected(pe))
        if (const DataOrder order = at(pe, 0).data_order(); order != DataOrder::kInOrder)
          return order;
    return DataOrder::kInOrder;
  }
  void learn_order(int pe, DataOrder order) override {
    orders_[static_cast<std::size_t>(pe)] = order;
  }
  bool counts_on_order(int pe) const {
    return mlx5::counts_on_order(device_.options().write_order,
                                 orders_[static_cast<std::size_t>(pe)]);
  }
  bool is_connected(int pe) const { return card_of(pe).why_none.empty(); }

  QueuePair& at(int pe, unsigned slot) const {
    return *queue_pairs_[static_cast<std::size_t>(pe) * slots() + slot];
  }
  // Under the lock: who comes second returns when it has happened, too.
  void to_error(int pe, unsigned slot) {
    const std::lock_guard lock(one_ends_);
    if (ended_.contains({pe, slot})) return;
    at(pe, slot).to_error();
    ended_.emplace(pe, slot);
  }
  unsigned slots() const { return device_.options().slots + kHostQueuePairs; }
  const Card& card_of(int pe) const { return cards_[static_cast<std::size_t>(pe)]; }
  const Device& device() const { return device_; }
  MemoryKey register_buffer(std::byte* memory, std::size_t bytes) const {
    return mlx5::register_buffer(device_, gpu_, memory, bytes);
  }
  NicScratch scratch() const { return {scratch_, scratch_bytes_, scratch_key_->lkey}; }

  std::string describe() const {
    return fmt::format(
        "{}; {}, {} queue pairs of {} blocks in host memory; heap registered as {}; "
        "doorbells {}; {}",
        device_.description(), backend_->name(), queue_pairs_.size(), device_.options().queue_depth,
        heap_.how(), doorbells_.describe(),
        describe_order(device_.options().write_order, orders_,
                       device_.capabilities().extended_atomics));
  }

 private:
  static constexpr std::size_t kPage = 4096;

  unsigned n_queue_pairs() const { return static_cast<unsigned>(place_.n_pes) * slots(); }

  // Results of atomics and staged reads lie in the scratch memory, so in the slab, and PCIe keeps a
  // NIC's writes to one memory in order. Completions elsewhere might come before what they tell of:
  // device/path/nic/fetch.cuh and stage.cuh ask for no flush.
  void check_memory(const QueuePairView& view) const {
    if (slab_.holds(view.completions)) return;
    throw Error("NIC", CHIMEX_ERR_UNSUPPORTED,
                fmt::format("completions of the {} backend lie at {}, outside of the queue memory, "
                            "and may come before what they tell of; choose another one with "
                            "CHIME_NIC_BACKEND",
                            backend_->name(), static_cast<const void*>(view.completions)));
  }

  // All of the device's queues, whichever backend makes them.
  std::size_t slab_bytes(std::size_t scratch_bytes) const {
    check_depth(device_);
    const unsigned depth = device_.options().queue_depth;
    const std::size_t each = wants_devx(device_) ? devx_bytes(depth) : verbs_bytes(depth);
    return whole_pages(scratch_bytes) + whole_pages(mailbox_bytes()) + n_queue_pairs() * each;
  }
  std::size_t mailbox_bytes() const { return n_queue_pairs() * sizeof(std::uint64_t); }
  std::span<std::uint64_t> take_mailboxes() {
    return {reinterpret_cast<std::uint64_t*>(slab_.take(mailbox_bytes(), kPage)), n_queue_pairs()};
  }
  static std::size_t whole_pages(std::size_t bytes) { return (bytes + kPage - 1) / kPage * kPage; }

  std::unique_ptr<Backend> make_backend() {
    return wants_devx(device_) ? make_devx_backend(device_, slab_, doorbells_)
                               : make_verbs_backend(device_, slab_, doorbells_);
  }

  void check_fits(int pe, const Card& theirs) const {
    const auto refuse = [&](const std::string& why) {
      throw Error("NIC", CHIMEX_ERR_MISMATCH, fmt::format("PE {} {}", pe, why));
    };
    if (theirs.slots != slots() || theirs.qpn.size() != n_queue_pairs())
      refuse(
          fmt::format("has {} queue pairs to each peer and this PE {}; CHIME_NIC_SLOTS must "
                      "be the same everywhere",
                      theirs.slots, slots()));
    if (theirs.heap_bytes != heap_bytes_)
      refuse(fmt::format(
          "has a heap of {} bytes and this PE one of {}; set CHIME_SYMMETRIC_SIZE alike "
          "on all PEs",
          theirs.heap_bytes - abi::kHeapReserved, heap_bytes_ - abi::kHeapReserved));
    const PortAddress& port = device_.address();
    if (theirs.port.ethernet != port.ethernet)
      refuse("uses another kind of port (InfiniBand or RoCE); choose it with CHIME_NIC");
    if (port.ethernet && !same_family(theirs.port.gid, port.gid))
      refuse(
          fmt::format("has the address {} and this PE {}: one is IPv4, one IPv6; choose with "
                      "CHIME_NIC_GID_INDEX",
                      text_of(theirs.port.gid), text_of(port.gid)));
  }

  // Its queue pair for this PE in the same slot. This PE's own stands for both ends of the way to
  // itself.
  Route route_to(const Card& theirs, unsigned slot) const {
    Route route;
    route.remote = theirs.port;
    route.remote_qpn = theirs.qpn[static_cast<std::size_t>(place_.my_pe) * theirs.slots + slot];
    route.send_psn = psn_;
    route.receive_psn = theirs.psn;
    route.reads = std::min(theirs.reads, device_.capabilities().reads);
    return route;
  }

  const NicPlace place_;
  Gpu& gpu_;
  ActiveSoftnic softnic_;
  Device device_;
  std::size_t heap_bytes_;
  RegisteredHeap heap_;
  Slab slab_;
  std::size_t scratch_bytes_;
  std::byte* scratch_;
  MemoryKey scratch_key_;
  Doorbells doorbells_;
  std::unique_ptr<Backend> backend_;
  std::uint32_t psn_;
  std::vector<std::unique_ptr<QueuePair>> queue_pairs_;  // [pe][slot]
  std::mutex one_ends_;
  std::set<std::pair<int, unsigned>> ended_;         // {pe, slot} of those moved to error
  std::vector<Card> cards_;                          // [pe], when connected
  std::vector<DataOrder> orders_;                    // [pe], of what is written there
  std::unique_ptr<DoorbellWriter> doorbell_writer_;  // last: it rings their registers
};

class Registration final : public NicRegistration {
 public:
  explicit Registration(MemoryKey key) : key_(std::move(key)) {}
  std::uint32_t key() const override { return key_->lkey; }

 private:
  MemoryKey key_;
};

// A PE that has no NIC says why.
class NoNic final : public Connectable {
 public:
  explicit NoNic(std::string why) : why_(std::move(why)) {}
  Card card() const override {
    Card card;
    card.why_none = why_;
    return card;
  }
  void connect(int, const Card&) override {}
  DataOrder data_order() const override { return DataOrder::kNoNic; }
  void learn_order(int, DataOrder) override {}

 private:
  std::string why_;
};

}  // namespace

struct Mlx5Transport::Parts {
  std::unique_ptr<Nic> nic;  // null: `why_none` says why
  std::string why_none;
  bool connected = false;
};

Mlx5Transport::Mlx5Transport(const NicPlace& place, Gpu& gpu, const DeviceMemory& heap,
                             const NicOptions& options, std::size_t scratch_bytes)
    : parts_(std::make_unique<Parts>()) {
  if (options.is_auto() && !nic_may_be_here()) {
    parts_->why_none = "this machine has no RDMA device";
    return;
  }
  try {
    parts_->nic = std::make_unique<Nic>(place, gpu, heap, options, scratch_bytes);
  } catch (const Error& error) {
    if (!options.is_auto()) throw;
    parts_->why_none = error.what();
  }
}

Mlx5Transport::~Mlx5Transport() = default;

void Mlx5Transport::connect(bootstrap::Bootstrap& bootstrap, bootstrap::Deadline deadline) {
  const auto connector = make_init_connector(bootstrap);
  if (parts_->nic) {
    connector->connect(*parts_->nic, deadline);
  } else {
    NoNic none(parts_->why_none);
    connector->connect(none, deadline);
  }
  parts_->connected = true;
}

bool Mlx5Transport::reaches(int pe) const {
  return parts_->nic && parts_->connected && parts_->nic->is_connected(pe);
}

std::string Mlx5Transport::why_not(int pe) const {
  if (!parts_->nic) return "this PE has no NIC: " + parts_->why_none;
  if (!parts_->connected) return "the queue pairs are not connected yet";
  return fmt::format("PE {} has no NIC: {}", pe, parts_->nic->card_of(pe).why_none);
}

NicHeap Mlx5Transport::heap(int pe) const {
  const Card& card = parts_->nic->card_of(pe);
  return {card.heap, card.heap_bytes, card.key, card.strict_key, card.is_relaxed != 0};
}

const QueuePairView& Mlx5Transport::queue_pair(int pe, unsigned slot) const {
  return parts_->nic->at(pe, slot).view();
}

void Mlx5Transport::to_error(int pe, unsigned slot) { parts_->nic->to_error(pe, slot); }

bool Mlx5Transport::is_open() const { return parts_->nic != nullptr; }

NicHeap Mlx5Transport::own_heap() const {
  const Card card = parts_->nic->card();
  return {card.heap, card.heap_bytes, card.key, card.strict_key, card.is_relaxed != 0};
}

unsigned Mlx5Transport::slots() const { return parts_->nic ? parts_->nic->slots() : 0; }

NicScratch Mlx5Transport::scratch() const {
  return parts_->nic ? parts_->nic->scratch() : NicScratch{};
}

std::unique_ptr<NicRegistration> Mlx5Transport::register_buffer(std::byte* memory,
                                                                std::size_t bytes) {
  return std::make_unique<Registration>(parts_->nic->register_buffer(memory, bytes));
}

bool Mlx5Transport::counts_on_order(int pe) const {
  return parts_->nic && parts_->nic->counts_on_order(pe);
}

bool Mlx5Transport::has_masked_atomics() const {
  return parts_->nic && parts_->nic->device().capabilities().extended_atomics;
}

bool Mlx5Transport::results_8_big_endian() const {
  return parts_->nic && parts_->nic->device().capabilities().results_8_big_endian;
}

std::string Mlx5Transport::describe() const {
  return parts_->nic ? parts_->nic->describe() : "no NIC: " + parts_->why_none;
}

bool nic_may_be_here() { return has_rdma_devices(); }

}  // namespace chime::host
