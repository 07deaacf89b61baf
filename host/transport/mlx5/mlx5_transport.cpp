#include "host/transport/mlx5/mlx5_transport.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <random>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "host/errors/error.hpp"
#include "host/transport/mlx5/connector.hpp"
#include "host/transport/mlx5/nic/mlx5_gid.hpp"
#include "host/transport/mlx5/nic/mlx5_mr.hpp"
#include "host/transport/mlx5/nic/rdma_sysfs.hpp"
#include "host/transport/mlx5/nic/softnic_activation.hpp"
#include "host/transport/mlx5/queues/queue_choice.hpp"
#include "host/transport/mlx5/queues/queue_set.hpp"

namespace chime::host {

using namespace mlx5;  // NOLINT: this file puts its parts together

namespace {

void check_depth(const Device& device) {
  if (device.options().queue_depth > device.capabilities().most_blocks)
    throw Error("CHIME_QP_DEPTH", CHIMEX_ERR_UNSUPPORTED,
                fmt::format("{} is more than this NIC's {}", device.options().queue_depth,
                            device.capabilities().most_blocks));
}

// The registers as this process has them mapped: where host code rings.
class OwnRegisters final : public IoMapping {
 public:
  explicit OwnRegisters(std::byte* address) : address_(address) {}
  std::byte* address() const override { return address_; }

 private:
  std::byte* const address_;
};

std::uint32_t random_psn() { return std::random_device{}() & 0xffffff; }

ActiveSoftnic softnic_for(const NicOptions& options, const std::string& job) {
  return options.is_soft() ? activate_softnic(job, options.softnic_library) : nullptr;
}

// The order of members is that of making; nothing outlives what it stands on.
class Nic final : public Connectable {
 public:
  Nic(const NicPlace& place, Gpu& gpu, const DeviceMemory& heap, const NicOptions& options,
      const ScratchBytes& scratch)
      : place_(place),
        gpu_(gpu),
        softnic_(softnic_for(options, place.job)),
        device_(options, gpu.pci_address(), place.node_pe),
        heap_bytes_(heap.bytes()),
        heap_(device_, gpu, heap),
        mailboxes_(gpu.allocate_host_visible(n_for_kernels() * sizeof(std::uint64_t))),
        kernels_(make_kernel_queues(scratch.kernels)),
        host_(device_, gpu, host_plan(scratch.host), host_doorbells()),
        psn_(random_psn()),
        cards_(static_cast<std::size_t>(place.n_pes)),
        orders_(static_cast<std::size_t>(place.n_pes)) {}

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
    for (int pe = 0; pe < place_.n_pes; ++pe)
      for (unsigned slot = 0; slot < slots(); ++slot) card.qpn.push_back(at(pe, slot).view().qpn);
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
    const unsigned for_kernels = device_.options().slots;
    return slot < for_kernels ? kernels_->at(pe, slot) : host_.at(pe, slot - for_kernels);
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
  NicScratch scratch(QueueOwner owner) const {
    const QueueSet& queues = owner == QueueOwner::kKernels ? *kernels_ : host_;
    return {queues.scratch(), queues.scratch_key()};
  }

  std::string describe() const {
    return fmt::format(
        "{}; queue pairs of {} blocks: {} of kernels by {} in {}, {} of the host by {}; heap "
        "registered as {}; doorbells {}; {}",
        device_.description(), device_.options().queue_depth, kernels_->size(), kernels_->backend(),
        place_of_queues(), host_.size(), host_.backend(), heap_.how(),
        kernels_->describe_doorbells(),
        describe_order(device_.options().write_order, orders_,
                       device_.capabilities().extended_atomics));
  }

 private:
  unsigned n_for_kernels() const {
    return static_cast<unsigned>(place_.n_pes) * device_.options().slots;
  }
  unsigned n_queue_pairs() const { return static_cast<unsigned>(place_.n_pes) * slots(); }

  // In the device's memory if that is the choice and can be had, else in the host's.
  std::unique_ptr<QueueSet> make_kernel_queues(std::size_t scratch_bytes) {
    check_depth(device_);
    const NicBackend asked = device_.options().backend;
    QueueChoice choice =
        choose_queues(asked, {gpu_.is_cpu(), gpu_.orders_device_writes(), device_.why_no_devx()});
    if (choice.place == QueuePlace::kDevice && !gpu_.is_cpu()) {
      try {
        return make_kernel_queues(choice, scratch_bytes);
      } catch (const Error& error) {
        choice = in_host_memory(asked, error.message());
      }
    }
    why_host_ = choice.why_host;
    return make_kernel_queues(choice, scratch_bytes);
  }
  std::unique_ptr<QueueSet> make_kernel_queues(const QueueChoice& choice,
                                               std::size_t scratch_bytes) {
    const QueueSetPlan plan = {choice.backend, choice.place, place_.n_pes, device_.options().slots,
                               scratch_bytes};
    return std::make_unique<QueueSet>(device_, gpu_, plan, kernel_doorbells());
  }

  // Host code reads and writes them, so they are the host's.
  QueueSetPlan host_plan(std::size_t scratch_bytes) const {
    return {in_host_memory(device_.options().backend, "").backend, QueuePlace::kHost, place_.n_pes,
            kHostQueuePairs, scratch_bytes};
  }

  Doorbells kernel_doorbells() {
    gpu_.set(mailboxes_->address(), 0, mailboxes_->bytes());
    return Doorbells(
        device_.options().doorbell,
        [this](std::byte* page, std::size_t bytes) { return gpu_.map_io_memory(page, bytes); },
        {reinterpret_cast<std::uint64_t*>(mailboxes_->address()), n_for_kernels()});
  }
  static Doorbells host_doorbells() {
    return Doorbells(
        NicDoorbell::kDirect,
        [](std::byte* page, std::size_t) { return std::make_unique<OwnRegisters>(page); }, {});
  }

  std::string place_of_queues() const {
    if (kernels_->place() == QueuePlace::kDevice) return "the device's memory";
    return why_host_.empty() ? "host memory" : "host memory (" + why_host_ + ")";
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
  std::unique_ptr<DeviceMemory> mailboxes_;  // of kernels, where a host thread rings for them
  std::string why_host_;                     // why kernels' queues lie in the host's memory
  std::unique_ptr<QueueSet> kernels_;
  QueueSet host_;
  std::uint32_t psn_;
  std::mutex one_ends_;
  std::set<std::pair<int, unsigned>> ended_;  // {pe, slot} of those moved to error
  std::vector<Card> cards_;                   // [pe], when connected
  std::vector<DataOrder> orders_;             // [pe], of what is written there
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
                             const NicOptions& options, const ScratchBytes& scratch)
    : parts_(std::make_unique<Parts>()) {
  if (options.is_auto() && !nic_may_be_here()) {
    parts_->why_none = "this machine has no RDMA device";
    return;
  }
  try {
    parts_->nic = std::make_unique<Nic>(place, gpu, heap, options, scratch);
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

NicScratch Mlx5Transport::scratch(QueueOwner owner) const {
  return parts_->nic ? parts_->nic->scratch(owner) : NicScratch{};
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
