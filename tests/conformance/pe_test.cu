// my_pe, n_pes, node_my_pe, node_n_pes, ptr: this PE's number, the number of PEs, both on this
// node, and the address of a peer's memory.
#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include "chime/device/exec/exec.cuh"
#include "chime/device/peer_status.cuh"
#include "chime/device/rma.cuh"
#include "support/schedule.hpp"
#include "support/world.hpp"

namespace chime::tests {
namespace {

struct Answers {
  int my_pe, n_pes, node_my_pe, node_n_pes;
  bool ptr_to_self_is_same, ptr_outside_is_null, ptr_to_nobody_is_null;
  std::uint64_t read_through_ptr;
};

CHIME_KERNEL inline void ask(CHIME_GRID_CONSTANT const Context context, std::uint64_t* word,
                             Answers* answers, int next) {
  std::uint64_t* const peer = ptr(context, word, next);
  *answers = {my_pe(context),
              n_pes(context),
              node_my_pe(context),
              node_n_pes(context),
              ptr(context, word, context.pe.my_pe) == word,
              ptr(context, &answers->read_through_ptr, next) == nullptr,
              ptr(context, word, context.pe.n_pes) == nullptr && ptr(context, word, -1) == nullptr,
              peer ? exec::ld(peer) : 0};
}

IN_EVERY_WORLD(Query, KernelsHaveTheirPe) {
  world.spawn(1, [](Pe& pe) {
    EXPECT_EQ(pe.rank(), chime_my_pe());
    EXPECT_EQ(pe.size(), chime_n_pes());
    // All PEs of a host belong to one node, mapped or not.
    const int node_n_pes = World::current().pes_of_a_host();
    const int node_my_pe = pe.rank() % node_n_pes;
    EXPECT_EQ(node_my_pe, chimex_node_my_pe());
    EXPECT_EQ(node_n_pes, chimex_node_n_pes());
    Symmetric<std::uint64_t> word(1);
    Private<Answers> answers(1);
    word.write(std::vector{std::uint64_t(pe.rank()) + 1000});
    pe.barrier();
    pe.run(1, 1, ask, pe.context(), word.data(), answers.data(), pe.next());
    const Answers seen = answers.read()[0];
    EXPECT_EQ(pe.rank(), seen.my_pe);
    EXPECT_EQ(pe.size(), seen.n_pes);
    EXPECT_EQ(node_my_pe, seen.node_my_pe);
    EXPECT_EQ(node_n_pes, seen.node_n_pes);
    EXPECT_TRUE(seen.ptr_to_self_is_same);
    EXPECT_TRUE(seen.ptr_outside_is_null);
    EXPECT_TRUE(seen.ptr_to_nobody_is_null);
    const bool is_mapped = chime_ptr(word.data(), pe.next()) != nullptr;
    EXPECT_EQ(is_mapped ? unsigned(pe.next()) + 1000 : 0, seen.read_through_ptr);
    pe.barrier();
  });
}

CHIME_KERNEL inline void ask_of_each(CHIME_GRID_CONSTANT const Context context, int* status) {
  for (int pe = -1; pe <= context.pe.n_pes; ++pe) status[pe + 1] = pe_status(context, pe);
}

// Also for PEs that no kernel has communicated with yet, and for this PE.
IN_EVERY_WORLD(PeStatus, IsWellOfAllThereAre) {
  world.spawn(1, [](Pe& pe) {
    std::vector<int> expected(unsigned(pe.size()) + 2, CHIMEX_OK);
    expected.front() = expected.back() = CHIMEX_ERR_INVALID;
    Private<int> status(expected.size());
    status.write(std::vector<int>(expected.size(), -1));
    pe.run(1, 1, ask_of_each, pe.context(), status.data());
    EXPECT_EQ(expected, status.read());
    for (int other = -1; other <= pe.size(); ++other)
      EXPECT_EQ(expected[unsigned(other + 1)], chimex_pe_status(other)) << "PE " << other;
    pe.barrier();
  });
}

IN_EVERY_WORLD(Ptr, IsTheSameOffsetOnEveryPe) {
  world.spawn(1, [](Pe& pe) {
    Symmetric<std::uint32_t> words(1000);
    std::vector<std::uint32_t> mine(1000);
    for (std::uint32_t i = 0; i < mine.size(); ++i) mine[i] = unsigned(pe.rank()) << 16 | i;
    words.write(mine);
    pe.barrier();
    for (int to = 0; to < pe.size(); ++to) {
      void* const there = chime_ptr(words.data() + 500, to);
      if (there == nullptr && !World::current().maps_all() && to != pe.rank()) continue;
      ASSERT_NE(nullptr, there);
      std::uint32_t seen = 0;
      exec::copy(&seen, there, sizeof seen);
      EXPECT_EQ(unsigned(to) << 16 | 500, seen);
    }
    int on_stack = 0;
    EXPECT_EQ(nullptr, chime_ptr(&on_stack, pe.next()));
    EXPECT_EQ(nullptr, chime_ptr(words.data(), pe.size()));
    pe.barrier();
  });
}

// Heaps with pages here: memory files of their name, by inode.
std::size_t heaps_in_address_space() {
  std::set<std::string> inodes;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    std::istringstream fields(line);
    std::string range, access, offset, device, inode, file;
    fields >> range >> access >> offset >> device >> inode >> file;
    if (file == "/memfd:chime-heap") inodes.insert(inode);
  }
  return inodes.size();
}

// CHIME_P2P=off is for tests of the NIC path: stores could still reach a mapped heap.
IN_EVERY_WORLD(Ptr, NoHeapIsMappedButThoseItLeadsTo) {
  if (world.has_a_gpu()) GTEST_SKIP() << "a GPU's memory is not in /proc/self/maps";
  world.spawn(1, [](Pe& pe) {
    Symmetric<std::uint32_t> word(1);
    std::size_t reached = 0;
    for (int to = 0; to < pe.size(); ++to) reached += chime_ptr(word.data(), to) != nullptr;
    // Threads of one process have each other's heaps in their address space, reached or not.
    const bool share = World::current().kind() == WorldPes::kThreads;
    EXPECT_EQ(share ? std::size_t(pe.size()) : reached, heaps_in_address_space());
    EXPECT_EQ(std::size_t(World::current().mapped_pes()), reached);
    pe.barrier();
  });
}

}  // namespace
}  // namespace chime::tests
