// The operations of a test's own path (channel.cuh).
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "chime/device/channel/complete.cuh"
#include "chime/device/channel/error.cuh"
#include "chime/device/channel/submit.cuh"
#include "chime/device/op.cuh"
#include "chime/device/path/ops.cuh"

namespace chime {
namespace proxy {

inline std::byte* heaps[8];  // where the requests find them

inline void copy(const Request& request) {
  std::memcpy(request.dst, request.src ? request.src : request.word, request.bytes);
}

// A word may be a flag. Release: what was carried out before is there.
template <class W>
void store(const Request& request) {
  if constexpr (sizeof(W) == 8) {
    auto* const word = static_cast<std::uint64_t*>(request.dst);
    exec::st<exec::Order::kRelease, exec::Scope::kSystem>(word, request.word[0]);
  } else {
    copy(request);
  }
}

template <class A>
void apply(const Request& request) {
  using W = typename A::Word;
  W& word = *static_cast<W*>(request.dst);
  const W operand = static_cast<W>(request.word[0]), compare = static_cast<W>(request.word[1]);
  const W before = word;
  if constexpr (A::kOp == AmoOp::kSet) word = operand;
  if constexpr (A::kOp == AmoOp::kAdd) word += operand;
  if constexpr (A::kOp == AmoOp::kAnd) word &= operand;
  if constexpr (A::kOp == AmoOp::kOr) word |= operand;
  if constexpr (A::kOp == AmoOp::kXor) word ^= operand;
  if constexpr (A::kOp == AmoOp::kCompareSwap) word = before == compare ? operand : before;
  if (request.result) *request.result = before;
}

}  // namespace proxy

template <>
class Ops<Path::kProxy> {
 public:
  Ops(const Context& ctx, const Route& route)
      : ctx_(ctx), channel_(*route.channel), heap_(proxy::heaps[route.pe]) {}

  template <std::size_t kLeast, class Group>
  void put(Group g, const Put& put) const {
    if (g.is_leader()) wait(post({proxy::copy, at(put.dst), put.src, put.bytes, {}, {}, {}}));
  }
  template <std::size_t kLeast, class Group>
  void get(Group g, const Get& get) const {
    if (g.is_leader()) wait(post({proxy::copy, get.dst, at(get.src), get.bytes, {}, {}, {}}));
  }

  template <class W>
  void p(W* dst, W value) const {
    proxy::Request request = {proxy::store<W>, at(dst), nullptr, sizeof(W), {}, {}, {}};
    std::memcpy(request.word, &value, sizeof(W));
    post(request);
  }
  template <class W>
  W g(const W* src) const {
    W value;
    wait(post({proxy::copy, &value, at(src), sizeof(W), {}, {}, {}}));
    return value;
  }

  template <std::size_t kLeast, class Group>
  void put_signal(Group g, const Put& put, const SignalUpdate& signal) const {
    this->put<kLeast>(g, put);
    if (g.is_leader()) this->signal(signal);
  }
  void signal(const SignalUpdate& signal) const {
    if (signal.op == SignalOp::kAdd) {
      amo(Amo<AmoOp::kAdd, std::uint64_t>{signal.word, signal.value});
    } else {
      p(signal.word, signal.value);
    }
  }
  void announce(const SignalUpdate& signal) const { this->signal(signal); }

  template <class A>
  void amo(const A& amo) const {
    post(request_of(amo, nullptr));
  }
  template <class A>
  typename A::Word fetch_amo(const A& amo) const {
    std::uint64_t before = 0;
    wait(post(request_of(amo, &before)));
    return static_cast<typename A::Word>(before);
  }

 private:
  template <class T>
  T* at(T* symmetric) const {
    return reinterpret_cast<T*>(heap_ + heap_offset(ctx_, symmetric));
  }
  template <class A>
  proxy::Request request_of(const A& amo, std::uint64_t* result) const {
    return {proxy::apply<A>, at(amo.word), nullptr, 0, {amo.operand, amo.compare}, result, {}};
  }
  channel::Ticket post(const proxy::Request& request) const {
    return channel::submit<Path::kProxy>(
        ctx_, Thread{}, channel_, {.units = 1}, [&](const auto& view, std::uint64_t index, bool) {
          // Acquire: who carried out what stood here, and told so, has read it.
          channel::load<exec::Order::kAcquire>(channel_.progress.done);
          view.ring[index & (view.head.depth - 1)] = request;
        });
  }
  void wait(channel::Ticket ticket) const {
    if (!channel::wait_for(ctx_, ticket)) channel::leave_channel(ctx_, channel_);
  }

  const Context& ctx_;
  abi::Channel& channel_;
  std::byte* const heap_;
};

}  // namespace chime
