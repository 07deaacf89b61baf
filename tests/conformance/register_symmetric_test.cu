// chimex_buffer_register_symmetric: memory of the program that other PEs reach by every path.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "chime/device/amo.cuh"
#include "chime/device/rma.cuh"
#include "chime/device/sync.cuh"
#include "support/world.hpp"

namespace chime::tests {
namespace {

using Word = std::uint64_t;
constexpr std::size_t kPages = 3;

std::size_t page() { return static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)); }

// Private pages of this PE.
class Buffer {
 public:
  explicit Buffer(Word first, int sharing = MAP_PRIVATE, std::size_t pages = kPages)
      : bytes_(pages * page()),
        memory_(::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, sharing | MAP_ANONYMOUS, -1, 0)) {
    if (memory_ == MAP_FAILED) throw PeStopped("no memory");
    for (std::size_t i = 0; i < count(); ++i) words()[i] = first + i;
  }
  ~Buffer() { ::munmap(memory_, bytes_); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  Word* words() const { return static_cast<Word*>(memory_); }
  std::size_t bytes() const { return bytes_; }
  std::size_t count() const { return bytes_ / sizeof(Word); }
  std::vector<Word> copy() const { return {words(), words() + count()}; }
  Word* make_symmetric() const {
    return static_cast<Word*>(chimex_buffer_register_symmetric(memory_, bytes_, 0));
  }

 private:
  std::size_t bytes_;
  void* memory_;
};

std::vector<Word> words_from(Word first, std::size_t count) {
  std::vector<Word> words(count);
  for (std::size_t i = 0; i < count; ++i) words[i] = first + i;
  return words;
}

Word first_of(int pe) { return Word(pe + 1) * 1000000; }

// False where this World's device supports none, after a check of its error.
bool has_any(const Pe& pe) {
  if (!World::current().has_a_gpu()) return true;
  const Buffer buffer(first_of(pe.rank()));
  EXPECT_EQ(nullptr, buffer.make_symmetric());
  EXPECT_EQ(CHIMEX_ERR_UNSUPPORTED, chimex_last_status()) << chimex_last_error();
  return false;
}

CHIME_KERNEL inline void fetch(const CHIME_GRID_CONSTANT Context ctx, Word* into, Word* from,
                               std::size_t count, int pe) {
  get(ctx, Block{}, into, from, count, pe);
}
// Puts all words but the last, to which it adds.
CHIME_KERNEL inline void send(const CHIME_GRID_CONSTANT Context ctx, Word* to, Word* from,
                              std::size_t count, int pe) {
  put(ctx, Block{}, to, from, count - 1, pe);
  if (exec::thread_rank() != 0) return;
  atomic_add(ctx, to + count - 1, 5, pe);
  quiet(ctx);
}

IN_EVERY_WORLD(RegisterSymmetric, OthersReachTheBufferByTheAddressThatIsReturned) {
  world.spawn(1, [](Pe& pe) {
    if (!has_any(pe)) return;
    const Buffer buffer(first_of(pe.rank()));
    const std::size_t count = buffer.count();
    Word* const there = buffer.make_symmetric();
    ASSERT_NE(nullptr, there) << chimex_last_error();
    ASSERT_NE(buffer.words(), there);
    EXPECT_EQ(words_from(first_of(pe.rank()), count), buffer.copy());

    Symmetric<Word> source(count), fetched(count);
    source.write(words_from(7 * first_of(pe.rank()), count));
    pe.run(1, 64, fetch, pe.context(), fetched.data(), there, count, pe.next());
    pe.barrier();
    pe.run(1, 64, send, pe.context(), there, source.data(), count, pe.next());
    pe.barrier();
    EXPECT_EQ(words_from(first_of(pe.next()), count), fetched.read());
    std::vector<Word> expected = words_from(7 * first_of(pe.previous()), count);
    expected.back() = first_of(pe.rank()) + count - 1 + 5;
    EXPECT_EQ(expected, buffer.copy());
    EXPECT_EQ(CHIMEX_OK, chimex_buffer_unregister_symmetric(there, buffer.bytes()));
    EXPECT_EQ(expected, buffer.copy());
  });
}

// After unregister, writes to the buffer do not reach the heap, and the heap has its bytes back.
IN_EVERY_WORLD(RegisterSymmetric, ABufferThatIsGivenBackIsTheProgramsAlone) {
  world.spawn(1, [](Pe& pe) {
    if (!has_any(pe)) return;
    const Buffer buffer(first_of(pe.rank()));
    Word* before = nullptr;
    for (int round = 0; round < 20; ++round) {
      Word* const there = buffer.make_symmetric();
      ASSERT_NE(nullptr, there) << chimex_last_error();
      EXPECT_TRUE(before == nullptr || before == there);
      before = there;
      buffer.words()[1] = Word(round);
      EXPECT_EQ(Word(round), there[1]);
      EXPECT_EQ(CHIMEX_OK, chimex_buffer_unregister_symmetric(there, buffer.bytes()));
      buffer.words()[1] = 99;
      EXPECT_EQ(Word(round), there[1]);
      pe.barrier();
    }
    EXPECT_EQ(first_of(pe.rank()), buffer.words()[0]);
    // Dropped pages of private memory are empty, those of shared memory are not.
    Word* const again = buffer.make_symmetric();
    chimex_buffer_unregister_symmetric(again, buffer.bytes());
    EXPECT_EQ(0, ::madvise(buffer.words(), page(), MADV_DONTNEED));
    EXPECT_EQ(0u, buffer.words()[0]);
  });
}

// Beside pages that stay as they are, and a second buffer beside it.
IN_EVERY_WORLD(RegisterSymmetric, APartOfALargerBuffer) {
  world.spawn(1, [](Pe& pe) {
    if (!has_any(pe)) return;
    const Buffer buffer(first_of(pe.rank()), MAP_PRIVATE, 5);
    const std::size_t skipped = page() / sizeof(Word);
    void* const there = chimex_buffer_register_symmetric(buffer.words() + 2 * skipped, page(), 0);
    ASSERT_NE(nullptr, there) << chimex_last_error();
    void* const beside = chimex_buffer_register_symmetric(buffer.words() + 3 * skipped, page(), 0);
    ASSERT_NE(nullptr, beside) << chimex_last_error();
    EXPECT_EQ(words_from(first_of(pe.rank()), buffer.count()), buffer.copy());
    std::memset(there, 0, page());
    std::vector<Word> expected = words_from(first_of(pe.rank()), buffer.count());
    for (std::size_t i = 0; i < skipped; ++i) expected[2 * skipped + i] = 0;
    EXPECT_EQ(expected, buffer.copy());
    EXPECT_EQ(CHIMEX_OK, chimex_buffer_unregister_symmetric(there, page()));
    EXPECT_EQ(expected, buffer.copy());
    EXPECT_EQ(CHIMEX_OK, chimex_buffer_unregister_symmetric(beside, page()));
    EXPECT_EQ(expected, buffer.copy());
  });
}

// Refused on this PE with `words`, so on all PEs; nothing is taken or changed.
void expect_refused(const Pe& pe, const char* words, void* memory, std::size_t bytes,
                    int flags = 0) {
  EXPECT_EQ(nullptr, chimex_buffer_register_symmetric(memory, bytes, flags)) << words;
  EXPECT_EQ(CHIMEX_ERR_INVALID, chimex_last_status()) << words;
  EXPECT_NE(nullptr, std::strstr(chimex_last_error(), words)) << chimex_last_error();
  pe.barrier();
}

IN_EVERY_WORLD(RegisterSymmetric, WhatCannotBecomeSymmetricIsNamed) {
  world.spawn(1, [](Pe& pe) {
    if (!has_any(pe)) return;
    const Buffer buffer(first_of(pe.rank())), shared(1, MAP_SHARED), guarded(1);
    std::byte* const memory = reinterpret_cast<std::byte*>(buffer.words());
    const std::size_t bytes = buffer.bytes();
    alignas(65536) std::byte on_stack[65536];
    expect_refused(pe, "is on this thread's stack", on_stack, sizeof on_stack);
    expect_refused(pe, "is no memory", nullptr, bytes);
    expect_refused(pe, "is no memory", memory, 0);
    expect_refused(pe, "whole pages", memory + 8, page());
    expect_refused(pe, "whole pages", memory, page() + 8);
    expect_refused(pe, "there are no flags 0x4", memory, bytes, 4);
    expect_refused(pe, "only private memory", shared.words(), shared.bytes());
    ::mprotect(guarded.words() + page() / sizeof(Word), page(), PROT_NONE);
    expect_refused(pe, "is ---p memory", guarded.words(), guarded.bytes());
    ASSERT_EQ(CHIMEX_OK, chimex_buffer_register(memory + page(), 100));
    expect_refused(pe, "overlaps the registered buffer", memory, bytes);
    ASSERT_EQ(CHIMEX_OK, chimex_buffer_unregister(memory + page()));

    Word* const there = buffer.make_symmetric();
    ASSERT_NE(nullptr, there) << chimex_last_error();
    expect_refused(pe, "only private memory", memory, bytes);  // it is symmetric already
    expect_refused(pe, "overlaps the symmetric heap", there, bytes);
    chime_free(there);
    EXPECT_NE(nullptr, std::strstr(chimex_last_error(), "gives it back")) << chimex_last_error();
    EXPECT_EQ(CHIMEX_ERR_INVALID, chimex_buffer_unregister_symmetric(there, page()));
    EXPECT_EQ(CHIMEX_ERR_INVALID, chimex_buffer_unregister_symmetric(there + 1, bytes));
    EXPECT_EQ(CHIMEX_ERR_INVALID, chimex_buffer_unregister_symmetric(memory, bytes));
    EXPECT_EQ(words_from(first_of(pe.rank()), buffer.count()), buffer.copy());
    EXPECT_EQ(CHIMEX_OK, chimex_buffer_unregister_symmetric(there, bytes));
    EXPECT_EQ(CHIMEX_ERR_INVALID, chimex_buffer_unregister_symmetric(there, bytes));
    EXPECT_EQ(words_from(first_of(pe.rank()), buffer.count()), buffer.copy());
  });
}

// The program has mapped other memory in place of a buffer, and made that symmetric, too.
IN_EVERY_WORLD(RegisterSymmetric, TheSecondAtAnAddressIsNotTakenForTheFirst) {
  world.spawn(1, [](Pe& pe) {
    if (!has_any(pe)) return;
    const Buffer buffer(first_of(pe.rank()));
    Word* const first = buffer.make_symmetric();
    ASSERT_NE(MAP_FAILED, ::mmap(buffer.words(), buffer.bytes(), PROT_READ | PROT_WRITE,
                                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0));
    Word* const second = buffer.make_symmetric();
    ASSERT_TRUE(first != nullptr && second != nullptr) << chimex_last_error();
    EXPECT_EQ(CHIMEX_ERR_INVALID, chimex_buffer_unregister_symmetric(first, buffer.bytes()));
    EXPECT_NE(nullptr, std::strstr(chimex_last_error(), "was unmapped")) << chimex_last_error();
    second[2] = 8;
    EXPECT_EQ(8u, buffer.words()[2]);
    EXPECT_EQ(CHIMEX_OK, chimex_buffer_unregister_symmetric(second, buffer.bytes()));
    EXPECT_EQ(8u, buffer.words()[2]);
  });
}

// If one PE fails, no PE has a symmetric buffer.
void expect_nothing_done(const Pe& pe, const Buffer& buffer, int failing) {
  const bool fails = pe.rank() == failing;
  std::copy_n(words_from(first_of(pe.rank()), buffer.count()).data(), buffer.count(),
              buffer.words());
  EXPECT_EQ(nullptr,
            chimex_buffer_register_symmetric(fails ? nullptr : buffer.words(), buffer.bytes(), 0));
  EXPECT_EQ(CHIMEX_ERR_INVALID, chimex_last_status());
  EXPECT_EQ(nullptr,
            chimex_buffer_register_symmetric(buffer.words(), fails ? page() : buffer.bytes(), 0));
  EXPECT_EQ(CHIMEX_ERR_MISMATCH, chimex_last_status());
  EXPECT_EQ(words_from(first_of(pe.rank()), buffer.count()), buffer.copy());
  EXPECT_EQ(0, ::madvise(buffer.words(), page(), MADV_DONTNEED));
  EXPECT_EQ(0u, buffer.words()[0]);
  Word* const there = buffer.make_symmetric();
  ASSERT_NE(nullptr, there) << chimex_last_error();
  EXPECT_NE(CHIMEX_OK, chimex_buffer_unregister_symmetric(there, fails ? page() : buffer.bytes()));
  there[0] = 3;
  EXPECT_EQ(3u, buffer.words()[0]);
  EXPECT_EQ(CHIMEX_OK, chimex_buffer_unregister_symmetric(there, buffer.bytes()));
}

IN_EVERY_WORLD(RegisterSymmetric, OnePesFailureIsEverybodys) {
  world.spawn(2, [](Pe& pe) {
    if (!has_any(pe)) return;
    const Buffer buffer(first_of(pe.rank()));
    for (const int failing : {0, pe.size() - 1}) expect_nothing_done(pe, buffer, failing);
  });
}

}  // namespace
}  // namespace chime::tests
