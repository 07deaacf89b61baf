#include "chime/device/simt/launch/running_kernels.hpp"

#include <algorithm>

#include "chime/device/simt/exec/exec_threads.hpp"
#include "chime/device/simt/threads/block.hpp"
#include "chime/device/simt/threads/grid.hpp"
#include "chime/device/simt/threads/worker.hpp"

namespace chime::simt {

namespace {

using Kind = Activity::Kind;

Activity activity_of(const Block& block, const Thread& thread) {
  const bool has_turn = block.running() == &thread;
  Activity activity{.kind = Kind::kRuns,
                    .wait = thread.long_wait,
                    .threads = 1,
                    .thread = thread.thread_idx,
                    .block = block.block_idx,
                    .has_turn = has_turn};
  if (block.waits(thread.rank)) {
    activity.kind = Kind::kMeets;
    activity.at = thread.waits_at;
  } else if (has_turn && block.waits_for_grid()) {
    activity.kind = Kind::kMeets;
    activity.at = block.barrier(0).meeting.kind;
  } else if (activity.wait.kind) {
    activity.kind = Kind::kWaits;
  } else if (!thread.fiber.sp) {
    activity.kind = has_turn ? Kind::kRuns : Kind::kNotBegun;
  }
  return activity;
}

bool are_alike(const Activity& a, const Activity& b) {
  return a.kind == b.kind && a.at == b.at && (a.kind != Kind::kWaits || a.wait.kind == b.wait.kind);
}

void add(std::vector<Activity>& all, const Activity& one) {
  const auto found = std::find_if(all.begin(), all.end(),
                                  [&](const Activity& other) { return are_alike(one, other); });
  if (found == all.end()) return all.push_back(one);
  const std::uint64_t threads = found->threads + one.threads;
  if (one.has_turn && !found->has_turn) *found = one;
  found->threads = threads;
}

RunningKernel describe(const Launch& launch) {
  return {.launch = &launch,
          .name = launch.kernel_name,
          .pe = launch.pe,
          .grid = launch.config.grid,
          .block = launch.config.block,
          .blocks = launch.blocks,
          .blocks_ended = launch.blocks - launch.blocks_left.load(std::memory_order_relaxed),
          .running_ns = exec::clock_ns() - launch.start_ns,
          .activities = {}};
}

}  // namespace

std::vector<RunningKernel> running_kernels() {
  const TsanIgnores ignores;
  std::vector<RunningKernel> kernels;
  for_each_resident_block([&](const Block& block) {
    auto kernel = std::find_if(kernels.begin(), kernels.end(), [&](const RunningKernel& other) {
      return other.launch == block.launch();
    });
    if (kernel == kernels.end()) kernel = kernels.insert(kernel, describe(*block.launch()));
    for (unsigned rank = 0; rank < block.threads; ++rank)
      if (block.lives(rank)) add(kernel->activities, activity_of(block, block.thread(rank)));
  });
  return kernels;
}

}  // namespace chime::simt
