#include "job.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace chime::perf {
namespace {

using bootstrap::MessageReader;
using bootstrap::MessageWriter;
using HubMessage = bootstrap::Message;

constexpr std::size_t kSettingsBytes = 32, kGpusBytes = 64;  // a few words each
constexpr std::size_t kTagBytes = sizeof(std::uint32_t);     // net/mesh's
constexpr std::size_t kLength = sizeof(std::uint32_t);       // before a field of any length
constexpr std::size_t kNodeNameBytes = 60;
const std::string kSettings = "chime.settings", kGpus = "chime.gpus", kPath = "chime.way.1",
                  kFabric = "chime.way.3", kReceipts = kPath + ".receipts",
                  kCallsEndpointInfo = "chime.side.calls", kPathsEndpointInfo = "chime.side.ways";

// Identifies a request on a side channel, by the number that its answer repeats: 0 is init's own.
constexpr std::uint32_t kAskedByCalls = 1u << 24, kAskedByPaths = 2u << 24, kPeBits = 0xffffff;

}  // namespace

Job::Job(const JobOptions& options, const NetworkCosts& costs)
    : options_(options),
      network_(static_cast<std::size_t>(options.n_pes) + 1, costs),
      session_(options.n_pes,
               [this](int pe, net::Bytes message) {
                 const std::size_t bytes = frame_bytes(message.size());
                 message.resize(std::min<std::size_t>(message.size(), 8));  // the rest is not read
                 network_.send(hub(), pe, bytes,
                               {Kind::kFromHub, Purpose::kHub, hub(), std::move(message)});
               }),
      pes_(static_cast<std::size_t>(options.n_pes)) {
  if (options.n_pes >= static_cast<int>(kPeBits))
    throw std::invalid_argument("a job has at most 2^24 PEs here");
  const auto at = [this](Purpose purpose) -> HandshakeBytes& {
    return handshakes_[static_cast<std::size_t>(purpose)];
  };
  at(Purpose::kHub) = handshake_bytes(sizeof(std::int32_t) + kLength + kNodeNameBytes);
  at(Purpose::kNode) = handshake_bytes(0);
  at(Purpose::kCalls) = at(Purpose::kPaths) = handshake_bytes(endpoint_infos_.side_channel);
}

Phase Job::start() {
  for (int pe = 0; pe < options_.n_pes; ++pe) dial(pe, hub(), Purpose::kHub);
  Phase phase = run();
  for (const Pe& pe : pes_)
    if (pe.step != Step::kDone) throw std::logic_error("a PE's init did not come to its end");
  return phase;
}

Phase Job::collective_call() {
  network_.begin();
  for (int pe = 0; pe < options_.n_pes && meetings_.size() < pes_.size(); ++pe)
    meetings_.emplace_back(pe, options_.n_pes);
  for (int pe = 0; pe < options_.n_pes; ++pe) {
    meetings_[static_cast<std::size_t>(pe)].come(
        {.kind = host::CollectiveCall::Kind::kMalloc, .first = 4096, .second = 0});
    send_calls(pe);
  }
  const Phase phase = run();
  for (const host::Meeting& meeting : meetings_)
    if (!meeting.has_met()) throw std::logic_error("a collective call did not meet");
  return phase;
}

Touches Job::touch(const std::vector<std::vector<int>>& peers_of) {
  network_.begin();
  touches_ = {};
  for (int pe = 0; pe < options_.n_pes; ++pe)
    for (const int peer : peers_of[static_cast<std::size_t>(pe)]) want(pe, peer);
  touches_.phase = run();
  for (const auto& [key, path] : paths_)
    if (path.state != PathState::kUsable) throw std::logic_error("a path was not opened");
  if (touches_.count > 0) touches_.mean_us /= static_cast<double>(touches_.count);
  return touches_;
}

double Job::touch_alone(int pe, int peer) {
  network_.begin();
  touches_ = {};
  want(pe, peer);
  run();
  return touches_.worst_us;
}

Phase Job::run() {
  const double begin = network_.now_us();
  network_.run([this](int to, Message message) { handle(to, std::move(message)); });
  Phase phase{.seconds = (network_.end_us() - begin) / 1e6};
  for (int pe = 0; pe < options_.n_pes; ++pe) {
    const auto& traffic = network_.traffic(pe);
    phase.messages += static_cast<double>(traffic.messages) / options_.n_pes;
    phase.bytes += static_cast<double>(traffic.bytes) / options_.n_pes;
    phase.most_messages = std::max(phase.most_messages, traffic.messages);
    phase.most_bytes = std::max(phase.most_bytes, traffic.bytes);
    phase.steps = std::max(phase.steps, network_.steps(pe));
  }
  phase.hub_messages = static_cast<double>(network_.traffic(hub()).messages) / options_.n_pes;
  return phase;
}

void Job::handle(int to, Message message) {
  const auto& handshake = handshakes_[static_cast<std::size_t>(message.purpose)];
  const int from = message.from;
  const auto answer = [&](Kind kind, std::size_t bytes) {
    network_.send(to, from, bytes, {kind, message.purpose, to});
  };
  switch (message.kind) {
    case Kind::kDialed:
      return answer(Kind::kChallenge, handshake.challenge);
    case Kind::kChallenge:
      return answer(Kind::kHello, handshake.hello);
    case Kind::kHello:
      answer(Kind::kVerdict, handshake.verdict);
      if (message.purpose == Purpose::kHub)
        session_.join(from, "node " + std::to_string(node_hub(from)));
      if (message.purpose >= Purpose::kCalls)
        links(message.purpose)[pair(to, from)].has_endpoint_info = true;
      return;
    case Kind::kVerdict:
      return on_open(to, from, message.purpose);
    case Kind::kToHub:
      return serve_hub(message);
    case Kind::kFromHub:
      return on_hub_answer(to, message.content);
    case Kind::kNodeEndpointInfo:
      return join_node(to);
    case Kind::kNodeEndpointInfos:
      return advance(to);
    case Kind::kCall:
      meetings_[static_cast<std::size_t>(to)].receive(from, message.content);
      return send_calls(to);
    case Kind::kOffer:
      return on_offer(to, from);
    case Kind::kReceipt:
      return on_receipt(to, from);
  }
}

// ---- The hub

void Job::serve_hub(const Message& message) {
  MessageReader reader(message.content);
  session_.handle(message.from, reader);
}

void Job::on_hub_answer(int pe, const net::Bytes& answer) {
  MessageReader reader(answer);
  if (reader.type() != HubMessage::kReply) throw std::logic_error("the hub refused a request");
  const auto id = reader.get<std::uint32_t>();
  if (id == 0) return advance(pe);
  dial(pe, static_cast<int>(id & kPeBits), id & kAskedByCalls ? Purpose::kCalls : Purpose::kPaths);
}

void Job::publish(int pe, const std::string& key, std::size_t bytes) {
  auto content = MessageWriter(HubMessage::kPublish)
                     .put<std::uint32_t>(0)
                     .text(key)
                     .bytes(net::Bytes(bytes))
                     .take();
  const std::size_t size = frame_bytes(content.size());
  network_.send(pe, hub(), size, {Kind::kToHub, Purpose::kHub, pe, std::move(content)});
}

void Job::look_up(int pe, int of, const std::string& key, std::uint32_t id) {
  auto content = MessageWriter(HubMessage::kLookup)
                     .put(id)
                     .put<std::int32_t>(of)
                     .text(key)
                     .put<std::uint8_t>(1)
                     .take();
  const std::size_t size = frame_bytes(content.size());
  network_.send(pe, hub(), size, {Kind::kToHub, Purpose::kHub, pe, std::move(content)});
}

// The next of `count` PEs from `from` on, without this one; false when all have been looked up.
bool Job::look_up_each(int pe, int from, int count, const std::string& key) {
  int& turn = pes_[static_cast<std::size_t>(pe)].turn;
  if (from + turn == pe) ++turn;
  if (turn >= count) {
    turn = 0;
    return false;
  }
  look_up(pe, from + turn++, key);
  return true;
}

// ---- Init's steps

void Job::advance(int pe) {
  Pe& me = pes_[static_cast<std::size_t>(pe)];
  while (me.step != Step::kDone && !take_step(pe))
    me.step = static_cast<Step>(static_cast<int>(me.step) + 1);
}

// Whether there is something to wait for; else, or when that has come, the next step is due.
bool Job::take_step(int pe) {
  Pe& me = pes_[static_cast<std::size_t>(pe)];
  const int n = options_.n_pes;
  const auto once = [&](auto act) {
    if (me.turn++ > 0) {
      me.turn = 0;
      return false;
    }
    act();
    return true;
  };
  const auto size = static_cast<std::size_t>(n);
  switch (me.step) {
    case Step::kJoin:  // has been answered
    case Step::kDone:
      return false;
    case Step::kSettings:
      return once(
          [&] { pe == 0 ? publish(pe, kSettings, kSettingsBytes) : look_up(pe, 0, kSettings); });
    case Step::kNodePeers:
      return once([&] {
        auto content = MessageWriter(HubMessage::kNodePeers).put<std::uint32_t>(0).take();
        const std::size_t bytes = frame_bytes(content.size());
        network_.send(pe, hub(), bytes, {Kind::kToHub, Purpose::kHub, pe, std::move(content)});
      });
    case Step::kTellGpus:
      return once([&] { publish(pe, kGpus, kGpusBytes); });
    case Step::kHearGpus:
      return look_up_each(pe, node_hub(pe), node_size(pe), kGpus);
    case Step::kNode:
      return node_size(pe) > 1 && once([&] { meet_node(pe); });
    case Step::kShow:  // on demand all look at PE 0's, to agree on the kind of network
      if (options_.is_lazy && pe != 0) return once([&] { look_up(pe, 0, kPath); });
      return once([&] {
        const std::size_t offers =
            options_.is_lazy ? 0 : size * (kLength + endpoint_infos_.nic_offer);
        publish(pe, kPath, sizeof(std::uint32_t) + kLength + endpoint_infos_.nic + offers);
      });
    case Step::kSee:
      return !options_.is_lazy && look_up_each(pe, 0, n, kPath);
    case Step::kTellReceipts:
      return !options_.is_lazy && once([&] {
        publish(pe, kReceipts, size * (1 + kLength + endpoint_infos_.nic_receipt));
      });
    case Step::kHearReceipts:
      return !options_.is_lazy && look_up_each(pe, 0, n, kReceipts);
    case Step::kLeaveFabric:  // opened where a NIC's places may not do: all leave their endpoint
                              // infos
      return options_.is_lazy && once([&] {
               publish(pe, kFabric, sizeof(std::uint32_t) + kLength + endpoint_infos_.fabric);
             });
    case Step::kSeeFirstFabric:
      return options_.is_lazy && pe != 0 && once([&] { look_up(pe, 0, kFabric); });
    case Step::kSideChannels: {
      const int channels = options_.is_lazy ? 2 : 1;
      if (me.turn == channels) return me.turn = 0, false;
      publish(pe, me.turn++ == 0 ? kCallsEndpointInfo : kPathsEndpointInfo,
              endpoint_infos_.side_channel);
      return true;
    }
  }
  return false;
}

// Local peers meet at the lowest PE of a node.
void Job::meet_node(int pe) {
  if (pe == node_hub(pe))
    join_node(pe);
  else
    dial(pe, node_hub(pe), Purpose::kNode);
}

// At the node's hub: it has come itself, or the endpoint info of a local peer has. When all have
// come, each gets all endpoint infos.
void Job::join_node(int of) {
  Pe& me = pes_[static_cast<std::size_t>(of)];
  if (++me.local_peers < node_size(of)) return;
  const std::size_t bytes =
      frame_bytes(static_cast<std::size_t>(me.local_peers) * endpoint_infos_.node);
  for (int local_peer = of + 1; local_peer < of + me.local_peers; ++local_peer)
    network_.send(of, local_peer, bytes, {Kind::kNodeEndpointInfos, Purpose::kNode, of});
  network_.after(of, of, 0, {Kind::kNodeEndpointInfos, Purpose::kNode, of});
}

// ---- Connections

// SYN, its answer, and the acknowledgement by which the other end sees the connection.
void Job::dial(int from, int to, Purpose purpose) {
  network_.after(from, to, 3 * network_.costs().latency_us, {Kind::kDialed, purpose, from});
}

void Job::on_open(int pe, int server, Purpose purpose) {
  if (purpose == Purpose::kHub) return advance(pe);
  if (purpose == Purpose::kNode)
    return network_.send(pe, server, frame_bytes(endpoint_infos_.node),
                         {Kind::kNodeEndpointInfo, purpose, pe});
  Link& link = links(purpose)[pair(pe, server)];
  link.is_open = true;
  for (Outgoing& message : std::exchange(link.waiting, {}))
    put_on_wire(pe, server, purpose, std::move(message));
}

// As in net/mesh: over a connection of its own. The launcher is asked for the address, unless `to`
// has sent its endpoint info.
void Job::send(int from, int to, Purpose purpose, Outgoing message) {
  if (from == to)
    return network_.after(from, to, 0, {message.kind, purpose, from, std::move(message.content)});
  Link& link = links(purpose)[pair(from, to)];
  if (link.is_open) return put_on_wire(from, to, purpose, std::move(message));
  link.waiting.push_back(std::move(message));
  if (std::exchange(link.is_asked, true)) return;
  if (link.has_endpoint_info) return dial(from, to, purpose);
  const bool is_call = purpose == Purpose::kCalls;
  look_up(from, to, is_call ? kCallsEndpointInfo : kPathsEndpointInfo,
          (is_call ? kAskedByCalls : kAskedByPaths) | static_cast<std::uint32_t>(to));
}

void Job::put_on_wire(int from, int to, Purpose purpose, Outgoing message) {
  network_.send(from, to, frame_bytes(kTagBytes + message.bytes),
                {message.kind, purpose, from, std::move(message.content)});
}

// ---- Collective calls

void Job::send_calls(int pe) {
  for (host::Meeting::Outgoing& message : meetings_[static_cast<std::size_t>(pe)].take_outgoing()) {
    const std::size_t bytes = message.content.size();
    send(pe, message.to, Purpose::kCalls, {Kind::kCall, bytes, std::move(message.content)});
  }
}

// ---- Paths on demand ----------------------------------------------------------------------------
// Each side offers, accepts the other's offer, and confirms that by a receipt. A side that has
// accepted can be written to; a side that has the other's receipt may write.

void Job::want(int pe, int peer) {
  PeerPath& path = paths_[pair(pe, peer)];
  if (path.wanted_us >= 0) return;
  path.wanted_us = network_.now_us();
  ++touches_.count;
  if (path.state != PathState::kUnknown) return;
  path.state = PathState::kAsked;
  offer(pe, peer);
}

void Job::offer(int pe, int peer) {
  const std::size_t bytes =
      1 + sizeof(std::uint32_t) + 2 * kLength + endpoint_infos_.nic + endpoint_infos_.nic_offer;
  send(pe, peer, Purpose::kPaths, {Kind::kOffer, bytes, {}});
}

void Job::accept(int pe, int peer, PeerPath& path) {
  network_.work(pe, options_.queue_pair_us);
  path.state = PathState::kConnecting;
  const std::size_t bytes = 1 + sizeof(std::uint32_t) + kLength + endpoint_infos_.nic_receipt;
  send(pe, peer, Purpose::kPaths, {Kind::kReceipt, bytes, {}});
}

void Job::on_offer(int pe, int from) {
  PeerPath& path = paths_[pair(pe, from)];
  if (path.state == PathState::kUnknown) offer(pe, from);
  accept(pe, from, path);
}

void Job::on_receipt(int pe, int from) {
  PeerPath& path = paths_[pair(pe, from)];
  if (path.state != PathState::kConnecting) throw std::logic_error("a receipt for nothing");
  path.state = PathState::kUsable;
  if (path.wanted_us < 0) return;
  const double took = network_.now_us() - path.wanted_us;
  touches_.mean_us += took;
  touches_.worst_us = std::max(touches_.worst_us, took);
}

}  // namespace chime::perf
