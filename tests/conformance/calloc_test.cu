// chime_calloc: when it returns on one PE, all PEs' memory is clear, so a put need not wait.
#include <vector>

#include "support/typed.hpp"
#include "support/world.hpp"

namespace chime::tests {
namespace {

using Word = std::uint64_t;
constexpr int kRounds = 10;
constexpr std::size_t kWords = std::size_t{1} << 18;  // 2 MiB take longer to clear than a put takes

// The last word is cleared last. Each PE writes one of its own.
IN_EVERY_WORLD(Calloc, NothingPutBehindItIsClearedAway) {
  world.spawn(1, [](Pe& pe) {
    const auto n = static_cast<std::size_t>(pe.size());
    for (Word round = 1; round <= kRounds; ++round) {
      auto* const words = static_cast<Word*>(chime_calloc(kWords, sizeof(Word)));
      ASSERT_NE(nullptr, words);
      for (int to = 0; to < pe.size(); ++to)
        chime_putmem(words + kWords - n + static_cast<std::size_t>(pe.rank()), &round, sizeof round,
                     (pe.rank() + to) % pe.size());
      pe.barrier();
      std::vector<Word> seen(n);
      exec::copy(seen.data(), words + kWords - n, n * sizeof(Word));
      EXPECT_EQ(std::vector<Word>(n, round), seen);
      exec::copy(words, std::vector<Word>(kWords, ~Word{0}).data(), kWords * sizeof(Word));
      chime_free(words);
    }
  });
}

}  // namespace
}  // namespace chime::tests
