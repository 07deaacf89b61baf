// Calls that a seed draws: of two teams that share members, in two lanes of each, all at once. A
// lane has calls of all kinds one after another (drawn_calls.hpp), by a group of its own on each
// PE. The same seed also schedules kernels' threads, in weak memory. The host compares all memory
// afterwards, also what lies around arrays.
#include <array>
#include <memory>
#include <optional>

#include "chime/device/coll/move.cuh"
#include "chime/device/coll/reduce.cuh"
#include "chime/device/coll/scan.cuh"
#include "chime/device/coll/strided.cuh"
#include "chime/device/coll/team.cuh"
#include "chime/device/coll/uneven.cuh"
#include "collectives/drawn_calls.hpp"
#include "support/schedule.hpp"

namespace chime::tests {
namespace {

constexpr unsigned kTeams = 2, kLanes = 2, kStreams = kTeams * kLanes;
constexpr unsigned kCalls = 8;     // of a stream
constexpr std::size_t kEdge = 64;  // before and behind it nothing is written
constexpr std::size_t kSpace = kRoom + 2 * kEdge;
constexpr std::byte kUntouched{0xe7}, kUsed{0x5a};

// ---- What a kernel is given ---------------------------------------------------------------------

struct Call {
  Kind kind;
  int root;
  std::byte* dst;
  std::byte* src;
  std::size_t count, element;  // of this member; bytes of an element
  std::ptrdiff_t dst_stride, src_stride;
  std::size_t *dst_counts, *dst_offsets, *src_counts, *src_offsets;
  std::size_t used;  // bytes of the source, which change when the call has returned
  unsigned pauses;
};
enum class By { kNobody, kThread, kWarp, kBlock };
struct Stream {
  By by;
  chime_team_t team;  // with its lane
  Call calls[kCalls];
  int statuses[kCalls];
};

template <class Op, class T, class Group>
CHIME_DEVICE int reduce_as(const Context& ctx, Group g, chime_team_t team, const Call& call) {
  return reduce<Op>(ctx, g, team, reinterpret_cast<T*>(call.dst),
                    reinterpret_cast<const T*>(call.src), call.count);
}

template <class Group>
CHIME_DEVICE int make(const Context& ctx, Group g, chime_team_t team, const Call& call) {
  const std::size_t bytes = call.count * call.element;
  auto* const doubles = reinterpret_cast<double*>(call.dst);
  const auto* const from = reinterpret_cast<const double*>(call.src);
  switch (call.kind) {
    case kBroadcast:
      return broadcastmem(ctx, g, team, call.dst, call.src, bytes, call.root);
    case kFcollect:
      return fcollectmem(ctx, g, team, call.dst, call.src, bytes);
    case kCollect:
      return collectmem(ctx, g, team, call.dst, call.src, bytes);
    case kAlltoall:
      return alltoallmem(ctx, g, team, call.dst, call.src, bytes);
    case kAlltoalls:
      return alltoallsmem(ctx, g, team, call.dst, call.src, call.dst_stride, call.src_stride,
                          call.count, call.element);
    case kAlltoallv:
      return alltoallvmem(ctx, g, team, call.dst, call.dst_counts, call.dst_offsets, call.src,
                          call.src_counts, call.src_offsets, call.element);
    case kSumOfDoubles:
      return reduce_as<Sum, double>(ctx, g, team, call);
    case kXor:
      return reduce_as<Xor, std::uint32_t>(ctx, g, team, call);
    case kLargestPair:
      return reduce_as<MaxLocation, chimex_double2_t>(ctx, g, team, call);
    case kScatteredSum:
      return reducescatter<Sum>(ctx, g, team, doubles, from, call.count);
    case kInscan:
      return inscan<Sum>(ctx, g, team, doubles, from, call.count);
    case kExscan:
      return exscan<Sum>(ctx, g, team, doubles, from, call.count);
    case kSync:
      return team_sync(ctx, g, team);
    default:
      return team_barrier(ctx, g, team);
  }
}

template <class Group>
CHIME_DEVICE void make_all(const Context& ctx, Group g, Stream& stream) {
  for (unsigned i = 0; i < kCalls; ++i) {
    const Call& call = stream.calls[i];
    for (unsigned pause = 0; pause < call.pauses; ++pause) exec::pause();
    const int status = make(ctx, g, stream.team, call);
    if (g.is_leader()) stream.statuses[i] = status;
    for (std::size_t at = g.rank(); at < call.used; at += g.size()) call.src[at] = kUsed;
    g.sync();
  }
}

// A block for each stream.
CHIME_KERNEL void make_streams(CHIME_GRID_CONSTANT const Context ctx, Stream* streams) {
  Stream& mine = streams[exec::block_rank()];
  if (mine.by == By::kThread && exec::thread_rank() == 0) make_all(ctx, Thread{}, mine);
  if (mine.by == By::kWarp && exec::warp_id() == 0) make_all(ctx, Warp{}, mine);
  if (mine.by == By::kBlock) make_all(ctx, Block{}, mine);
}

// ---- A PE's memory ------------------------------------------------------------------------------

std::size_t room_of(unsigned stream, unsigned call, bool is_dst) {
  return ((stream * kCalls + call) * 2 + is_dst) * kSpace + kEdge;
}
constexpr std::size_t kAllRooms = kStreams * kCalls * 2 * kSpace;

// All rooms of a PE before the calls, and as they ought to be after them. What a reducescatter in
// place leaves of its source behind the result nobody promises.
struct Memory {
  Bytes before = Bytes(kAllRooms, kUntouched), after = before;
  std::vector<bool> is_promised = std::vector<bool>(kAllRooms, true);

  void add(const Drawn& call, const Own& own, int rank) {
    const auto stream = static_cast<unsigned>(call.where[1]);
    const auto number = static_cast<unsigned>(call.where[2]);
    const std::size_t dst = room_of(stream, number, true) + call.dst_at;
    const std::size_t src = own.in_place ? dst : room_of(stream, number, false) + own.src_at;
    const std::size_t elements = elements_of_source(call, rank);
    for (std::size_t i = 0; i < elements; ++i)
      put(before, src, i * static_cast<std::size_t>(own.src_stride), element_of(call, rank, i));
    const std::size_t used = used_by(call, own, rank);
    std::copy_n(before.begin() + static_cast<std::ptrdiff_t>(src),
                elements == 0 ? 0 : span(call, own, rank),
                after.begin() + static_cast<std::ptrdiff_t>(src));
    std::fill_n(after.begin() + static_cast<std::ptrdiff_t>(src), used, kUsed);
    if (own.in_place && call.kind == kScatteredSum)
      std::fill_n(is_promised.begin() + static_cast<std::ptrdiff_t>(src), elements * call.element,
                  false);
    put_results(call, rank, own.dst_stride, [&](std::size_t place, const Bytes& bytes) {
      put(after, dst, place, bytes);
      std::fill_n(is_promised.begin() + static_cast<std::ptrdiff_t>(dst + place * call.element),
                  call.element, true);
    });
  }

  static std::size_t elements_of_source(const Drawn& call, int rank) {
    if (call.kind == kAlltoallv) return src_offset(call, rank, call.n);
    if (call.kind == kBroadcast && rank != call.root) return 0;
    return call.brings(rank) * static_cast<std::size_t>(call.shares());
  }
  // Bytes from the first element of a source to the end of the last one.
  static std::size_t span(const Drawn& call, const Own& own, int rank) {
    const std::size_t elements = elements_of_source(call, rank);
    if (elements == 0) return 0;
    return ((elements - 1) * static_cast<std::size_t>(own.src_stride) + 1) * call.element;
  }
  static std::size_t used_by(const Drawn& call, const Own& own, int rank) {
    return own.in_place ? 0 : span(call, own, rank);
  }

 private:
  static void put(Bytes& to, std::size_t first, std::size_t place, const Bytes& bytes) {
    std::copy(bytes.begin(), bytes.end(),
              to.begin() + static_cast<std::ptrdiff_t>(first + place * bytes.size()));
  }
};

// ---- A seed on a PE -----------------------------------------------------------------------------

constexpr std::size_t kNumbers = kStreams * kCalls * 4 * kMostPes;

// A team of this seed, and this PE's number in it.
struct Side {
  chime_team_t team;
  std::vector<int> pes;
  int rank;
};

class Seed {
 public:
  Seed(Pe& pe, int seed, const std::array<Side, kTeams>& sides, std::byte* rooms,
       std::size_t* numbers)
      : seed_(seed), rooms_(rooms), numbers_(numbers), memory_numbers_(kNumbers) {
    for (unsigned stream = 0; stream < kStreams; ++stream)
      if (const Side& side = sides[stream / kLanes]; side.rank >= 0) draw_stream(pe, stream, side);
  }

  const Memory& memory() const { return memory_; }
  const std::vector<std::size_t>& numbers() const { return memory_numbers_; }
  std::span<const Stream> streams() const { return streams_; }

  void expect(const std::vector<Stream>& made, const Bytes& got,
              const std::vector<std::size_t>& numbers) const {
    for (unsigned stream = 0; stream < kStreams; ++stream)
      for (unsigned call = 0; streams_[stream].by != By::kNobody && call < kCalls; ++call) {
        SCOPED_TRACE(testing::Message() << "stream " << stream << ", call " << call << ": "
                                        << described(stream, call));
        ASSERT_EQ(CHIMEX_OK, made[stream].statuses[call]);
        for (const bool is_dst : {false, true})
          expect_room(room_of(stream, call, is_dst), got, is_dst ? "dst" : "src");
        expect_counts(stream, call, numbers);
      }
  }

 private:
  void draw_stream(Pe& pe, unsigned number, const Side& side) {
    Draws draws{seed_, -1, pe.rank(), static_cast<int>(number)};
    Stream& stream = streams_[number];
    stream.by = static_cast<By>(1 + draws.below(3));
    stream.team = chimex_team_lane(side.team, lane_of(number));
    std::fill_n(stream.statuses, kCalls, -1);  // of a call that is never made
    for (unsigned call = 0; call < kCalls; ++call) {
      const Drawn drawn(seed_, number, call, static_cast<int>(side.pes.size()));
      const Own own(drawn, side.rank);
      memory_.add(drawn, own, side.rank);
      stream.calls[call] = call_of(drawn, own, side.rank);
      drawn_[number][call] = drawn;
      ranks_[number] = side.rank;
    }
  }
  // Two lanes of a team, other ones for each seed.
  int lane_of(unsigned stream) const {
    Draws draws{seed_, -2, static_cast<int>(stream / kLanes)};
    const int first = draws.below(8), apart = 1 + draws.below(7);
    return stream % kLanes == 0 ? first : (first + apart) % 8;
  }

  Call call_of(const Drawn& drawn, const Own& own, int rank) {
    const auto stream = static_cast<unsigned>(drawn.where[1]);
    const auto call = static_cast<unsigned>(drawn.where[2]);
    std::byte* const dst = rooms_ + room_of(stream, call, true) + drawn.dst_at;
    std::byte* const src = rooms_ + room_of(stream, call, false) + own.src_at;
    const std::size_t first = (stream * kCalls + call) * 4 * kMostPes;
    std::size_t* const numbers = numbers_ + first;
    if (drawn.kind == kAlltoallv) draw_numbers(drawn, rank, &memory_numbers_[first]);
    return {drawn.kind,
            drawn.root,
            dst,
            own.in_place ? dst : src,
            drawn.brings(rank),
            drawn.element,
            own.dst_stride,
            own.src_stride,
            numbers,
            numbers + kMostPes,
            numbers + 2 * kMostPes,
            numbers + 3 * kMostPes,
            Memory::used_by(drawn, own, rank),
            own.pauses};
  }
  static void draw_numbers(const Drawn& drawn, int me, std::size_t* numbers) {
    for (int rank = 0; rank < drawn.n; ++rank, ++numbers) {
      numbers[0] = drawn.brings(rank, me) + 1;
      numbers[kMostPes] = dst_offset(drawn, rank, me);
      numbers[2 * kMostPes] = drawn.brings(me, rank);
      numbers[3 * kMostPes] = src_offset(drawn, me, rank);
    }
  }

  std::string described(unsigned stream, unsigned call) const {
    const Drawn& drawn = *drawn_[stream][call];
    return std::string(kNames[drawn.kind]) + " of " + std::to_string(drawn.brings(ranks_[stream])) +
           " elements of " + std::to_string(drawn.element) + " bytes by member " +
           std::to_string(ranks_[stream]) + " of " + std::to_string(drawn.n);
  }
  void expect_room(std::size_t first, const Bytes& got, const char* array) const {
    for (std::size_t at = first - kEdge; at < first + kRoom + kEdge; ++at)
      if (memory_.is_promised[at] && memory_.after[at] != got[at]) {
        ASSERT_EQ(memory_.after[at], got[at])
            << "byte " << static_cast<std::ptrdiff_t>(at - first) << " of the room of " << array;
      }
  }
  // An alltoallv says how many came.
  void expect_counts(unsigned stream, unsigned call,
                     const std::vector<std::size_t>& numbers) const {
    const Drawn& drawn = *drawn_[stream][call];
    const std::size_t first = (stream * kCalls + call) * 4 * kMostPes;
    for (int rank = 0; drawn.kind == kAlltoallv && rank < drawn.n; ++rank)
      ASSERT_EQ(drawn.brings(rank, ranks_[stream]), numbers[first + static_cast<std::size_t>(rank)])
          << "elements from member " << rank;
  }

  int seed_;
  std::byte* rooms_;
  std::size_t* numbers_;
  std::vector<std::size_t> memory_numbers_;
  Memory memory_;
  std::vector<Stream> streams_ = std::vector<Stream>(kStreams);
  std::optional<Drawn> drawn_[kStreams][kCalls];
  int ranks_[kStreams] = {};
};

// Two teams of different shapes, which have members of their own and members in common.
class Teams {
 public:
  explicit Teams(Pe& pe) : me_(pe.rank()) {
    for (const Shape& shape : shapes_of(pe.size())) {
      made_.push_back(std::make_unique<Made>(CHIME_TEAM_WORLD, shape));
      members_.push_back(shape.pes());
    }
  }
  std::array<Side, kTeams> of(int seed) const {
    Draws draws{seed, -3};
    const auto one = draws.upto(made_.size() - 1);
    const auto other = (one + 1 + draws.upto(made_.size() - 2)) % made_.size();
    return {side(one), side(other)};
  }

 private:
  Side side(std::size_t i) const { return {*made_[i], members_[i], rank_of(me_, members_[i])}; }

  int me_;
  std::vector<std::unique_ptr<Made>> made_;
  std::vector<std::vector<int>> members_;
};

IN_EVERY_WORLD(Seeds, OfCallsOfTwoTeamsInTwoLanesAtOnce) {
  world.spawn(1, [](Pe& pe) {
    if (pe.size() > kMostPes) GTEST_SKIP() << "rooms have place for 8 PEs";
    const Teams teams(pe);
    Symmetric<std::byte> rooms(kAllRooms);
    Private<std::size_t> numbers(kNumbers);
    Private<Stream> streams(kStreams);
    for_each_seed(pe, [&](int seed) {
      const Seed drawn(pe, seed, teams.of(seed), rooms.data(), numbers.data());
      rooms.write(drawn.memory().before);
      numbers.write(drawn.numbers());
      streams.write(drawn.streams());
      pe.barrier();
      pe.run_together(kStreams, kGroupThreads<Block>, make_streams, pe.context(), streams.data());
      drawn.expect(streams.read(), rooms.read(), numbers.read());
    });
  });
}

}  // namespace
}  // namespace chime::tests
