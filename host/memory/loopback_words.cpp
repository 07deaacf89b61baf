#include "host/memory/loopback_words.hpp"

#include "chime/device/amo.cuh"
#include "chime/device/path/nic/atomics.cuh"
#include "chime/device/route.cuh"
#include "host/errors/error.hpp"

namespace chime::host {
namespace {

template <AmoOp kOp, class Word>
std::uint64_t update_by_nic(const Context& ctx, Word* word, const WordUpdate& update) {
  const Amo<kOp, Word> amo{word, static_cast<Word>(update.operand),
                           static_cast<Word>(update.compare)};
  const Route route = route_by_channel(ctx, Traffic::kAtomic, ctx.pe.my_pe);
  Word before = 0;
  if (route.path != Path::kNic ||
      !nic::fetch_atomic(ctx, *route.channel, nic::remote_word(ctx, *route.channel, word),
                         nic::request_of(amo), &before))
    throw Error("NIC", CHIMEX_ERR_NETWORK, "this PE's NIC updates no words of its heap any more");
  return before;
}

template <class Word>
std::uint64_t update_word(const Context& ctx, Word* word, const WordUpdate& update) {
  switch (update.op) {
    case AmoOp::kFetch:
      return update_by_nic<AmoOp::kFetch>(ctx, word, update);
    case AmoOp::kSet:
      return update_by_nic<AmoOp::kSet>(ctx, word, update);
    case AmoOp::kAdd:
      return update_by_nic<AmoOp::kAdd>(ctx, word, update);
    case AmoOp::kAnd:
      return update_by_nic<AmoOp::kAnd>(ctx, word, update);
    case AmoOp::kOr:
      return update_by_nic<AmoOp::kOr>(ctx, word, update);
    case AmoOp::kXor:
      return update_by_nic<AmoOp::kXor>(ctx, word, update);
    case AmoOp::kCompareSwap:
      return update_by_nic<AmoOp::kCompareSwap>(ctx, word, update);
  }
  return 0;  // whoever reads requests has looked at `op`
}

}  // namespace

LoopbackWords::LoopbackWords(const Context& context, std::span<std::byte> heap)
    : context_(context), plain_(heap) {
  context_.pe.error = &failure_;
}

std::uint64_t LoopbackWords::update(std::uint64_t at, const WordUpdate& update) {
  std::byte* const word = context_.pe.heap + at;
  return update.bytes == 4 ? update_word(context_, reinterpret_cast<std::uint32_t*>(word), update)
                           : update_word(context_, reinterpret_cast<std::uint64_t*>(word), update);
}

void LoopbackWords::write(std::uint64_t at, std::span<const std::byte> data) {
  plain_.write(at, data);
}

}  // namespace chime::host
