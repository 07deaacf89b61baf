#include "host/transport/mlx5/queues/pe_queues.hpp"

#include <fmt/format.h>

#include "host/errors/error.hpp"

namespace chime::host::mlx5 {
namespace {

// The registers as this process has them mapped: where host code rings.
class OwnRegisters final : public IoMapping {
 public:
  explicit OwnRegisters(std::byte* address) : address_(address) {}
  std::byte* address() const override { return address_; }

 private:
  std::byte* const address_;
};

Doorbells doorbells_of_host() {
  return Doorbells(
      NicDoorbell::kDirect,
      [](std::byte* page, std::size_t) { return std::make_unique<OwnRegisters>(page); }, {});
}

// Host code reads and writes these queues, so they lie in the host's memory.
QueueSetPlan plan_of_host(const Device& device, unsigned places, std::size_t scratch_bytes) {
  return {in_host_memory(device.options().backend, "").backend, QueuePlace::kHost, places,
          kHostQueuePairs, scratch_bytes};
}

void check_depth(const Device& device) {
  if (device.options().queue_depth > device.capabilities().most_blocks)
    throw Error("CHIME_QP_DEPTH", CHIMEX_ERR_UNSUPPORTED,
                fmt::format("{} is more than this NIC's {}", device.options().queue_depth,
                            device.capabilities().most_blocks));
}

}  // namespace

PeQueues::PeQueues(const Device& device, Gpu& gpu, unsigned places, const ScratchBytes& scratch)
    : device_(device),
      gpu_(gpu),
      places_(places),
      slots_of_kernels_(device.options().slots),
      mailboxes_(gpu.allocate_host_visible(n_for_kernels() * sizeof(std::uint64_t))),
      kernels_(make_for_kernels(scratch.kernels)),
      host_(device, gpu, plan_of_host(device, places, scratch.host), doorbells_of_host()) {}

Scratch PeQueues::scratch(ContextOwner owner) const {
  const QueueSet& queues = owner == ContextOwner::kKernels ? *kernels_ : host_;
  return {queues.scratch(), queues.scratch_key()};
}

// In the device's memory if that is the choice and can be had, else in the host's.
std::unique_ptr<QueueSet> PeQueues::make_for_kernels(std::size_t scratch_bytes) {
  check_depth(device_);
  const NicBackend asked = device_.options().backend;
  QueueChoice choice =
      choose_queues(asked, {gpu_.is_cpu(), gpu_.orders_device_writes(), device_.why_no_devx()});
  if (choice.place == QueuePlace::kDevice && !gpu_.is_cpu()) {
    try {
      return make_for_kernels(choice, scratch_bytes);
    } catch (const Error& error) {
      choice = in_host_memory(asked, error.message());
    }
  }
  why_host_ = choice.why_host;
  return make_for_kernels(choice, scratch_bytes);
}

std::unique_ptr<QueueSet> PeQueues::make_for_kernels(const QueueChoice& choice,
                                                     std::size_t scratch_bytes) {
  const QueueSetPlan plan = {choice.backend, choice.place, places_, slots_of_kernels_,
                             scratch_bytes};
  return std::make_unique<QueueSet>(device_, gpu_, plan, doorbells_of_kernels());
}

Doorbells PeQueues::doorbells_of_kernels() {
  gpu_.set(mailboxes_->address(), 0, mailboxes_->bytes());
  return Doorbells(
      device_.options().doorbell,
      [this](std::byte* page, std::size_t bytes) { return gpu_.map_io_memory(page, bytes); },
      {reinterpret_cast<std::uint64_t*>(mailboxes_->address()), n_for_kernels()});
}

std::string PeQueues::describe() const {
  std::string place = "host memory";
  if (kernels_->place() == QueuePlace::kDevice)
    place = "the device's memory";
  else if (!why_host_.empty())
    place += fmt::format(" ({})", why_host_);
  return fmt::format("queue pairs of {} blocks: {} of kernels by {} in {}, {} of the host by {}",
                     device_.options().queue_depth, kernels_->size(), kernels_->backend(), place,
                     host_.size(), host_.backend());
}

std::vector<Shortfall> PeQueues::shortfalls() const {
  using Of = Shortfall::Of;
  std::vector<Shortfall> found;
  if (gpu_.is_cpu()) return found;
  const NicOptions& asked = device_.options();
  if (kernels_->place() == QueuePlace::kHost && asked.backend != NicBackend::kVerbs)
    found.push_back(
        {Of::kQueuesInHostMemory,
         fmt::format("kernels' requests and completions lie in host memory and not in the GPU's, "
                     "so that each crosses the bus: {}. CHIME_NIC_BACKEND=verbs chooses that "
                     "without this line",
                     why_host_)});
  if (!kernels_->why_mailboxes().empty() && asked.doorbell != NicDoorbell::kCpu)
    found.push_back(
        {Of::kDoorbellsOfHostThread,
         fmt::format("a host thread rings the NIC for kernels, up to 1 ms late after a rest: {}",
                     kernels_->why_mailboxes())});
  return found;
}

}  // namespace chime::host::mlx5
