// nic_posters: what a post costs on one GPU while a NIC answers and other threads post by the same
// queue. The NIC is a block of the same kernel: it sees doorbells in pinned memory of the host,
// reads the doorbell record, and writes completions to the GPU's memory. It moves no data.
#include <chime/chime.h>

#include "device_memory.hpp"
#include "measure.hpp"
#include "null_nic.hpp"
#include "options.hpp"
#include "sweep.hpp"
#include "table.hpp"

namespace {

namespace exec = chime::exec;
namespace abi = chime::abi;
using namespace chime::perf;

constexpr int kPeer = 1;
constexpr std::uint64_t kMostNs = 10'000'000'000;  // then the NIC gives up, and so do the posters

// The data that the blocks of a launch share, in the GPU's memory.
struct Meeting {
  unsigned arrived, ended;
  std::uint64_t slowest;  // ns
};

// The memory that the NIC and the posters share.
struct Bell {
  std::uint64_t* doorbell;
  std::uint32_t* record;
};

template <class T>
CHIME_DEVICE T look_at(const T* word) {
  return exec::ld<exec::Order::kAcquire, exec::Scope::kSystem>(word);
}

CHIME_DEVICE void count(unsigned* word) {
  exec::red_add<exec::Order::kRelease, exec::Scope::kSystem>(word, 1U);
}

// Completes everything that the record says has been posted.
CHIME_DEVICE void answer(NullNic& nic, const Bell& bell) {
  const std::uint32_t posted = abi::be32(look_at(bell.record));
  const std::uint32_t tail = abi::be16(static_cast<std::uint16_t>(posted - 1));
  exec::st<exec::Order::kRelease, exec::Scope::kSystem>(
      reinterpret_cast<std::uint32_t*>(nic.cqe + abi::kCqeTailWord), tail);
}

CHIME_DEVICE void be_the_nic(NullNic& nic, const Bell& bell, const Meeting& meeting,
                             unsigned posters) {
  const std::uint64_t start = exec::clock_ns();
  std::uint64_t answered = 0;
  while (look_at(&meeting.ended) != posters) {
    const std::uint64_t rung = look_at(bell.doorbell);
    if (rung != answered) {
      answered = rung;
      answer(nic, bell);
    }
    if (exec::clock_ns() - start > kMostNs) {
      nic.abort.status = CHIMEX_ERR_TIMEOUT;
      exec::st<exec::Order::kRelease, exec::Scope::kSystem>(&nic.abort.raised, 2U);  // published
      return;
    }
    exec::pause();
  }
}

// Block 0 is the NIC; of the others the first thread posts.
CHIME_KERNEL void post(chime::Context ctx, NullNic* nic, Bell bell, Meeting* meeting, int posts,
                       bool quiets_each) {
  if (exec::thread_rank() != 0) return;
  const unsigned posters = exec::grid_blocks() - 1;
  if (exec::block_rank() == 0) return be_the_nic(*nic, bell, *meeting, posters);
  auto* const word = reinterpret_cast<std::uint64_t*>(nic->target());
  auto* const source = reinterpret_cast<std::uint64_t*>(nic->source());
  count(&meeting->arrived);
  while (look_at(&meeting->arrived) != posters) exec::pause();
  const std::uint64_t start = exec::clock_ns();
  for (int i = 0; i < posts; ++i) {
    chime::put_nbi(ctx, chime::Thread{}, word, source, 1, kPeer);
    if (quiets_each) chime::quiet(ctx);
  }
  chime::quiet(ctx);
  exec::atomic_max(&meeting->slowest, exec::clock_ns() - start);
  count(&meeting->ended);
}

template <exec::Scope kScope>
CHIME_KERNEL void store_and_fence(std::uint64_t* word, int iterations, std::uint64_t* ns) {
  const std::uint64_t start = exec::clock_ns();
  for (int i = 0; i < iterations; ++i) {
    exec::st<exec::Order::kRelaxed, kScope>(word, static_cast<std::uint64_t>(i));
    exec::fence<exec::Order::kAcqRel, kScope>();
  }
  *ns = exec::clock_ns() - start;
}

// ---- The host --------------------------------------------------------------------------------

constexpr std::size_t kPage = 4096;
constexpr std::size_t kRingBytes = std::size_t{NullNic::kDepth} * abi::kWqebbBytes;

class Posters {
 public:
  // Nanoseconds of one of all posts, by `posters` blocks with `posts` each.
  double ns(bool ring_on_host, unsigned posters, int posts, bool quiets_each) {
    const Bell bell = prepare(ring_on_host);
    exec::LaunchConfig config;
    config.grid = posters + 1;
    config.block = 32;
    config.cooperative = true;  // they wait for each other
    Meeting seen{};
    exec::copy(meeting_, &seen, sizeof seen);
    if (exec::launch(config, post, context_of(nic_), nic_, bell, meeting_, posts, quiets_each) !=
            CHIMEX_OK ||
        exec::stream_synchronize(config.stream) != CHIMEX_OK ||
        exec::copy(&seen, meeting_, sizeof seen) != CHIMEX_OK)
      end_with("the kernel could not run");
    if (seen.ended != posters) end_with("the NIC waited for posters in vain");
    return static_cast<double>(seen.slowest) / posts / posters;
  }

 private:
  // A new NIC with its doorbell on the host, and if requested its ring and record, too.
  Bell prepare(bool ring_on_host) {
    make_null_nic(nic_);
    abi::Channel queue;
    exec::copy(&queue, &nic_->queues[1], sizeof queue);
    queue.nic.bell.doorbell = doorbell_;
    *doorbell_ = 0;
    if (ring_on_host) {
      queue.head.ring = ring_;
      queue.nic.bell.record = record_;
      *record_ = 0;
    }
    exec::copy(&nic_->queues[1], &queue, sizeof queue);
    return {doorbell_, ring_on_host ? record_ : &nic_->record};
  }

  NullNic* const nic_ = on_the_gpu<NullNic>();
  Meeting* const meeting_ = on_the_gpu<Meeting>();
  std::uint64_t* const doorbell_ = on_the_host<std::uint64_t>(kPage);
  std::uint32_t* const record_ = on_the_host<std::uint32_t>(kPage);
  std::byte* const ring_ = on_the_host<std::byte>(kRingBytes);
};

template <exec::Scope kScope>
double fence_ns(const Options& options, std::uint64_t* word) {
  const int iterations = options.iterations(10'000);
  Best best;
  for (int r = 0; r < options.repeats; ++r)
    best.take(kernel_us({}, store_and_fence<kScope>, word, iterations) * 1000 / iterations);
  return best.value();
}

// The numbers of posters that share one queue: no more than run at the same time beside the NIC.
std::vector<std::size_t> numbers_of_posters(const Options& options) {
  const std::size_t most = most_resident_blocks();
  std::vector<std::size_t> numbers{1, 2, 3, 4, 8, 16, 32, 66};
  if (options.quick) numbers.resize(3);
  std::erase_if(numbers, [&](std::size_t posters) { return posters + 1 > most; });
  return numbers;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  parse(options, argc, argv, "Cost of a post while a NIC answers and others post", false);
  const int posts = options.iterations(2000);
  Table table("posts to one queue", "Posters",
              {"GPU ring (ns)", "and quiet (ns)", "host ring (ns)", "and quiet (ns)",
               "GPU fence (ns)", "system (ns)"},
              {"a put of 8 bytes by the first thread of each block, all blocks by one queue: the "
               "time of all by the number of all posts",
               "and quiet: each waits for its completion. The NIC is a block, its doorbell pinned "
               "memory of the host, its completions the GPU's",
               "fence: a store to the GPU's memory and a fence, of one thread"});
  Posters job;
  auto* const word = on_the_gpu<std::uint64_t>();
  sweep(table, options, true, numbers_of_posters(options),
        [&](const Options& chosen, std::size_t posters) {
          std::vector<double> figures;
          for (const bool ring_on_host : {false, true}) {
            for (const bool quiets_each : {false, true}) {
              Best best;
              for (int r = 0; r < chosen.repeats; ++r)
                best.take(job.ns(ring_on_host, static_cast<unsigned>(posters), posts, quiets_each));
              figures.push_back(best.value());
            }
          }
          figures.push_back(fence_ns<exec::Scope::kDevice>(chosen, word));
          figures.push_back(fence_ns<exec::Scope::kSystem>(chosen, word));
          return figures;
        });
  return table.write_json(options.json) ? 0 : 1;
}
