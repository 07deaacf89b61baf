#include "host/memory/loopback_words.hpp"

#include <utility>

#include "host/errors/error.hpp"
#include "host/memory/word_updates.cuh"

namespace chime::host {
namespace {

template <class Word>
std::uint64_t update_word(const Context& ctx, Word* word, const WordUpdate& update) {
  Word before = 0;
  if (!update_by_nic(ctx, update.op, word, static_cast<Word>(update.operand),
                     static_cast<Word>(update.compare), &before))
    throw Error("NIC", CHIMEX_ERR_NETWORK, "this PE's NIC updates no words of its heap any more");
  return before;
}

}  // namespace

LoopbackWords::LoopbackWords(const Context& context, std::unique_ptr<WordOwner> puts)
    : context_(context), puts_(std::move(puts)) {
  context_.pe.error = &failure_;
}

std::uint64_t LoopbackWords::update(std::uint64_t at, const WordUpdate& update) {
  std::byte* const word = context_.pe.heap + at;
  return update.bytes == 4 ? update_word(context_, reinterpret_cast<std::uint32_t*>(word), update)
                           : update_word(context_, reinterpret_cast<std::uint64_t*>(word), update);
}

void LoopbackWords::write(std::uint64_t at, std::span<const std::byte> data) {
  puts_->write(at, data);
}

}  // namespace chime::host
