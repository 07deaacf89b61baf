#include "proxy/heap_words.hpp"

#include <atomic>
#include <cstring>

namespace chime::proxy {
namespace {

template <class Word>
std::uint64_t update_word(std::byte* at, const host::WordUpdate& update) {
  const std::atomic_ref<Word> word(*reinterpret_cast<Word*>(at));
  const auto operand = static_cast<Word>(update.operand);
  switch (update.op) {
    case AmoOp::kFetch:
      return word.fetch_add(0);  // no load: it is to be ordered as the others are
    case AmoOp::kSet:
      return word.exchange(operand);
    case AmoOp::kAdd:
      return word.fetch_add(operand);
    case AmoOp::kAnd:
      return word.fetch_and(operand);
    case AmoOp::kOr:
      return word.fetch_or(operand);
    case AmoOp::kXor:
      return word.fetch_xor(operand);
    case AmoOp::kCompareSwap: {
      auto before = static_cast<Word>(update.compare);
      word.compare_exchange_strong(before, operand);
      return before;
    }
  }
  return 0;  // the reader of requests has looked at `op`
}

// Release: a thread that polls one word may look for what was written before it.
template <class Word>
void store_word(std::byte* at, const std::byte* from) {
  Word word;
  std::memcpy(&word, from, sizeof word);
  std::atomic_ref<Word>(*reinterpret_cast<Word*>(at)).store(word, std::memory_order_release);
}

// Whether the next of what is left may be stored as one.
template <class Word>
bool is_word(std::uint64_t at, std::span<const std::byte> data) {
  return data.size() >= sizeof(Word) && at % sizeof(Word) == 0;
}

// How many bytes.
std::size_t store_next(std::byte* there, std::uint64_t at, std::span<const std::byte> data) {
  if (is_word<std::uint64_t>(at, data)) return store_word<std::uint64_t>(there, data.data()), 8;
  if (is_word<std::uint32_t>(at, data)) return store_word<std::uint32_t>(there, data.data()), 4;
  if (is_word<std::uint16_t>(at, data)) return store_word<std::uint16_t>(there, data.data()), 2;
  return store_word<std::uint8_t>(there, data.data()), 1;
}

}  // namespace

void HeapWords::write(std::uint64_t at, std::span<const std::byte> data) {
  while (!data.empty()) {
    const std::size_t bytes = store_next(heap_.data() + at, at, data);
    at += bytes;
    data = data.subspan(bytes);
  }
}

std::uint64_t HeapWords::update(std::uint64_t at, const host::WordUpdate& update) {
  std::byte* const word = heap_.data() + at;
  return update.bytes == 4 ? update_word<std::uint32_t>(word, update)
                           : update_word<std::uint64_t>(word, update);
}

}  // namespace chime::proxy
