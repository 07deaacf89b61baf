#include "host/peers/node_talk.hpp"

#include <span>
#include <string_view>

namespace chime::host {
namespace {

constexpr std::string_view kKey = "chime.gpus";

}  // namespace

NodeTalk talk_of_gpus(bootstrap::Bootstrap& bootstrap, bootstrap::Deadline deadline) {
  NodeTalk talk;
  talk.tell = [&bootstrap](const std::string& mine) {
    bootstrap.publish(kKey, std::as_bytes(std::span(mine)));
  };
  talk.hear = [&bootstrap, deadline] {
    NodeTalk::Heard heard;
    for (const int pe : bootstrap.node().pes) {
      if (pe == bootstrap.rank()) heard.my_place = heard.by_place.size();
      const bootstrap::Bytes words = bootstrap.lookup(pe, kKey, deadline);
      heard.by_place.emplace_back(reinterpret_cast<const char*>(words.data()), words.size());
    }
    return heard;
  };
  return talk;
}

}  // namespace chime::host
