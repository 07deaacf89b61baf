// The place of this PE's memory does not change the data that arrives. Registered memory needs one
// request; other memory goes through Chime's own.
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "chime/abi/words.h"
#include "chime/device/rma.cuh"
#include "chime/device/route.cuh"
#include "chime/device/signal.cuh"
#include "chime/device/sync.cuh"
#include "support/world.hpp"

namespace chime::tests {
namespace {

constexpr std::size_t kBytes = 256 * 1024 + 5;  // several slots of staging, and a tail

// WQEBBs that `context` has posted to `pe`: a request of a put or get takes one.
CHIME_HOST_DEVICE std::uint64_t posted_by(const Context& context, int pe) {
  const abi::Channels& all = context.channels;
  if (all.pool.channels == nullptr) return 0;
  std::uint64_t sum = 0;
  abi::Channel* const first = all.pool.channels + abi::first_of_route(all.route[pe]);
  for (std::uint32_t slot = 0; slot < all.slots; ++slot) sum += first[slot].producer.resv;
  return sum;
}

// The view of a kernel: a GPU's channels may lie in its memory.
struct Seen {
  std::uint64_t posted;
  bool nic_carries;
};
CHIME_KERNEL inline void look(CHIME_GRID_CONSTANT const Context context, int pe, Seen* seen) {
  seen->nic_carries = route_to(context, Traffic::kData, pe).path == Path::kNic;
  seen->posted = posted_by(context, pe);
}
Seen seen_by_kernel(Pe& pe) {
  Private<Seen> seen(1);
  pe.run(1, 1, look, pe.context(), pe.next(), seen.data());
  return seen.read()[0];
}

// The number of requests of kernels and of the host for `move`, where the NIC carries it.
// Otherwise: `otherwise`.
template <class Move>
std::uint64_t requests(Pe& pe, std::uint64_t otherwise, Move move) {
  const auto posted = [&] {
    return seen_by_kernel(pe).posted + posted_by(host_context(), pe.next());
  };
  const std::uint64_t before = posted();
  move();
  return seen_by_kernel(pe).nic_carries ? posted() - before : otherwise;
}

std::byte byte_at(std::size_t i, int pe) { return std::byte(i * 7 + i / 251 + unsigned(pe) * 31); }

std::vector<std::byte> pattern(std::size_t bytes, int pe) {
  std::vector<std::byte> data(bytes);
  for (std::size_t i = 0; i < bytes; ++i) data[i] = byte_at(i, pe);
  return data;
}

// Registered while it exists.
struct Registered {
  explicit Registered(void* memory, std::size_t bytes) : memory(memory) {
    EXPECT_EQ(chimex_buffer_register(memory, bytes), CHIMEX_OK) << chimex_last_error();
  }
  ~Registered() { EXPECT_EQ(chimex_buffer_unregister(memory), CHIMEX_OK) << chimex_last_error(); }
  void* memory;
};

CHIME_KERNEL inline void put_and_quiet(CHIME_GRID_CONSTANT const Context context, std::byte* target,
                                       const std::byte* source, std::size_t bytes, int pe) {
  put_nbi(context, Thread{}, target, source, bytes, pe);
  quiet(context);
}
CHIME_KERNEL inline void get_here(CHIME_GRID_CONSTANT const Context context, std::byte* target,
                                  const std::byte* source, std::size_t bytes, int pe) {
  get(context, Thread{}, target, source, bytes, pe);
}

// Puts `bytes` of `source` to the next PE and gets them back, by a kernel and by the host, each in
// at least `least` requests, or in exactly one.
void expect_moves(Pe& pe, Private<std::byte>& memory, bool in_one) {
  Symmetric<std::byte> target(kBytes);
  const std::vector<std::byte> mine = pattern(kBytes, pe.rank());
  memory.write(mine);
  const std::byte* const source = memory.data();
  std::byte* const here = memory.data();
  const auto check = [&](std::uint64_t count) {
    if (in_one)
      EXPECT_EQ(count, 1u);
    else
      EXPECT_GT(count, 4u);
  };
  const std::uint64_t same = in_one ? 1 : 8;
  const auto arrived = [&] {
    pe.barrier();
    EXPECT_TRUE(target.read() == pattern(kBytes, pe.previous()));
    pe.barrier();
    target.fill(0);
    pe.barrier();
  };
  check(requests(pe, same, [&] {
    pe.run(1, 1, put_and_quiet, pe.context(), target.data(), source, kBytes, pe.next());
  }));
  arrived();
  check(requests(pe, same, [&] { chime_putmem(target.data(), source, kBytes, pe.next()); }));
  chime_quiet();
  arrived();
  target.write(mine);
  pe.barrier();
  for (const bool by_host : {false, true}) {
    memory.write(std::vector<std::byte>(kBytes));
    check(requests(pe, same, [&] {
      if (by_host)
        chime_getmem(here, target.data(), kBytes, pe.next());
      else
        pe.run(1, 1, get_here, pe.context(), here, static_cast<const std::byte*>(target.data()),
               kBytes, pe.next());
    }));
    EXPECT_TRUE(memory.read() == pattern(kBytes, pe.next()));
  }
  pe.barrier();
}

IN_EVERY_WORLD(Buffers, RegisteredOnesGoInOneRequest) {
  world.spawn(1, [](Pe& pe) {
    Private<std::byte> memory(kBytes);
    const Registered registered(memory.data(), kBytes);
    expect_moves(pe, memory, true);
  });
}

IN_EVERY_WORLD(Buffers, OthersGoThroughChimesOwn) {
  world.spawn(1, [](Pe& pe) {
    Private<std::byte> memory(kBytes);
    expect_moves(pe, memory, false);
    { const Registered registered(memory.data(), kBytes); }
    expect_moves(pe, memory, false);  // no longer registered
    EXPECT_EQ(chimex_buffer_register(memory.data(), kBytes / 2), CHIMEX_OK);
    expect_moves(pe, memory, false);  // half of it is not enough
    EXPECT_EQ(chimex_buffer_unregister_all(), CHIMEX_OK);
  });
}

// ---- A kernel's own memory ----------------------------------------------------------------------

constexpr unsigned kWords = 4096;  // 16 KiB, in a stack of 64

struct Targets {
  unsigned from_stack[kWords], from_shared[kWords], strided[2 * kWords], from_strided_get[kWords];
  std::uint64_t signal;
};

CHIME_HOST_DEVICE unsigned word_at(unsigned i, int pe) { return i * 2654435761u + unsigned(pe); }

// Overwritten when put_nbi returns: the data has left by then.
CHIME_DEVICE void put_and_spoil(const Context& context, unsigned* target, unsigned* source,
                                int pe) {
  for (unsigned i = 0; i < kWords; ++i) source[i] = word_at(i, context.pe.my_pe);
  put_nbi(context, Thread{}, target, source, kWords, pe);
  for (unsigned i = 0; i < kWords; ++i) source[i] = 0;
}

// The words of a get in `here` must be those that `sender` has put to the peer.
CHIME_DEVICE unsigned count_wrong(const unsigned* here, int sender) {
  unsigned wrong = 0;
  for (unsigned i = 0; i < kWords; ++i) wrong += here[i] != word_at(i, sender);
  return wrong;
}

CHIME_KERNEL inline void put_from_everywhere(CHIME_GRID_CONSTANT const Context context,
                                             Targets* targets, int pe) {
  CHIME_SHARED_ARRAY(unsigned, shared, kWords);
  unsigned stack[kWords];
  put_and_spoil(context, targets->from_stack, stack, pe);
  put_and_spoil(context, targets->from_shared, shared, pe);
  for (unsigned i = 0; i < kWords; ++i) stack[i] = word_at(i, context.pe.my_pe);
  iput(context, Thread{}, targets->strided, stack, 2, 1, kWords / 16, pe);
  put_signal(context, Thread{}, targets->from_strided_get, stack, kWords, {&targets->signal, 7},
             pe);
  quiet(context);
}

CHIME_KERNEL inline void get_to_everywhere(CHIME_GRID_CONSTANT const Context context,
                                           const Targets* targets, unsigned* wrong, int pe) {
  CHIME_SHARED_ARRAY(unsigned, shared, kWords);
  unsigned stack[kWords];
  get_nbi(context, Thread{}, stack, targets->from_stack, kWords, pe);
  get(context, Thread{}, shared, targets->from_shared, kWords, pe);
  quiet(context);
  *wrong = count_wrong(stack, context.pe.my_pe) + count_wrong(shared, context.pe.my_pe);
  for (unsigned i = 0; i < kWords; ++i) shared[i] = 0;
  iget(context, Thread{}, shared, targets->strided, 1, 2, kWords / 16, pe);
  for (unsigned i = 0; i < kWords / 16; ++i) *wrong += shared[i] != word_at(i, context.pe.my_pe);
}

IN_EVERY_WORLD(Buffers, StackAndSharedMemoryServeAllOperations) {
  world.spawn(1, [](Pe& pe) {
    Symmetric<Targets> targets(1);
    Private<unsigned> wrong(1);
    pe.barrier();
    pe.run(1, 1, put_from_everywhere, pe.context(), targets.data(), pe.next());
    chime_signal_wait_until(&targets.data()->signal, CHIME_CMP_EQ, 7);
    pe.barrier();
    const auto arrived = std::make_unique<Targets>(targets.read(0));
    unsigned differ = 0;
    for (unsigned i = 0; i < kWords; ++i) {
      const unsigned expected = word_at(i, pe.previous());
      differ += arrived->from_stack[i] != expected;
      differ += arrived->from_shared[i] != expected;
      differ += arrived->from_strided_get[i] != expected;
      if (i < kWords / 16) differ += arrived->strided[2 * i] != expected;
    }
    EXPECT_EQ(differ, 0u);
    pe.run(1, 1, get_to_everywhere, pe.context(), static_cast<const Targets*>(targets.data()),
           wrong.data(), pe.next());
    EXPECT_EQ(wrong.read()[0], 0u);
    pe.barrier();
  });
}

// ---- Gigabytes ----------------------------------------------------------------------------------

// More than fits in two requests, marked at every MiB and around the cuts. CTest sets the heap's
// size for it.
IN_EVERY_WORLD(Buffers, GigabytesArriveWhole) {
  constexpr std::size_t kGiB = std::size_t{1} << 30, kAll = 5 * kGiB / 2 + 24;
  if (const char* size = std::getenv("CHIME_SYMMETRIC_SIZE"); !size || std::string(size) != "6G")
    GTEST_SKIP() << "takes CHIME_SYMMETRIC_SIZE=6G";
  world.spawn(2, [](Pe& pe) {
    std::vector<std::size_t> marks;
    for (std::size_t at = 0; at < kAll / 8; at += (1 << 20) / 8) marks.push_back(at);
    for (const std::size_t cut : {kGiB / 8, 2 * kGiB / 8, kAll / 8 - 1})
      for (const std::size_t at : {cut - 1, cut}) marks.push_back(at);
    auto* const target = static_cast<std::uint64_t*>(chime_malloc(kAll + 8));
    auto* const source = static_cast<std::uint64_t*>(chime_malloc(kAll));
    ASSERT_TRUE(target && source) << chimex_last_error();
    if (pe.rank() == 0) {
      for (const std::size_t at : marks) source[at] = at + 1;
      EXPECT_EQ(requests(pe, 3, [&] { chime_putmem(target, source, kAll, 1); }), 3u);
      chime_quiet();
    }
    pe.barrier();
    if (pe.rank() == 1) {
      std::size_t wrong = 0;
      for (const std::size_t at : marks) wrong += target[at] != at + 1;
      EXPECT_EQ(wrong, 0u);
      EXPECT_EQ(target[kAll / 8], 0u) << "behind the end";
    }
    pe.barrier();
    chime_free(source);
    chime_free(target);
  });
}

// ---- While kernels run --------------------------------------------------------------------------

CHIME_KERNEL inline void put_until_told(CHIME_GRID_CONSTANT const Context context, unsigned* target,
                                        unsigned* source, unsigned bytes, const unsigned* end,
                                        unsigned* rounds, int pe) {
  unsigned round = 0;
  do {
    source[0] = ++round;
    putmem(context, Thread{}, target, source, bytes, pe);
    quiet(context);
  } while (exec::ld<exec::Order::kAcquire, exec::Scope::kSystem>(end) == 0);
  *rounds = round;
}

// A half-changed table is never used: the NIC would refuse an address that was never valid, or
// bring other bytes.
IN_EVERY_WORLD(Buffers, ComeAndGoWhileKernelsLookThemUp) {
  world.spawn(1, [](Pe& pe) {
    constexpr std::size_t kPiece = 256, kPieces = 64;
    Symmetric<unsigned> target(kPiece / 4);
    Private<std::byte> pieces(kPiece * kPieces);
    Private<unsigned> end(1), rounds(1);
    std::byte* const mine = pieces.data() + kPiece * kPieces / 2;
    ASSERT_EQ(chimex_buffer_register(mine, kPiece), CHIMEX_OK);
    exec::LaunchConfig config;
    ASSERT_EQ(exec::launch(config, put_until_told, pe.context(), target.data(),
                           reinterpret_cast<unsigned*>(mine), unsigned(kPiece),
                           static_cast<const unsigned*>(end.data()), rounds.data(), pe.next()),
              CHIMEX_OK);
    for (int turn = 0; turn < 20; ++turn)
      for (const bool add : {true, false})
        for (std::size_t i = 0; i < kPieces; ++i) {
          std::byte* const other = pieces.data() + kPiece * i;
          if (other == mine) continue;
          const int status =
              add ? chimex_buffer_register(other, kPiece) : chimex_buffer_unregister(other);
          ASSERT_EQ(status, CHIMEX_OK) << chimex_last_error();
        }
    const unsigned one = 1;
    std::atomic_ref(*end.data()).store(one, std::memory_order_release);
    ASSERT_EQ(exec::device_synchronize(), CHIMEX_OK);
    pe.barrier();
    EXPECT_GT(rounds.read()[0], 0u);
    const Symmetric<unsigned> theirs(1);
    chime_uint_p(theirs.data(), rounds.read()[0], pe.next());
    pe.barrier();
    EXPECT_EQ(target.read(0), theirs.read(0));
    ASSERT_EQ(chimex_buffer_unregister(mine), CHIMEX_OK);
    pe.barrier();
  });
}

// ---- Refusals -----------------------------------------------------------------------------------

// Reports `words`, and with CHIME_LOG=off (CTest) prints nothing.
void expect_refused(int status, int expected, const char* words) {
  EXPECT_EQ(status, expected);
  EXPECT_NE(std::string(chimex_last_error()).find(words), std::string::npos) << chimex_last_error();
}

IN_EVERY_WORLD(Buffers, WrongOnesAreRefusedByName) {
  world.spawn(1, [](Pe&) {
    Symmetric<std::byte> symmetric(4096);
    Private<std::byte> memory(4096);
    std::byte* const at = memory.data();
    expect_refused(chimex_buffer_register(nullptr, 1), CHIMEX_ERR_INVALID, "null");
    expect_refused(chimex_buffer_register(at, 0), CHIMEX_ERR_INVALID, "no bytes");
    expect_refused(chimex_buffer_register(at, ~std::size_t{0}), CHIMEX_ERR_INVALID,
                   "end of memory");
    expect_refused(chimex_buffer_register(symmetric.data(), 8), CHIMEX_ERR_INVALID,
                   "the symmetric heap");
    expect_refused(chimex_buffer_unregister(at), CHIMEX_ERR_INVALID, "no registered buffer begins");
    const Registered middle(at + 1000, 1000);
    constexpr std::pair<int, int> kOverlapping[] = {{1000, 1}, {1999, 1}, {999, 2}, {0, 4096}};
    for (const auto& [first, bytes] : kOverlapping)
      expect_refused(chimex_buffer_register(at + first, std::size_t(bytes)), CHIMEX_ERR_INVALID,
                     "overlaps the registered buffer");
    expect_refused(chimex_buffer_unregister(at + 1001), CHIMEX_ERR_INVALID, "begins at");
    const Registered before(at, 1000), behind(at + 2000, 1000);
  });
}

IN_EVERY_WORLD(Buffers, AllAreForgottenAtOnce) {
  world.spawn(1, [](Pe& pe) {
    Private<std::byte> memory(3);
    for (int i = 0; i < 3; ++i) EXPECT_EQ(chimex_buffer_register(memory.data() + i, 1), CHIMEX_OK);
    const abi::NicBuffers* const told = pe.context().nic.buffers;
    abi::NicBuffers before{}, after{};
    const bool is_told = told != nullptr;  // there is a NIC
    if (is_told) {
      EXPECT_EQ(exec::copy(&before, told, sizeof before), CHIMEX_OK);
    }
    EXPECT_EQ(chimex_buffer_unregister_all(), CHIMEX_OK);
    if (!is_told) return;
    EXPECT_EQ(exec::copy(&after, told, sizeof after), CHIMEX_OK);
    EXPECT_EQ(after.generation, before.generation + 1);
    EXPECT_EQ(after.tables[after.generation % 2].count, 0u);
  });
}

IN_EVERY_WORLD(Buffers, TheMostAreNamed) {
  world.spawn(1, [](Pe&) {
    Private<std::byte> memory(abi::kNicMostBuffers + 1);
    for (std::size_t i = 0; i < abi::kNicMostBuffers; ++i)
      ASSERT_EQ(chimex_buffer_register(memory.data() + i, 1), CHIMEX_OK) << chimex_last_error();
    expect_refused(chimex_buffer_register(memory.data() + abi::kNicMostBuffers, 1),
                   CHIMEX_ERR_OUT_OF_MEMORY, "1024 are registered");
    EXPECT_EQ(chimex_buffer_unregister_all(), CHIMEX_OK);
    EXPECT_EQ(chimex_buffer_register(memory.data(), 8), CHIMEX_OK) << chimex_last_error();
    EXPECT_EQ(chimex_buffer_unregister_all(), CHIMEX_OK);
  });
}

}  // namespace
}  // namespace chime::tests
