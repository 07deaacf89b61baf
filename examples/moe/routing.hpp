// Tokens, their experts, and the weights of the experts' answers. Each is computed from a few
// numbers, so every PE knows what every other one has.
#pragma once

#include <chime/chime.h>

#include <cstddef>
#include <cstdint>

namespace moe {

struct Shape {
  int n_pes, tokens, dim, experts, top, skew;  // tokens and experts: of a PE; skew: percent

  CHIME_HOST_DEVICE int all_experts() const { return n_pes * experts; }
  CHIME_HOST_DEVICE int items() const { return tokens * top; }  // a token for one of its experts
};

CHIME_HOST_DEVICE std::uint32_t mixed(std::uint32_t a, std::uint32_t b) {
  std::uint32_t h = a * 2654435761u ^ (b + 0x9e3779b9u) * 2246822519u;
  h = (h ^ h >> 15) * 2246822519u;
  return h ^ h >> 13;
}

// Element i of a token: a small number that two bytes hold exactly.
CHIME_HOST_DEVICE float element(int pe, int token, int i) {
  const std::uint32_t h =
      mixed(static_cast<std::uint32_t>(pe * 65536 + token), static_cast<std::uint32_t>(i));
  return static_cast<float>(static_cast<int>(h % 129) - 64) / 64;
}

// The expert of an item. Experts of a token differ. `skew` percent of the tokens want the first
// expert most.
CHIME_HOST_DEVICE int expert_of(const Shape& shape, int pe, int item, int iteration) {
  const int token = item / shape.top, choice = item % shape.top;
  const std::uint32_t h = mixed(static_cast<std::uint32_t>(pe * 65536 + token),
                                static_cast<std::uint32_t>(iteration) + 7777u);
  const bool is_skewed = static_cast<int>(h % 100) < shape.skew;
  const auto first = is_skewed ? 0u : h / 128 % static_cast<unsigned>(shape.all_experts());
  return static_cast<int>(first + static_cast<unsigned>(choice)) % shape.all_experts();
}

CHIME_HOST_DEVICE float weight_of(const Shape& shape, int item) {
  return 1.0f / static_cast<float>(1 + item % shape.top);
}

// One element of an expert's answer: computed from that element of the row, and from the next one.
// It differs between experts and between iterations, and two bytes hold it exactly.
CHIME_HOST_DEVICE float answer(int expert, int iteration, float element, float next) {
  return static_cast<float>(1 + expert % 7) * element +
         static_cast<float>(1 + expert / 7 % 8) * next + static_cast<float>(iteration % 8);
}

}  // namespace moe
