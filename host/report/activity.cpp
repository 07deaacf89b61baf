#include "host/report/activity.hpp"

#include <fmt/format.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <vector>

#include "chime/device/simt/launch/host_calls.hpp"
#include "chime/device/simt/launch/running_kernels.hpp"
#include "chime/device/simt/launch/unfinished_work.hpp"
#include "host/errors/log.hpp"
#include "host/errors/operation_name.hpp"
#include "host/pe/pe.hpp"
#include "host/report/async_error.hpp"
#include "host/settings/spelling.hpp"

namespace chime::host {
namespace {

using simt::Activity;

constexpr std::size_t kMostKernels = 8;

std::string count(std::uint64_t n, const char* thing) {
  return fmt::format("{} {}{}", n, thing, n == 1 ? "" : "s");
}

std::string host_sentence() {
  std::string names;
  for (const char* name : simt::host_calls()) {
    const std::string call = name;
    const bool is_whole =
        call.starts_with("chime") || call.starts_with("nvshmem") || call.starts_with("exec::");
    names += fmt::format("{}a host thread was in {}", names.empty() ? "" : ", ",
                         spoken(is_whole ? call : "chime_" + call));
  }
  return names.empty() ? "no host thread was in a call of Chime" : names;
}

// With its allocation in the heap of a PE of this process, if it lies there.
std::string place(const void* address) {
  std::string found = fmt::format("{}", address);
  for_each_pe([&](PeSlot& slot) {
    const DeviceStage* const device = built_device(slot);
    if (device && device->heap.offset_of(address)) found = device->heap.name_of(address);
  });
  return found;
}

std::string at_place(const exec::uint3& place) {
  return fmt::format("({},{},{})", place.x, place.y, place.z);
}

// A word of `bytes`, as a number with a sign.
std::int64_t number(std::uint64_t word, std::uint32_t bytes) {
  const int unused_bits = 64 - 8 * static_cast<int>(bytes);
  return static_cast<std::int64_t>(word << unused_bits) >> unused_bits;
}

// The present value of the word of the program that a wait is for. Read by the kernel: the wait may
// have ended, and its word may be gone.
std::string present_value(const simt::LongWait& wait) {
  if (wait.bytes == 0) return "";
  std::uint64_t word = 0;
  const iovec to = {&word, wait.bytes};
  const iovec from = {const_cast<void*>(wait.address), wait.bytes};
  if (process_vm_readv(getpid(), &to, 1, &from, 1, 0) != wait.bytes) return "";
  return fmt::format(", and it is {}", number(word, wait.bytes));
}

// "== 4" for a word of the program; for any other word the number alone.
std::string expectation(const simt::LongWait& wait) {
  constexpr const char* kSigns[] = {"==", "!=", ">", "<=", "<", ">="};  // by the numbers of Cmp
  if (wait.bytes == 0) return std::to_string(number(wait.expected, sizeof wait.expected));
  return fmt::format("{} {}", kSigns[wait.comparison], number(wait.expected, wait.bytes));
}

std::string wait_detail(const simt::LongWait& wait) {
  const std::string partner = wait.pe >= 0 ? fmt::format(", waits for PE {}", wait.pe) : "";
  const std::string where = wait.address ? ", at " + place(wait.address) : "";
  return fmt::format("{}{} (awaits {}{})", partner, where, expectation(wait), present_value(wait));
}

std::string verb_phrase(const Activity& activity) {
  const bool is_one = activity.threads == 1;
  switch (activity.kind) {
    case Activity::Kind::kMeets:
      return fmt::format("wait{} at {}", is_one ? "s" : "", activity.at);
    case Activity::Kind::kWaits:
      return fmt::format("{} in {}", is_one ? "is" : "are",
                         spoken(operation_name(static_cast<Operation>(activity.wait.kind))));
    case Activity::Kind::kRuns:
      return is_one ? "computes or polls" : "compute or poll";
    case Activity::Kind::kNotBegun:
      return is_one ? "has not begun" : "have not begun";
  }
  return "";
}

// More of the thread that stands for the others.
std::string detail_of(const Activity& activity) {
  if (activity.kind == Activity::Kind::kWaits) return wait_detail(activity.wait);
  return activity.kind == Activity::Kind::kRuns && activity.has_turn ? ", which has the turn" : "";
}

// "63 threads wait at sync_block: thread (1,0,0) of block (0,0,0), for one".
std::string sentence(const Activity& activity) {
  return fmt::format("{} {}: thread {} of block {}{}{}", count(activity.threads, "thread"),
                     verb_phrase(activity), at_place(activity.thread), at_place(activity.block),
                     activity.threads > 1 ? ", for one" : "", detail_of(activity));
}

std::string paragraph(const simt::RunningKernel& kernel) {
  const std::uint64_t threads = std::uint64_t{kernel.block.x} * kernel.block.y * kernel.block.z;
  std::string text = fmt::format(
      "\n  kernel {} ({} of {}) ran for {:.3g} s, {} ended:", kernel.name,
      count(kernel.blocks, "block"), count(threads, "thread"),
      static_cast<double>(kernel.running_ns) * 1e-9,
      kernel.blocks_ended == 0 ? "no block had" : count(kernel.blocks_ended, "block") + " had");
  for (const Activity& activity : kernel.activities) text += "\n    " + sentence(activity);
  return text;
}

std::string kernels_sentence(int pe, const std::vector<simt::RunningKernel>& kernels) {
  if (!kernels.empty()) return count(kernels.size(), "kernel") + " ran";
  const std::size_t pieces = simt::unfinished_work_of(pe);
  if (pieces == 0) return "no kernel ran";
  return fmt::format("no kernel ran, and {} of work on its streams had not ended",
                     count(pieces, "piece"));
}

// The activity of Chime's own threads for the PE, a line each.
std::string transports_paragraph(int pe) {
  std::string text;
  for_each_pe([&](PeSlot& slot) {
    const DeviceStage* const device = slot.pe == pe ? built_device(slot) : nullptr;
    if (!device) return;
    for (const auto& transport : device->transports)
      if (const std::string doing = transport->activity(); !doing.empty()) text += "\n  " + doing;
  });
  return text;
}

}  // namespace

void say_activity(int pe) {
  const std::vector<simt::RunningKernel> kernels = simt::running_kernels();
  std::string text =
      fmt::format("when it was asked, {}; {}", host_sentence(), kernels_sentence(pe, kernels));
  for (std::size_t i = 0; i < std::min(kernels.size(), kMostKernels); ++i)
    text += paragraph(kernels[i]);
  log_line(LogLevel::kError, pe, text + transports_paragraph(pe));
}

}  // namespace chime::host
