// The groups of threads that call an operation together, as values: Thread, Warp and Block. A
// Warpgroup calls a barrier alone.
//
// An operation is one template over the group. Every member calls it with the same arguments;
// member `rank()` of `size()` does its share. `sync()` is a barrier of the members that also orders
// memory among them. `any(p)` is a sync that returns to every member whether `p` held for one of
// them.
#ifndef CHIME_DEVICE_GROUP_CUH_
#define CHIME_DEVICE_GROUP_CUH_

#include "chime/device/exec/exec.cuh"

namespace chime {

// The calling thread alone. The only group of host code.
struct Thread {
  CHIME_DEVICE static constexpr unsigned rank() { return 0; }
  CHIME_DEVICE static constexpr unsigned size() { return 1; }
  CHIME_DEVICE static constexpr bool is_leader() { return true; }
  CHIME_DEVICE static constexpr void sync() {}
  CHIME_DEVICE static void reads(const void*, std::size_t, std::size_t, std::size_t) {}
  CHIME_DEVICE static constexpr bool any(bool p) { return p; }
};

// All lanes of the calling thread's warp. The caller promises that none has ended and that all
// come. If the last warp of a block is partly filled, the group has only its lanes.
struct Warp {
  CHIME_DEVICE static unsigned rank() { return exec::lane_id(); }
  CHIME_DEVICE static unsigned size() {
    const unsigned rest = exec::block_threads() - exec::warp_id() * 32;
    return rest < 32 ? rest : 32;
  }
  CHIME_DEVICE static bool is_leader() { return rank() == 0; }
  CHIME_DEVICE static void sync() { exec::sync_warp(mask()); }
  CHIME_DEVICE static exec::Part enter() { return exec::enter_warp(mask()); }
  CHIME_DEVICE static void leave(exec::Part part) { exec::leave_warp(mask(), part); }
  CHIME_DEVICE static void reads(const void* source, std::size_t bytes, std::size_t stride,
                                 std::size_t count) {
    exec::warp_reads(source, bytes, stride, count);
  }
  CHIME_DEVICE static bool any(bool p) {
    const bool held = exec::any(mask(), p);
    sync();  // a vote orders no memory: without this only the lane that waited has acquired
    return held;
  }

 private:
  CHIME_DEVICE static unsigned mask() { return ~0u >> (32 - size()); }
};

// All threads of the calling thread's block. The caller promises that none has ended and that all
// come. (A barrier does not wait for ended threads, but their share of the work would be missing.)
struct Block {
  CHIME_DEVICE static unsigned rank() { return exec::thread_rank(); }
  CHIME_DEVICE static unsigned size() { return exec::block_threads(); }
  CHIME_DEVICE static bool is_leader() { return rank() == 0; }
  CHIME_DEVICE static void sync() { exec::sync_whole_block(); }
  CHIME_DEVICE static exec::Part enter() { return exec::enter_whole_block(); }
  CHIME_DEVICE static void leave(exec::Part part) { exec::leave_whole_block(part); }
  CHIME_DEVICE static void reads(const void* source, std::size_t bytes, std::size_t stride,
                                 std::size_t count) {
    exec::block_reads(source, bytes, stride, count);
  }
  CHIME_DEVICE static bool any(bool p) { return exec::sync_whole_block_or(p); }
};

// Four consecutive warps of a block, of which the first has a number that is a multiple of four:
// the 128 threads with the same quotient of rank and 128, or those of them that the block has. The
// caller promises that none has ended and that all come.
//
// The members meet at a named barrier of the block: group 0 at 15, group 1 at 14, and so on to
// group 7 at 8. A kernel that makes such calls must not use these numbers otherwise.
struct Warpgroup {
  CHIME_DEVICE static unsigned rank() { return exec::thread_rank() % kThreads; }
  CHIME_DEVICE static unsigned size() {
    const unsigned rest = exec::block_threads() - number() * kThreads;
    return rest < kThreads ? rest : kThreads;
  }
  CHIME_DEVICE static bool is_leader() { return rank() == 0; }
  CHIME_DEVICE static void sync() { exec::sync_named(barrier(), of_whole_warps()); }
  CHIME_DEVICE static bool any(bool p) {
    return exec::sync_named_or(barrier(), of_whole_warps(), p);
  }

 private:
  static constexpr unsigned kThreads = 128;

  CHIME_DEVICE static unsigned number() { return exec::thread_rank() / kThreads; }
  CHIME_DEVICE static int barrier() { return 15 - static_cast<int>(number()); }
  CHIME_DEVICE static unsigned of_whole_warps() { return (size() + 31) / 32 * 32; }
};

// ---- A call of a group --------------------------------------------------------------------------

// The group of an operation whose members have met before it, and meet again after it. On the CPU
// one thread may act for all of them; then it is a group of one.
template <class Group>
class Inside {
 public:
  CHIME_DEVICE explicit Inside(exec::Part part) : is_all_(part == exec::Part::kAll) {}

  CHIME_DEVICE unsigned rank() const { return is_all_ ? 0 : Group::rank(); }
  CHIME_DEVICE unsigned size() const { return is_all_ ? 1 : Group::size(); }
  CHIME_DEVICE bool is_leader() const { return is_all_ || Group::is_leader(); }
  CHIME_DEVICE void sync() const {
    if (!is_all_) Group::sync();
  }
  // The members have met since they wrote the source.
  CHIME_DEVICE static void reads(const void*, std::size_t, std::size_t, std::size_t) {}

 private:
  bool is_all_;
};

// While an object of this class lives, its group makes a call: all members meet at its construction
// and its destruction, as in NVSHMEM. So each member may write its part of the source before the
// call, and reuse or read all of the memory after it.
template <class Group>
class Together {
 public:
  CHIME_DEVICE Together() : part_(Group::enter()) {}
  CHIME_DEVICE ~Together() { Group::leave(part_); }
  Together(const Together&) = delete;
  Together& operator=(const Together&) = delete;

  // Whether the calling thread has a part in the operation.
  CHIME_DEVICE bool acts() const { return part_ != exec::Part::kNone; }
  CHIME_DEVICE Inside<Group> group() const { return Inside<Group>(part_); }

 private:
  exec::Part part_;
};

// Ends an operation after which any member may rely on the work of all.
template <class Group>
CHIME_DEVICE void end_together(Group g) {
  g.sync();
}
template <class Group>
CHIME_DEVICE void end_together(Inside<Group>) {}  // ~Together() does it

}  // namespace chime

#endif  // CHIME_DEVICE_GROUP_CUH_
