#include "host/transport/mlx5/connector.hpp"

#include <fmt/format.h>

#include <map>
#include <mutex>
#include <span>

#include "host/errors/error.hpp"

namespace chime::host::mlx5 {
namespace {

// How often this PE has shown a card to its job: a launcher may keep the cards of an earlier
// chime_init of the same processes, so each turn has a key of its own.
std::uint64_t next_turn(const bootstrap::Bootstrap& bootstrap) {
  static std::mutex mutex;
  static auto& turns = *new std::map<std::pair<std::string, int>, std::uint64_t>;
  const std::lock_guard lock(mutex);
  return ++turns[{bootstrap.job_id(), bootstrap.rank()}];
}

class InitConnector final : public Connector {
 public:
  explicit InitConnector(bootstrap::Bootstrap& bootstrap) : bootstrap_(bootstrap) {}

  void connect(Connectable& mine, bootstrap::Deadline deadline) override {
    const std::string key = fmt::format("chime.nic.{}", next_turn(bootstrap_));
    const Card card = mine.card();
    bootstrap_.publish(key, write_card(card));
    for (int pe = 0; pe < bootstrap_.size(); ++pe)
      mine.connect(
          pe, pe == bootstrap_.rank() ? card : read_card(pe, bootstrap_.lookup(pe, key, deadline)));
    exchange_orders(mine, key + ".order", deadline);
  }

 private:
  // A queue pair knows only when it is connected. So who has all orders knows that all PEs have
  // connected theirs: nobody sends before everybody can receive.
  void exchange_orders(Connectable& mine, const std::string& key, bootstrap::Deadline deadline) {
    const DataOrder order = mine.data_order();
    bootstrap_.publish(key, std::as_bytes(std::span(&order, 1)));
    for (int pe = 0; pe < bootstrap_.size(); ++pe)
      mine.learn_order(pe, pe == bootstrap_.rank()
                               ? order
                               : read_order(pe, bootstrap_.lookup(pe, key, deadline)));
  }

  static DataOrder read_order(int pe, std::span<const std::byte> bytes) {
    if (bytes.size() != 1 || bytes[0] > std::byte{static_cast<std::uint8_t>(DataOrder::kUnknown)})
      throw Error("NIC", CHIMEX_ERR_MISMATCH,
                  fmt::format("PE {} runs another version of Chime", pe));
    return static_cast<DataOrder>(bytes[0]);
  }

  bootstrap::Bootstrap& bootstrap_;
};

}  // namespace

std::unique_ptr<Connector> make_init_connector(bootstrap::Bootstrap& bootstrap) {
  return std::make_unique<InitConnector>(bootstrap);
}

}  // namespace chime::host::mlx5
