// The modelled network: the messages, their arrival, and their costs.
//
// Each node (a PE, or the hub) has one processor and one link. A message takes its sender
// `message_us` and its bytes' time, then `latency_us`, then its receiver the same again; a node
// does one thing at a time, in the order in which messages arrive. Nothing is lost.
#pragma once

#include <algorithm>
#include <cstdint>
#include <queue>
#include <utility>
#include <vector>

namespace chime::perf {

struct NetworkCosts {
  double latency_us = 25;      // one way, of TCP in a data centre
  double bytes_per_us = 1250;  // of each node's link: 10 Gbit/s
  double message_us = 5;       // of a processor, at each end: system call and HMAC

  double round_trip_us() const { return 2 * latency_us; }
};

template <class Message>
class Network {
 public:
  struct Traffic {
    std::uint64_t messages = 0, bytes = 0;  // sent and received
  };

  Network(std::size_t nodes, const NetworkCosts& costs) : costs_(costs), nodes_(nodes) {}

  // Sends `bytes` of `message` from `from`, the node that handles the current message.
  void send(int from, int to, std::size_t bytes, Message message) {
    Node& sender = node(from);
    const double took = costs_.message_us + static_cast<double>(bytes) / costs_.bytes_per_us;
    sender.free_us = std::max(sender.free_us, now_us_) + took;
    count(sender, bytes);
    post(sender.free_us + costs_.latency_us, sender.steps + 1, to, bytes, std::move(message));
  }

  // For events without a message of ours: a TCP connection's first packets, a thread's sleep.
  void after(int from, int to, double us, Message message) {
    const double start = std::max(node(from).free_us, now_us_);
    post(start + us, node(from).steps, to, 0, std::move(message));
  }

  // Keeps the processor of `node` busy for that time.
  void work(int of, double us) { node(of).free_us = std::max(node(of).free_us, now_us_) + us; }

  // Passes each message to `handle(to, message)` in the order of their arrival, until there is
  // none.
  template <class Handle>
  void run(Handle handle) {
    while (!events_.empty()) {
      Event event = std::move(const_cast<Event&>(events_.top()));
      events_.pop();
      Node& receiver = node(event.to);
      now_us_ = event.at_us;
      receiver.steps = std::max(receiver.steps, event.steps);
      if (event.bytes > 0) {
        work(event.to, costs_.message_us + static_cast<double>(event.bytes) / costs_.bytes_per_us);
        count(receiver, event.bytes);
      }
      now_us_ = std::max(now_us_, receiver.free_us);
      end_us_ = std::max(end_us_, now_us_);
      handle(event.to, std::move(event.message));
    }
  }

  // While a message is handled: its time. Else the time of the last one.
  double now_us() const { return now_us_; }
  double end_us() const { return end_us_; }
  // All nodes begin anew, now and with empty counters.
  void begin() {
    now_us_ = end_us_;
    for (Node& node : nodes_) node = {.free_us = end_us_};
  }

  const Traffic& traffic(int of) const { return nodes_[static_cast<std::size_t>(of)].traffic; }
  // The number of messages in sequence that led to the state of `of`.
  std::uint32_t steps(int of) const { return nodes_[static_cast<std::size_t>(of)].steps; }
  const NetworkCosts& costs() const { return costs_; }

 private:
  struct Node {
    double free_us = 0;
    Traffic traffic = {};
    std::uint32_t steps = 0;
  };
  struct Event {
    double at_us;
    std::uint64_t number;  // of two at the same time, the first was sent first
    int to;
    std::uint32_t steps;
    std::size_t bytes;
    Message message;

    bool operator<(const Event& other) const {  // the top of a queue is the greatest
      return at_us != other.at_us ? at_us > other.at_us : number > other.number;
    }
  };

  Node& node(int of) { return nodes_[static_cast<std::size_t>(of)]; }
  static void count(Node& node, std::size_t bytes) {
    ++node.traffic.messages;
    node.traffic.bytes += bytes;
  }
  void post(double at_us, std::uint32_t steps, int to, std::size_t bytes, Message message) {
    events_.push({at_us, next_++, to, steps, bytes, std::move(message)});
  }

  const NetworkCosts costs_;
  std::vector<Node> nodes_;
  std::priority_queue<Event> events_;
  std::uint64_t next_ = 0;
  double now_us_ = 0, end_us_ = 0;
};

}  // namespace chime::perf
