// The meaning of blocking for a group: when the call returns to one member, all of the source may
// be reused, and all of the destination is there, also the parts that other members moved.
#include <vector>

#include "chime/device/rma.cuh"
#include "chime/device/sync.cuh"
#include "support/schedule.hpp"
#include "support/typed.hpp"
#include "support/world.hpp"

namespace chime::tests {
namespace {

using Word = std::uint64_t;
constexpr unsigned kCount = 300;  // words that a group moves
constexpr Word kSpoilt = 0xbad;

struct Put {
  template <class Group>
  CHIME_DEVICE static void move(const Context& context, Group group, Word* target,
                                const Word* source, int pe) {
    put(context, group, target, source, kCount, pe);
  }
};
struct PutMem {
  template <class Group>
  CHIME_DEVICE static void move(const Context& context, Group group, Word* target,
                                const Word* source, int pe) {
    putmem(context, group, target, source, kCount * sizeof(Word), pe);
  }
};
struct IPut {
  template <class Group>
  CHIME_DEVICE static void move(const Context& context, Group group, Word* target,
                                const Word* source, int pe) {
    iput(context, group, target, source, 1, 1, kCount, pe);
  }
};
struct Get {
  template <class Group>
  CHIME_DEVICE static void move(const Context& context, Group group, Word* target,
                                const Word* source, int pe) {
    get(context, group, target, source, kCount, pe);
  }
};
struct GetMem {
  template <class Group>
  CHIME_DEVICE static void move(const Context& context, Group group, Word* target,
                                const Word* source, int pe) {
    getmem(context, group, target, source, kCount * sizeof(Word), pe);
  }
};
struct IGet {
  template <class Group>
  CHIME_DEVICE static void move(const Context& context, Group group, Word* target,
                                const Word* source, int pe) {
    iget(context, group, target, source, 1, 1, kCount, pe);
  }
};

// Calls `use(i)` for words that other members have moved; one member uses each word.
template <class Group, class Use>
CHIME_DEVICE void for_words_of_others(Group group, Use use) {
  for (unsigned i = (group.rank() + 1) % group.size(); i < kCount; i += group.size()) use(i);
}

template <class Op, class Group>
CHIME_KERNEL void put_and_spoil(CHIME_GRID_CONSTANT const Context context, Word* target,
                                Word* source, int pe) {
  const std::size_t first = std::size_t(Crowd<Group>::index()) * kCount;
  Op::move(context, Group{}, target + first, source + first, pe);
  for_words_of_others(Group{}, [&](unsigned i) { source[first + i] = kSpoilt; });
  quiet(context);
}

template <class Op, class Group>
CHIME_KERNEL void get_and_copy(CHIME_GRID_CONSTANT const Context context, Word* seen, Word* target,
                               const Word* source, int pe) {
  const std::size_t first = std::size_t(Crowd<Group>::index()) * kCount;
  Op::move(context, Group{}, target + first, source + first, pe);
  for_words_of_others(Group{}, [&](unsigned i) { seen[first + i] = target[first + i]; });
}

template <class Group>
std::vector<Word> words_of(int pe) {
  std::vector<Word> words(Crowd<Group>::kGroups * kCount);
  for (std::size_t i = 0; i < words.size(); ++i) words[i] = Word(pe) << 32 | (i + 1);
  return words;
}

// A NIC copies an unregistered source before it posts. It reads the heap and registered buffers in
// place, while the call waits.
struct Registered : Private<Word> {
  explicit Registered(std::size_t count) : Private(count) {
    EXPECT_EQ(CHIMEX_OK, chimex_buffer_register(data(), count * sizeof(Word)));
  }
  ~Registered() { EXPECT_EQ(CHIMEX_OK, chimex_buffer_unregister(data())); }
};

template <class Op, class Group, class Source>
void expect_source_is_free_in(Pe& pe) {
  const std::vector<Word> mine = words_of<Group>(pe.rank());
  Symmetric<Word> target(mine.size());
  Source source(mine.size());
  for_each_memory_mode(pe, [&] {
    source.write(std::span<const Word>(mine));
    pe.barrier();
    pe.run(Crowd<Group>::kBlocks, Crowd<Group>::kThreads, put_and_spoil<Op, Group>, pe.context(),
           target.data(), source.data(), pe.next());
    pe.barrier();
    EXPECT_EQ(words_of<Group>(pe.previous()), target.read());
  });
}

template <class Op, class Group>
void expect_source_is_free(Pe& pe) {
  expect_source_is_free_in<Op, Group, Private<Word>>(pe);
  expect_source_is_free_in<Op, Group, Symmetric<Word>>(pe);
  expect_source_is_free_in<Op, Group, Registered>(pe);
}

template <class Op, class Group>
void expect_destination_is_there(Pe& pe) {
  const std::vector<Word> mine = words_of<Group>(pe.rank());
  Symmetric<Word> source(mine.size());
  source.write(mine);
  Private<Word> target(mine.size()), seen(mine.size());
  pe.barrier();
  for_each_memory_mode(pe, [&] {
    target.write(std::vector<Word>(mine.size(), kSpoilt));
    pe.run(Crowd<Group>::kBlocks, Crowd<Group>::kThreads, get_and_copy<Op, Group>, pe.context(),
           seen.data(), target.data(), static_cast<const Word*>(source.data()), pe.next());
    EXPECT_EQ(words_of<Group>(pe.next()), seen.read());
  });
  pe.barrier();
}

IN_EVERY_WORLD(Blocking, AnyMemberMayReuseTheSourceOfAPut) {
  world.spawn(1, [](Pe& pe) {
    for_each_group([&]<class Group>(GroupTag<Group>) {
      expect_source_is_free<Put, Group>(pe);
      expect_source_is_free<PutMem, Group>(pe);
      expect_source_is_free<IPut, Group>(pe);
    });
  });
}

IN_EVERY_WORLD(Blocking, AnyMemberMayReadTheDestinationOfAGet) {
  world.spawn(1, [](Pe& pe) {
    for_each_group([&]<class Group>(GroupTag<Group>) {
      expect_destination_is_there<Get, Group>(pe);
      expect_destination_is_there<GetMem, Group>(pe);
      expect_destination_is_there<IGet, Group>(pe);
    });
  });
}

}  // namespace
}  // namespace chime::tests
