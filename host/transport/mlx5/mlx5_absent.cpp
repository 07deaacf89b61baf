// The NIC path of a build without rdma-core's headers.
#include "host/errors/error.hpp"
#include "host/transport/mlx5/connector.hpp"
#include "host/transport/mlx5/mlx5_transport.hpp"

namespace chime::host {
namespace {

constexpr char kWhy[] =
    "this libchime was built without rdma-core; configure it where libibverbs-dev is installed";

struct Nothing final : mlx5::Connectable {
  mlx5::Card card() const override {
    mlx5::Card card;
    card.why_none = kWhy;
    return card;
  }
  void connect(int, const mlx5::Card&) override {}
  mlx5::DataOrder data_order() const override { return mlx5::DataOrder::kNoNic; }
  void learn_order(int, mlx5::DataOrder) override {}
};

}  // namespace

struct Mlx5Transport::Parts {};

Mlx5Transport::Mlx5Transport(const NicPlace&, Gpu&, const DeviceMemory&, const NicOptions& options,
                             const ScratchBytes&) {
  if (!options.is_auto()) throw Error("CHIME_NIC", CHIMEX_ERR_UNSUPPORTED, kWhy);
}
Mlx5Transport::~Mlx5Transport() = default;

void Mlx5Transport::connect(bootstrap::Bootstrap& bootstrap, bootstrap::Deadline deadline) {
  Nothing nothing;
  mlx5::make_init_connector(bootstrap)->connect(nothing, deadline);
}

bool Mlx5Transport::reaches(int) const { return false; }
std::string Mlx5Transport::why_not(int) const { return kWhy; }

NicHeap Mlx5Transport::heap(int) const { return {}; }
const mlx5::QueuePairView& Mlx5Transport::queue_pair(int, unsigned) const {
  static const mlx5::QueuePairView none;
  return none;
}
void Mlx5Transport::to_error(int, unsigned) {}

bool Mlx5Transport::is_open() const { return false; }
NicHeap Mlx5Transport::own_heap() const { return {}; }
unsigned Mlx5Transport::slots() const { return 0; }
NicScratch Mlx5Transport::scratch(QueueOwner) const { return {}; }
std::unique_ptr<NicRegistration> Mlx5Transport::register_buffer(std::byte*, std::size_t) {
  return nullptr;
}
bool Mlx5Transport::counts_on_order(int) const { return false; }
bool Mlx5Transport::has_masked_atomics() const { return false; }
bool Mlx5Transport::results_8_big_endian() const { return false; }
std::string Mlx5Transport::describe() const { return std::string("no NIC: ") + kWhy; }

bool nic_may_be_here() { return false; }

}  // namespace chime::host
