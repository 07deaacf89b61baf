#include "host/teams/multicast.hpp"

#include <fmt/format.h>

#include <exception>
#include <map>
#include <span>
#include <string_view>
#include <utility>

#include "host/errors/error.hpp"
#include "host/peers/node/exchange.hpp"

namespace chime::host {
namespace {

// What a PE says after a step: that it could, with facts about itself, or why it could not.
constexpr char kCould = '+', kCouldNot = '-';

std::string says(const std::string& why_not, const std::string& facts = {}) {
  return why_not.empty() ? kCould + facts : kCouldNot + why_not;
}

class Maker {
 public:
  explicit Maker(const MulticastSetup& setup)
      : setup_(setup), node_(setup.bootstrap.node()), is_creator_(node_.my_pe == 0) {}

  NodeMulticast make() {
    NodeMulticast made;
    made.why_not = why_not_by_steps(made);
    if (made.why_not.empty()) {
      made.pes = node_.pes;
    } else {
      made.object.reset();
      made.heaps = nullptr;
    }
    return made;
  }

 private:
  std::string why_not_by_steps(NodeMulticast& made) {
    if (node_.n_pes == 1) return fmt::format("PE {} is alone on its node", setup_.bootstrap.rank());
    if (std::string why = why_some_cannot(); !why.empty()) return why;
    const std::string why_none = create(made);
    if (std::string why = join(made, why_none); !why.empty()) return why;
    return bind(made);
  }

  std::string why_some_cannot() {
    std::string mine = "it does not map all PEs of its node (CHIME_P2P)", address;
    if (setup_.maps_all) {
      const std::string failed = why_failed([&] {
        address = setup_.gpu.pci_address();
        mine = setup_.gpu.why_no_multicast(setup_.heap, static_cast<unsigned>(node_.n_pes));
      });
      if (!failed.empty()) mine = failed;
    }
    const auto words = hear("chime.multicast.able", says(mine, address));
    const std::string why = first_objection(words);
    return why.empty() ? why_two_on_a_gpu(words) : why;
  }

  // By the lowest PE; the others get it. Why it could not.
  std::string create(NodeMulticast& made) {
    std::string why;
    if (is_creator_)
      why = why_failed([&] {
        made.object =
            setup_.gpu.create_multicast(setup_.heap.bytes(), static_cast<unsigned>(node_.n_pes));
      });
    NodeEndpointInfo mine;
    mine.pe = setup_.bootstrap.rank();
    mine.process = bootstrap::endpoint_info_of_this_process();
    const int descriptor = made.object ? made.object->share_fd() : -1;
    mine.transport_has_descriptor = descriptor >= 0;
    auto others = exchange_with_node(setup_.bootstrap, mine, descriptor, setup_.control.share_fd(),
                                     setup_.deadline);
    if (!is_creator_) created_ = std::move(others.front().transport);
    return why;
  }

  std::string join(NodeMulticast& made, std::string why) {
    if (why.empty())
      why = why_failed([&] {
        if (!is_creator_ && created_.get() >= 0)
          made.object = setup_.gpu.join_multicast(created_.get(), setup_.heap.bytes());
        if (!made.object) throw Error("", CHIMEX_ERR_SYSTEM, "it was given no multicast object");
        made.object->add_device();
      });
    return first_objection(hear("chime.multicast.joined", says(why)));
  }

  std::string bind(NodeMulticast& made) {
    const std::string why = why_failed([&] { made.heaps = made.object->bind(setup_.heap); });
    return first_objection(hear("chime.multicast.bound", says(why)));
  }

  // The words of all PEs of the node, in their order.
  std::vector<std::string> hear(std::string_view key, const std::string& mine) {
    setup_.bootstrap.publish(key, std::as_bytes(std::span(mine)));
    std::vector<std::string> words;
    for (const int pe : node_.pes) {
      const bootstrap::Bytes bytes = setup_.bootstrap.lookup(pe, key, setup_.deadline);
      words.emplace_back(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    }
    return words;
  }

  std::string first_objection(std::span<const std::string> words) const {
    for (std::size_t i = 0; i < words.size(); ++i)
      if (words[i].empty() || words[i][0] != kCould)
        return fmt::format("PE {}: {}", node_.pes[i], words[i].substr(words[i].empty() ? 0 : 1));
    return {};
  }

  std::string why_two_on_a_gpu(std::span<const std::string> addresses) const {
    std::map<std::string_view, int> owners;
    for (std::size_t i = 0; i < addresses.size(); ++i) {
      const auto [found, is_new] = owners.emplace(addresses[i], node_.pes[i]);
      if (!is_new)
        return fmt::format("PEs {} and {} are on one GPU ({})", found->second, node_.pes[i],
                           addresses[i].substr(1));
    }
    return {};
  }

  template <class Act>
  static std::string why_failed(Act act) {
    try {
      act();
      return {};
    } catch (const Error& error) {
      return error.message();
    } catch (const std::exception& error) {
      return error.what();
    }
  }

  const MulticastSetup& setup_;
  const bootstrap::NodeInfo& node_;
  const bool is_creator_;
  net::Descriptor created_;
};

}  // namespace

NodeMulticast make_node_multicast(const MulticastSetup& setup) { return Maker(setup).make(); }

}  // namespace chime::host
