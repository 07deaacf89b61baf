// When a `dst` may be used again, by calls in a loop (chime_device.cuh). The last member reads its
// `dst` so late that the others are as far ahead as the calls let them: it waits for what shows
// that, and for no time. So each run has the same schedule.
//
// Not by PEs that are threads: where the rule is broken, members race.
#include "chime/device/coll/move.cuh"
#include "chime/device/coll/reduce.cuh"
#include "chime/device/coll/scan.cuh"
#include "chime/device/coll/strided.cuh"
#include "chime/device/coll/team.cuh"
#include "chime/device/coll/uneven.cuh"
#include "collectives/collectives.hpp"
#include "support/schedule.hpp"

namespace chime::tests {
namespace {

constexpr unsigned kWords = 40;  // elements of a member for one: more than a slot's words have
constexpr std::size_t kBytes = kWords * sizeof(std::uint64_t);
constexpr std::uint64_t kMostNs = 20'000'000'000;  // for what must come
constexpr std::uint64_t kHoldNs = 5'000'000;       // for what must not come

enum class Kind {
  kBroadcast,
  kFcollect,
  kAlltoall,
  kCollect,
  kAlltoalls,
  kReduce,
  kReducescatter,
  kInscan
};
constexpr const char* kNames[] = {"broadcast", "fcollect", "alltoall",      "collect",
                                  "alltoalls", "reduce",   "reducescatter", "inscan"};
// Its first message comes to `dst` at once, and not only when all have begun the call.
CHIME_DEVICE bool comes_at_once(Kind kind) {
  return kind == Kind::kBroadcast || kind == Kind::kFcollect || kind == Kind::kAlltoall;
}

struct Loop {
  Kind kind;
  unsigned rounds;
  unsigned places;  // `dst` in turns
  bool meets;       // a sync is between reading a `dst` and the next call
  std::uint64_t* src;
  std::uint64_t* dst[2];
  std::uint64_t* begun;  // on the last member: the rounds that PE 0 has begun
};
struct Seen {
  unsigned wrong;        // elements, and calls that failed
  unsigned overwritten;  // 1: the first `dst` was, before the member called again
  unsigned overtaken;    // rounds in which PE 0 was further ahead than calls may let it be
  unsigned behind;       // or did not get as far as they let it
};

CHIME_DEVICE std::uint64_t value(unsigned round, unsigned pe, unsigned i) {
  return std::uint64_t{round} * 1000003 + pe * 1009 + i + 1;
}

CHIME_DEVICE unsigned elements_of_result(Kind kind, unsigned n) {
  const bool is_one = kind == Kind::kBroadcast || kind >= Kind::kReduce;
  return is_one ? kWords : kWords * n;
}
CHIME_DEVICE std::uint64_t result(Kind kind, unsigned round, unsigned me, unsigned n, unsigned i) {
  if (kind == Kind::kBroadcast) return value(round, 0, i);
  if (kind == Kind::kFcollect || kind == Kind::kCollect)
    return value(round, i / kWords, i % kWords);
  if (kind == Kind::kAlltoall || kind == Kind::kAlltoalls)
    return value(round, i / kWords, me * kWords + i % kWords);
  std::uint64_t sum = 0;
  for (unsigned pe = 0; pe < (kind == Kind::kInscan ? me + 1 : n); ++pe)
    sum += value(round, pe, kind == Kind::kReducescatter ? me * kWords + i : i);
  return sum;
}

CHIME_DEVICE int make(const Context& ctx, Kind kind, std::uint64_t* dst, const std::uint64_t* src) {
  const Thread g;
  const chime_team_t team = CHIME_TEAM_WORLD;
  switch (kind) {
    case Kind::kBroadcast:
      return broadcastmem(ctx, g, team, dst, src, kBytes, 0);
    case Kind::kFcollect:
      return fcollectmem(ctx, g, team, dst, src, kBytes);
    case Kind::kAlltoall:
      return alltoallmem(ctx, g, team, dst, src, kBytes);
    case Kind::kCollect:
      return collectmem(ctx, g, team, dst, src, kBytes);
    case Kind::kAlltoalls:
      return alltoallsmem(ctx, g, team, dst, src, 1, 1, kWords, sizeof(*dst));
    case Kind::kReduce:
      return reduce<Sum>(ctx, g, team, dst, src, kWords);
    case Kind::kReducescatter:
      return reducescatter<Sum>(ctx, g, team, dst, src, kWords);
    default:
      return inscan<Sum>(ctx, g, team, dst, src, kWords);
  }
}

// Whether it holds within so long.
template <class Condition>
CHIME_DEVICE bool await(std::uint64_t most_ns, Condition condition) {
  for (const std::uint64_t begin = exec::clock_ns(); !condition();) {
    if (exec::clock_ns() - begin >= most_ns) return false;
    exec::pause();
  }
  return true;
}

CHIME_DEVICE unsigned count_wrong(const Loop& loop, unsigned round, unsigned me, unsigned n) {
  const std::uint64_t* const dst = loop.dst[round % loop.places];
  unsigned wrong = 0;
  for (unsigned i = 0; i < elements_of_result(loop.kind, n); ++i)
    wrong += order::load_data(dst + i) != result(loop.kind, round, me, n, i);
  return wrong;
}

// The last member has returned from a call: it waits until PE 0 is in the next one, whose data have
// come if they may, and then reads.
CHIME_DEVICE void read_late(const Loop& loop, unsigned round, unsigned me, unsigned n, Seen& seen) {
  const std::uint64_t may_begin = loop.meets ? round + 1 : round + 2;
  const auto has_begun = [&](std::uint64_t rounds) { return order::observe(loop.begun) >= rounds; };
  bool is_ahead = await(kMostNs, [&] { return has_begun(may_begin); });
  if (!loop.meets && comes_at_once(loop.kind)) {
    const std::uint64_t* const first = loop.dst[(round + 1) % loop.places];
    const std::uint64_t next = result(loop.kind, round + 1, me, n, 0);
    is_ahead = await(kMostNs, [&] { return order::observe(first) == next; }) && is_ahead;
  }
  if (!is_ahead) ++seen.behind;
  if (await(kHoldNs, [&] { return has_begun(may_begin + 1); })) ++seen.overtaken;
  seen.wrong += count_wrong(loop, round, me, n);
}

// It calls no more until the call that is to use its first `dst` again has written there.
CHIME_DEVICE void await_overwriting(const Loop& loop, unsigned me, unsigned n, Seen& seen) {
  const std::uint64_t again = result(loop.kind, loop.places, me, n, 0);
  seen.overwritten = await(kMostNs, [&] { return order::observe(loop.dst[0]) == again; });
}

CHIME_KERNEL void call_in_a_loop(CHIME_GRID_CONSTANT const Context ctx, Loop loop, bool is_obeyed,
                                 Seen* seen) {
  const auto me = static_cast<unsigned>(ctx.pe.my_pe), n = static_cast<unsigned>(ctx.pe.n_pes);
  for (unsigned round = 0; round < loop.rounds; ++round) {
    for (unsigned i = 0; i < kWords * n; ++i) loop.src[i] = value(round, me, i);
    if (me == 0)
      signal_op(ctx, {loop.begun, std::uint64_t{round} + 1, SignalOp::kSet},
                static_cast<int>(n) - 1);
    const int status = make(ctx, loop.kind, loop.dst[round % loop.places], loop.src);
    seen->wrong += status != CHIMEX_OK;
    if (me == n - 1 && round + 1 < loop.rounds && is_obeyed) read_late(loop, round, me, n, *seen);
    if (me == n - 1 && round == 0 && !is_obeyed) await_overwriting(loop, me, n, *seen);
    if (loop.meets) seen->wrong += team_sync(ctx, Thread{}, CHIME_TEAM_WORLD) != CHIMEX_OK;
  }
  seen->wrong += count_wrong(loop, loop.rounds - 1, me, n);
}

// `use(kind)` of what is called, on this PE; `expect(seen)` on the one that reads late.
template <class Expect>
void for_each_kind(Pe& pe, std::initializer_list<Kind> kinds, Loop use, bool is_obeyed,
                   Expect expect) {
  const auto n = static_cast<std::size_t>(pe.size());
  if (n == 1) return;
  Symmetric<std::uint64_t> src(kWords * n), first(kWords * n), second(kWords * n), begun(1);
  Private<Seen> seen(1);
  for_each_memory_mode(pe, [&] {
    for (const Kind kind : kinds) {
      SCOPED_TRACE(kNames[static_cast<int>(kind)]);
      Loop loop = use;
      loop.kind = kind;
      loop.src = src.data(), loop.begun = begun.data();
      loop.dst[0] = first.data(), loop.dst[1] = second.data();
      begun.fill(0), first.fill(0), second.fill(0);
      seen.write(std::vector<Seen>(1));
      pe.barrier();
      pe.run(1, 1, call_in_a_loop, pe.context(), loop, is_obeyed, seen.data());
      const Seen got = seen.read()[0];
      EXPECT_EQ(0u, got.wrong);
      if (pe.rank() == pe.size() - 1) expect(got);
      pe.barrier();
    }
  });
}
void expect_as_promised(Pe& pe, std::initializer_list<Kind> kinds, const Loop& use) {
  for_each_kind(pe, kinds, use, true, [](const Seen& seen) {
    EXPECT_EQ(0u, seen.behind) << "rounds: the others did not get ahead";
    EXPECT_EQ(0u, seen.overtaken) << "rounds: they were in the call after the next one";
  });
}
void expect_overwritten(Pe& pe, std::initializer_list<Kind> kinds, const Loop& use) {
  for_each_kind(pe, kinds, use, false, [](const Seen& seen) {
    EXPECT_EQ(1u, seen.overwritten) << "nothing came to the dst that the member still reads";
  });
}

constexpr unsigned kRounds = 6;
using enum Kind;

// So one `dst` does not do.
IN_EVERY_WORLD(Dst, IsOverwrittenBeforeItsReaderCallsAgain) {
  world.spawn(2, [](Pe& pe) {
    expect_overwritten(pe, {kBroadcast, kFcollect, kAlltoall}, {.rounds = 2, .places = 1});
  });
}
IN_EVERY_WORLD(Dst, OfTwoInTurnsIsItsReadersUntilItCallsAgain) {
  world.spawn(2, [](Pe& pe) {
    expect_as_promised(pe, {kFcollect, kAlltoall, kCollect, kAlltoalls, kReduce, kReducescatter},
                       {.rounds = kRounds, .places = 2});
  });
}
// A root hears from nobody, so it may be two calls ahead.
IN_EVERY_WORLD(Dst, OfTwoBroadcastsInTurnsIsOverwrittenAllTheSame) {
  world.spawn(2, [](Pe& pe) { expect_overwritten(pe, {kBroadcast}, {.rounds = 3, .places = 2}); });
}
IN_EVERY_WORLD(Dst, IsItsReadersUntilItHasMetTheOthers) {
  world.spawn(2, [](Pe& pe) {
    expect_as_promised(
        pe,
        {kBroadcast, kFcollect, kAlltoall, kCollect, kAlltoalls, kReduce, kReducescatter, kInscan},
        {.rounds = kRounds, .places = 1, .meets = true});
  });
}

}  // namespace
}  // namespace chime::tests
