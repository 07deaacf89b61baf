// Every strict report: the mistake is made twice where the queue pair survives it, and named once.

#include <sys/mman.h>

#include <functional>

#include "routes.hpp"
#include "wait.hpp"

namespace direct {
namespace {

struct Scene {
  explicit Scene(const Options& options) : pair(kDevx, options) {}
  Pair pair;
  Memory local{1 << 16}, remote{1 << 16};
  Memory read_only{4096, 0};
  ibv_pd* elsewhere = check(ibv_alloc_pd(Hca::instance().context()), "ibv_alloc_pd");
  std::unique_ptr<Memory> stranger = std::make_unique<Memory>(4096, kAllAccess, elsewhere);
  Endpoint& left = *pair.left;
  Endpoint& right = *pair.right;
  ~Scene() {
    stranger.reset();
    ibv_dealloc_pd(elsewhere);
  }

  Wqe to_remote(std::uint8_t opcode, std::uint8_t opmod = 0) const {
    return Wqe(opcode, opmod).remote(remote.at(0), remote.rkey());
  }
  Wqe write() const { return to_remote(kWrite).data(local.at(0), 8, local.lkey()); }
  Wqe send() const { return Wqe(kSend).data(local.at(0), 8, local.lkey()); }

  // The NIC has taken the doorbell in the register of `rung`.
  static void wait_for_taking(const SendQueue& rung) {
    wait_until("the doorbell's taking", [&] {
      return std::atomic_ref(*rung.doorbell).load(std::memory_order_acquire) == 0;
    });
  }
  // The NIC has finished all earlier work that it can finish: a turn of its engine takes doorbells
  // first, so that a second one is taken after the turn of the first.
  void settle() const {
    for (int i = 0; i < 2; ++i) {
      left.sends.write_doorbell(left.sends.next, left.sends.qpn);
      wait_for_taking(left.sends);
    }
  }
  // Posts `wqe`, lets `spoil` change its bytes, posts the doorbell, and waits for the error.
  void fail(
      const Wqe& wqe, const std::function<void(std::uint8_t*)>& spoil = [](std::uint8_t*) {}) {
    const std::uint16_t index = left.sends.post(wqe);
    spoil(left.sends.block(index));
    left.sends.ring_doorbell();
    EXPECT_TRUE(left.sent.retired(index).failed());
  }
};

struct Mistake {
  const char* name;
  const char* words;  // the report's other words
  std::function<void(Scene&)> make;
  Options options = {};
};

constexpr const char* kBytes = "the work request is\n  ";

Options few_completions() {
  Options options;
  options.completions = 4;
  return options;
}
Options no_atomics() {
  Options options;
  options.access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;
  return options;
}

Wqe fetch_add(const Scene& s, const void* address) {
  return Wqe(kFetchAdd)
      .remote(address, s.remote.rkey())
      .u64(1)
      .u64(0)
      .data(s.local.at(0), 8, s.local.lkey());
}

const std::vector<Mistake>& mistakes() {
  static const std::vector<Mistake> all = {
      {"doorbell-before-record", "doorbell says 1, the doorbell record 0",
       [](Scene& s) {
         s.left.sends.post(s.write());
         s.settle();
         s.left.sends.ring_doorbell();
         EXPECT_FALSE(s.left.sent.next().failed());
       }},
      {"doorbell-unknown-qp", "no such queue pair",
       [](Scene& s) {
         for (int i = 0; i < 2; ++i) {
           s.left.sends.write_doorbell(0, 0xabcdef);
           Scene::wait_for_taking(s.left.sends);
         }
       }},
      {"doorbell-wrong-page", "its page is",
       [](Scene& s) {
         const auto other = make_endpoint(kVerbs, {});  // whose page is the library's
         for (int i = 0; i < 2; ++i) {
           other->sends.write_doorbell(0, s.left.qpn());
           Scene::wait_for_taking(other->sends);
         }
       }},
      {"send-queue-overrun", "blocks posted and not completed, the queue has 64",
       [](Scene& s) {
         s.left.sends.post_and_ring(s.send());  // waits for a receive WQE
         s.settle();
         for (int i = 0; i < 64; ++i) s.left.sends.post(Wqe(kNop));
         s.left.sends.ring_doorbell();
         s.settle();
         s.right.receives.post({{s.remote.at(0), 8, s.remote.lkey()}});
         for (int i = 0; i < 65; ++i) EXPECT_FALSE(s.left.sent.next().failed());
       }},
      {"cq-overrun", "holds 4 unread entries of 4",
       [](Scene& s) {
         s.left.sent.updates_record = false;
         for (int i = 0; i < 6; ++i) s.left.sends.post(Wqe(kNop));
         s.left.sends.ring_doorbell();
         s.settle();
       },
       few_completions()},
      {"wqe-changed", "was written to between its doorbell and its completion",
       [](Scene& s) {
         for (int i = 0; i < 2; ++i) {
           const std::uint16_t index = s.left.sends.post_and_ring(s.send());
           s.settle();
           s.left.sends.block(index)[31] ^= 1;  // of the address
           s.right.receives.post({{s.remote.at(0), 8, s.remote.lkey()}});
           EXPECT_FALSE(s.left.sent.next().failed());
         }
       }},
      {"wqe-qpn", kBytes, [](Scene& s) { s.fail(s.write(), [](auto* w) { w[6] ^= 1; }); }},
      {"wqe-index", kBytes, [](Scene& s) { s.fail(s.write(), [](auto* w) { w[2] ^= 1; }); }},
      {"wqe-past-record", kBytes,
       [](Scene& s) {
         Wqe two_blocks = s.write();
         two_blocks.data(s.local.at(8), 8, s.local.lkey()).data(s.local.at(16), 8, s.local.lkey());
         s.left.sends.post(two_blocks);
         s.left.sends.next = 1;
         s.left.sends.ring_doorbell();
         EXPECT_TRUE(s.left.sent.next().failed());
       }},
      {"ds-zero", kBytes, [](Scene& s) { s.fail(s.write(), [](auto* w) { w[7] = 0; }); }},
      {"ds-too-small", kBytes, [](Scene& s) { s.fail(Wqe(kWrite)); }},
      {"opcode", kBytes, [](Scene& s) { s.fail(Wqe(0x3f)); }},
      {"opcode-mode", kBytes,
       [](Scene& s) { s.fail(s.to_remote(kWrite, 1).data(s.local.at(0), 8, s.local.lkey())); }},
      {"reserved-bits", kBytes, [](Scene& s) { s.fail(s.write(), [](auto* w) { w[7] |= 0x80; }); }},
      {"inline-past-ds", kBytes,
       [](Scene& s) { s.fail(s.to_remote(kWrite).u32(0x80000000u | 100).u32(0).u64(0)); }},
      {"inline-read", kBytes, [](Scene& s) { s.fail(s.to_remote(kRead).inlined("12345678", 8)); }},
      {"data-of-no-bytes", kBytes,
       [](Scene& s) { s.fail(s.to_remote(kWrite).data(s.local.at(0), 0, s.local.lkey())); }},
      {"key-unknown", "lkey 0x7700",
       [](Scene& s) { s.fail(s.to_remote(kWrite).data(s.local.at(0), 8, 0x7700)); }},
      {"key-bounds", "rkey ",
       [](Scene& s) {
         s.fail(Wqe(kWrite)
                    .remote(s.remote.at(s.remote.bytes() - 4), s.remote.rkey())
                    .data(s.local.at(0), 8, s.local.lkey()));
       }},
      {"key-domain", "lkey ",
       [](Scene& s) {
         s.fail(s.to_remote(kWrite).data(s.stranger->at(0), 8, s.stranger->lkey()));
       }},
      {"key-access", "lkey ",
       [](Scene& s) { s.fail(s.to_remote(kRead).data(s.read_only.at(0), 8, s.read_only.lkey())); }},
      {"key-unmapped", "lkey ",
       [](Scene& s) {
         void* page =
             ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
         ibv_mr* lost = check(ibv_reg_mr(Hca::instance().pd(), page, 4096, kAllAccess), "reg_mr");
         ::munmap(page, 4096);
         s.fail(s.to_remote(kWrite).data(page, 8, lost->lkey));
         ibv_dereg_mr(lost);
       }},
      {"qp-access", "rkey ", [](Scene& s) { s.fail(fetch_add(s, s.remote.at(0))); }, no_atomics()},
      {"alignment", "8 bytes", [](Scene& s) { s.fail(fetch_add(s, s.remote.at(4))); }},
  };
  return all;
}

std::size_t count(const std::string& text, const std::string& of) {
  std::size_t times = 0;
  for (std::size_t at = text.find(of); at != std::string::npos; at = text.find(of, at + 1)) ++times;
  return times;
}

class Strict : public testing::TestWithParam<std::size_t> {};
INSTANTIATE_TEST_SUITE_P(Mistake, Strict, testing::Range<std::size_t>(0, mistakes().size()),
                         [](const auto& info) {
                           std::string name = mistakes()[info.param].name;
                           std::erase(name, '-');
                           return name;
                         });

TEST_P(Strict, NamesTheMistakeOnce) {
  const Mistake& mistake = mistakes()[GetParam()];
  Scene scene(mistake.options);
  testing::internal::CaptureStderr();
  EXPECT_NO_THROW(mistake.make(scene));
  const std::string text = testing::internal::GetCapturedStderr();
  EXPECT_EQ(count(text, std::string("softnic: strict: ") + mistake.name + ": queue pair 0x"), 1u)
      << text;
  EXPECT_NE(text.find(mistake.words), std::string::npos) << text;
}

// As a copy of a WQE to a BlueFlame register may appear.
TEST(StrictMode, TakesADoorbellInPiecesForOne) {
  testing::internal::CaptureStderr();
  Scene scene({});
  const SendQueue& sends = scene.left.sends;
  const std::uint16_t index = scene.left.sends.post(scene.write());
  sends.write_record(1);
  const std::uint32_t words[2] = {htobe32(1u << 8 | kWrite), htobe32(sends.qpn << 8 | 3)};
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(words);
  auto* reg = reinterpret_cast<std::uint8_t*>(sends.doorbell);
  for (int i = 0; i < 8; ++i) {
    std::atomic_ref(reg[i]).store(bytes[i], std::memory_order_release);
    std::this_thread::sleep_for(std::chrono::milliseconds(3));
  }
  EXPECT_EQ(scene.left.sent.next().counter(), index);
  Scene::wait_for_taking(sends);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

// A doorbell that was not taken yet when the queue pair ended is no mistake, also where its
// register stays.
TEST(StrictMode, SaysNothingOfDoorbellsThatOutliveTheirQueuePair) {
  testing::internal::CaptureStderr();
  for (int i = 0; i < 20; ++i) {
    const auto ending = make_endpoint(kVerbs, {});
    const auto starting = make_endpoint(kVerbs, {});
    for (const auto& endpoint : {&ending, &starting}) (*endpoint)->connect((*endpoint)->qpn());
    // The NIC sleeps, and reads no doorbells before the next call.
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    starting->sends.post_and_ring(Wqe(kNop));
    ending->sends.post_and_ring(Wqe(kNop));
    check_zero(starting->to_reset(), "reset");
  }
  // For so long it takes a doorbell of no queue pair for the first half of one.
  std::this_thread::sleep_for(std::chrono::milliseconds(1200));
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST(StrictMode, SaysNothingOfCorrectRequests) {
  testing::internal::CaptureStderr();
  Scene scene({});
  for (int i = 0; i < 200; ++i) {
    scene.left.sends.post_and_ring(i % 2 ? scene.write() : fetch_add(scene, scene.remote.at(8)));
    EXPECT_FALSE(scene.left.sent.next().failed());
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

}  // namespace
}  // namespace direct
