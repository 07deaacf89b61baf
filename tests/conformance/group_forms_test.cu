// NVSHMEM's promise for the forms of a warp and of a block: the members meet when a call begins and
// when it ends, in nbi forms too. So each member may fill its part of a source, or save its part of
// a destination, and call; when the call returns to one, it may rely on all others.
#include <algorithm>
#include <vector>

#include "chime/chime.h"
#include "support/schedule.hpp"
#include "support/typed.hpp"
#include "support/world.hpp"

namespace chime::tests {
namespace {

using Word = std::uint64_t;
constexpr Word kSpoilt = 0xbad;
constexpr unsigned kMostWords = 300;  // words that a group moves; kFewWords: a request carries them
constexpr unsigned kFewWords = 3;

// The half of a group that comes to the call long after the other half.
enum class Late { kNobody, kFirstHalf, kSecondHalf };

// The words that a group moves: `count` words at `first` in the regions.
struct Share {
  std::size_t first;
  unsigned count;
  int pe;
};

// ---- The names ----------------------------------------------------------------------------------

// The forms of a name for each group: Call<Group>::move(target, source, signal, share).
#define CHIME_TESTS_FORM(OP, GROUP, SUFFIX, STEM, ...)                                        \
  template <>                                                                                 \
  struct OP::Call<GROUP> {                                                                    \
    CHIME_DEVICE static void move(Word* to, const Word* from, [[maybe_unused]] uint64_t* sig, \
                                  Share share) {                                              \
      chimex_##STEM##SUFFIX(to + share.first, from + share.first, __VA_ARGS__, share.pe);     \
    }                                                                                         \
  };
#define CHIME_TESTS_FORMS(OP, IS_NBI, STEM, ...)       \
  struct OP {                                          \
    static constexpr const char* kName = #STEM;        \
    static constexpr bool kIsNbi = IS_NBI;             \
    template <class Group>                             \
    struct Call;                                       \
  };                                                   \
  CHIME_TESTS_FORM(OP, Warp, _warp, STEM, __VA_ARGS__) \
  CHIME_TESTS_FORM(OP, Block, _block, STEM, __VA_ARGS__)

#define CHIME_TESTS_SET sig, 1, CHIME_SIGNAL_SET
#define CHIME_TESTS_ADD sig, 1, CHIME_SIGNAL_ADD

CHIME_TESTS_FORMS(PutOfType, false, uint64_put, share.count)
CHIME_TESTS_FORMS(PutNbiOfType, true, uint64_put_nbi, share.count)
CHIME_TESTS_FORMS(PutOfBytes, false, putmem, share.count * sizeof(Word))
CHIME_TESTS_FORMS(PutNbiOfBytes, true, putmem_nbi, share.count * sizeof(Word))
CHIME_TESTS_FORMS(IPutOfType, false, uint64_iput, 1, 1, share.count)
CHIME_TESTS_FORMS(IPutOfSize, false, iput64, 1, 1, share.count)
CHIME_TESTS_FORMS(PutSignalOfType, false, uint64_put_signal, share.count, CHIME_TESTS_SET)
CHIME_TESTS_FORMS(PutSignalNbiOfType, true, uint64_put_signal_nbi, share.count, CHIME_TESTS_ADD)
CHIME_TESTS_FORMS(PutSignalOfBytes, false, putmem_signal, share.count * sizeof(Word),
                  CHIME_TESTS_ADD)
CHIME_TESTS_FORMS(PutSignalNbiOfBytes, true, putmem_signal_nbi, share.count * sizeof(Word),
                  CHIME_TESTS_SET)

CHIME_TESTS_FORMS(GetOfType, false, uint64_get, share.count)
CHIME_TESTS_FORMS(GetNbiOfType, true, uint64_get_nbi, share.count)
CHIME_TESTS_FORMS(GetOfBytes, false, getmem, share.count * sizeof(Word))
CHIME_TESTS_FORMS(GetNbiOfBytes, true, getmem_nbi, share.count * sizeof(Word))
CHIME_TESTS_FORMS(IGetOfType, false, uint64_iget, 1, 1, share.count)
CHIME_TESTS_FORMS(IGetOfSize, false, iget64, 1, 1, share.count)

#undef CHIME_TESTS_ADD
#undef CHIME_TESTS_SET
#undef CHIME_TESTS_FORMS
#undef CHIME_TESTS_FORM

// ---- The patterns -------------------------------------------------------------------------------

CHIME_HOST_DEVICE Word word_of(int pe, int round, std::size_t i) {
  return Word(pe + 1) << 48 | Word(round) << 32 | i;
}

template <class Group>
CHIME_DEVICE void come_late(Group group, Late late) {
  constexpr unsigned kLate_ns = 20'000;
  if (late == Late::kNobody) return;
  const bool is_in_first_half = group.rank() < group.size() / 2;
  if (is_in_first_half != (late == Late::kFirstHalf)) return;
  exec::nanosleep(kLate_ns);
}

// Each word belongs to a member, never to the one that a copy by rank would give it to.
template <class Group, class Use>
CHIME_DEVICE void for_my_words(Group group, unsigned count, Use use) {
  for (unsigned i = (group.rank() + 1) % group.size(); i < count; i += group.size()) use(i);
}

// After the call the members touch each other's words: each member where the call is blocking, else
// the last member, whose quiet also completes what the leader has posted.
template <class Op, class Group, class Use>
CHIME_DEVICE void for_words_after(Group group, unsigned count, Use use) {
  if constexpr (!Op::kIsNbi) {
    for (unsigned i = (group.rank() + 2) % group.size(); i < count; i += group.size()) use(i);
  } else if (group.rank() == group.size() - 1) {
    chime_quiet();
    for (unsigned i = 0; i < count; ++i) use(i);
  }
}

template <class Op, class Group>
CHIME_KERNEL void fill_put_and_spoil(Word* target, Word* source, std::uint64_t* signals,
                                     unsigned count, int round, Late late, int pe) {
  const Group group;
  const unsigned index = Crowd<Group>::index();
  const Share share = {std::size_t(index) * kMostWords, count, pe};
  come_late(group, late);
  for_my_words(group, count, [&](unsigned i) {
    source[share.first + i] = word_of(chime_my_pe(), round, share.first + i);
  });
  Op::template Call<Group>::move(target, source, signals + index, share);
  for_words_after<Op>(group, count, [&](unsigned i) { source[share.first + i] = kSpoilt; });
}

template <class Op, class Group>
CHIME_KERNEL void save_get_and_copy(Word* saved, Word* seen, Word* target, const Word* source,
                                    unsigned count, Late late, int pe) {
  const Group group;
  const Share share = {std::size_t(Crowd<Group>::index()) * kMostWords, count, pe};
  come_late(group, late);
  for_my_words(group, count, [&](unsigned i) { saved[share.first + i] = target[share.first + i]; });
  Op::template Call<Group>::move(target, source, nullptr, share);
  for_words_after<Op>(group, count,
                      [&](unsigned i) { seen[share.first + i] = target[share.first + i]; });
}

// ---- The facts ----------------------------------------------------------------------------------

// `count` words of each group, and 0 between them.
template <class Group, class WordAt>
std::vector<Word> image_of(unsigned count, WordAt word_at) {
  std::vector<Word> image(std::size_t(Crowd<Group>::kGroups) * kMostWords);
  for (std::size_t first = 0; first < image.size(); first += kMostWords)
    for (std::size_t i = first; i < first + count; ++i) image[i] = word_at(i);
  return image;
}

// Reports the words that differ, not all words.
testing::AssertionResult same(const std::vector<Word>& expected, const std::vector<Word>& seen) {
  std::size_t wrong = 0, first = 0;
  for (std::size_t i = expected.size(); i-- > 0;)
    if (expected[i] != seen[i]) ++wrong, first = i;
  if (wrong == 0) return testing::AssertionSuccess();
  return testing::AssertionFailure()
         << wrong << " of " << expected.size() << " words are wrong; word " << first << " is "
         << seen[first] << " and must be " << expected[first];
}

struct Case {
  unsigned count;
  Late late;
};
constexpr Case kCases[] = {{kMostWords, Late::kNobody},
                           {kMostWords, Late::kFirstHalf},
                           {kMostWords, Late::kSecondHalf},
                           {kFewWords, Late::kSecondHalf}};

template <class Op, class Group, class Source>
void expect_put(Pe& pe) {
  const std::size_t words = std::size_t(Crowd<Group>::kGroups) * kMostWords;
  Symmetric<Word> target(words);
  Symmetric<std::uint64_t> signals(Crowd<Group>::kGroups);
  Source source(words);
  int round = 0;
  for_each_memory_mode(pe, [&] {
    for (const Case& each : kCases) {
      SCOPED_TRACE(Op::kName);
      SCOPED_TRACE("late " + std::to_string(int(each.late)));
      target.fill(0);
      ++round;
      pe.barrier();
      pe.run(Crowd<Group>::kBlocks, Crowd<Group>::kThreads, fill_put_and_spoil<Op, Group>,
             target.data(), source.data(), signals.data(), each.count, round, each.late, pe.next());
      pe.barrier();
      EXPECT_TRUE(
          same(image_of<Group>(each.count,
                               [&](std::size_t i) { return word_of(pe.previous(), round, i); }),
               target.read()));
      pe.barrier();
    }
  });
}

template <class Op, class Group>
void expect_get(Pe& pe) {
  const std::size_t words = std::size_t(Crowd<Group>::kGroups) * kMostWords;
  Symmetric<Word> source(words), target(words);
  Private<Word> saved(words), seen(words);
  source.write(
      image_of<Group>(kMostWords, [&](std::size_t i) { return word_of(pe.rank(), 0, i); }));
  pe.barrier();
  for_each_memory_mode(pe, [&] {
    for (const Case& each : kCases) {
      SCOPED_TRACE(Op::kName);
      SCOPED_TRACE("late " + std::to_string(int(each.late)));
      const auto old = image_of<Group>(each.count, [](std::size_t i) { return ~Word(i); });
      target.write(old);
      saved.write(std::vector<Word>(words));
      seen.write(std::vector<Word>(words));
      pe.run(Crowd<Group>::kBlocks, Crowd<Group>::kThreads, save_get_and_copy<Op, Group>,
             saved.data(), seen.data(), target.data(), static_cast<const Word*>(source.data()),
             each.count, each.late, pe.next());
      EXPECT_TRUE(same(old, saved.read()));
      EXPECT_TRUE(
          same(image_of<Group>(each.count, [&](std::size_t i) { return word_of(pe.next(), 0, i); }),
               seen.read()));
    }
  });
  pe.barrier();
}

// A NIC reads the heap in place, and copies other memory before it posts.
template <class Op>
void expect_puts(Pe& pe) {
  expect_put<Op, Warp, Symmetric<Word>>(pe);
  expect_put<Op, Warp, Private<Word>>(pe);
  expect_put<Op, Block, Symmetric<Word>>(pe);
  expect_put<Op, Block, Private<Word>>(pe);
}
template <class Op>
void expect_gets(Pe& pe) {
  expect_get<Op, Warp>(pe);
  expect_get<Op, Block>(pe);
}

// The softgpu takes seconds to compile a kernel: there one name of each kind is called.
bool calls_all_names(const World& world) {
  return !(world.has_a_gpu() && world.has_seeded_schedules());
}

IN_EVERY_WORLD(GroupForms, EachMemberMayFillItsPartOfTheSourceOfAPut) {
  world.spawn(1, [&](Pe& pe) {
    expect_puts<PutOfType>(pe);
    expect_puts<PutNbiOfBytes>(pe);
    if (!calls_all_names(world)) return;
    expect_puts<PutOfBytes>(pe);
    expect_puts<PutNbiOfType>(pe);
  });
}

IN_EVERY_WORLD(GroupForms, EachMemberMayFillItsPartOfTheSourceOfAStridedPut) {
  world.spawn(1, [&](Pe& pe) {
    expect_puts<IPutOfType>(pe);
    if (calls_all_names(world)) expect_puts<IPutOfSize>(pe);
  });
}

IN_EVERY_WORLD(GroupForms, EachMemberMayFillItsPartOfTheSourceOfAPutSignal) {
  world.spawn(1, [&](Pe& pe) {
    expect_puts<PutSignalOfType>(pe);
    expect_puts<PutSignalNbiOfBytes>(pe);
    if (!calls_all_names(world)) return;
    expect_puts<PutSignalOfBytes>(pe);
    expect_puts<PutSignalNbiOfType>(pe);
  });
}

IN_EVERY_WORLD(GroupForms, EachMemberMaySaveItsPartOfTheDestinationOfAGet) {
  world.spawn(1, [&](Pe& pe) {
    expect_gets<GetOfType>(pe);
    expect_gets<GetNbiOfBytes>(pe);
    expect_gets<IGetOfType>(pe);
    if (!calls_all_names(world)) return;
    expect_gets<GetOfBytes>(pe);
    expect_gets<GetNbiOfType>(pe);
    expect_gets<IGetOfSize>(pe);
  });
}

// ---- Many schedules -----------------------------------------------------------------------------

// The receivers check in a kernel: a reader that sees the signal sees the words of every member.
template <class Group>
CHIME_KERNEL void fill_signal_and_check(Word* target, Word* source, std::uint64_t* signals,
                                        std::uint32_t* wrong, int round, int to, int from) {
  const Group group;
  const unsigned index = Crowd<Group>::index();
  const Share share = {std::size_t(index) * kMostWords, kMostWords, to};
  for_my_words(group, kMostWords, [&](unsigned i) {
    source[share.first + i] = word_of(chime_my_pe(), round, share.first + i);
  });
  PutSignalOfType::Call<Group>::move(target, source, signals + index, share);
  if constexpr (std::is_same_v<Group, Warp>) {
    chimex_signal_wait_until_warp(signals + index, CHIME_CMP_EQ, 1);
  } else {
    chimex_signal_wait_until_block(signals + index, CHIME_CMP_EQ, 1);
  }
  for_my_words(group, kMostWords, [&](unsigned i) {
    if (target[share.first + i] == word_of(from, round, share.first + i)) return;
    exec::atomic_add<exec::Order::kRelaxed, exec::Scope::kDevice>(wrong, 1u);
  });
}

template <class Group>
void expect_signal_tells_of_all(Pe& pe, int round, Word* target, Word* source,
                                Symmetric<std::uint64_t>& signals) {
  Private<std::uint32_t> wrong(1);
  signals.fill(0);
  pe.barrier();
  pe.run(Crowd<Group>::kBlocks, Crowd<Group>::kThreads, fill_signal_and_check<Group>, target,
         source, signals.data(), wrong.data(), round, pe.next(), pe.previous());
  pe.barrier();
  EXPECT_EQ(0u, wrong.read()[0]) << " words of group " << Crowd<Group>::kName << " were not there";
}

IN_EVERY_WORLD(GroupForms, AReaderOfTheSignalSeesEachMembersDataUnderEverySeed) {
  world.spawn(1, [](Pe& pe) {
    const std::size_t words = std::size_t(Crowd<Warp>::kGroups) * kMostWords;
    Symmetric<Word> target(words), source(words);
    Symmetric<std::uint64_t> signals(Crowd<Warp>::kGroups);
    for_each_seed(pe, [&](int seed) {
      expect_signal_tells_of_all<Warp>(pe, 2 * seed + 1, target, source, signals);
      expect_signal_tells_of_all<Block>(pe, 2 * seed + 2, target, source, signals);
    });
  });
}

}  // namespace
}  // namespace chime::tests
