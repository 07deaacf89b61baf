// One PE of mixed traffic: its kernel, its host thread, and the phases in which they send.
#pragma once

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <string>

#include "host_source.hpp"
#include "onlooker.hpp"
#include "reader.cuh"
#include "senders.cuh"

namespace chime::perf {

struct Settings {
  double seconds = 4;  // of both; kernel and host alone take half of it each
  int rounds = 8;      // in which these take turns
  unsigned blocks = 3;
  Fault fault = Fault::kNone;
  std::uint64_t seed = 1;
};

inline constexpr unsigned kReaderBlock = 0, kProbeBlock = 1, kGetBlock = 2, kFirstFlood = 3;

CHIME_KERNEL void send_and_read(Context ctx, Board board, State* state, Phase phase) {
  const unsigned block = exec::block_rank(), thread = exec::thread_rank();
  exec::atomic_max<exec::Order::kRelaxed, exec::Scope::kDevice>(&state->start_ns, exec::clock_ns());
  exec::sync_grid();            // all blocks run: none starves because it did not begin
  if (phase.mark == 0) return;  // no phase
  const Sender sender{ctx, board, *state, phase,
                      exec::ld<exec::Order::kRelaxed, exec::Scope::kDevice>(&state->start_ns)};
  if (block == kReaderBlock) {
    Reader reader(ctx, board, thread < phase.blocks ? thread : kMostBlocks,
                  state->incoming[thread]);
    if (!reader.read_phase(phase.mark, sender.start_ns + phase.ns + kGiveUp_ns))
      exec::atomic_add<exec::Order::kRelaxed, exec::Scope::kDevice>(&state->given_up,
                                                                    std::uint64_t{1});
    return;
  }
  if (thread != 0) return;
  if (block == kProbeBlock) return probe(sender);
  if (block == kGetBlock) return flood_gets(sender);
  flood(sender, block - kFirstFlood);
}

inline void must(exec::Status status, const char* what) {
  if (status == CHIMEX_OK) return;
  throw std::runtime_error(std::string(what) + ": " + exec::last_error());
}

// Zeros, until the job ends. Collective.
template <class T>
T* symmetric(std::size_t count) {
  void* const found = chime_calloc(count, sizeof(T));
  if (found == nullptr)
    throw std::runtime_error(std::string("symmetric memory: ") + chimex_last_error());
  return static_cast<T*>(found);
}

// What one PE's senders did, in all phases of a kind.
struct Sent {
  Progress floods[kMostBlocks], gets, probe, host, onlooker;

  void add(const Sent& later) {
    for (unsigned i = 0; i < kMostBlocks; ++i) floods[i].add(later.floods[i]);
    gets.add(later.gets);
    probe.add(later.probe);
    host.add(later.host);
    onlooker.add(later.onlooker);
  }
};

// What one PE knows at the end of a try.
struct Result {
  Sent kernel_alone, host_alone, both;
  std::uint64_t missing, twice, unwhole, late, wrong_gets, miscounts, sent, given_up;
};

class Job {
 public:
  explicit Job(const Settings& settings)
      : settings_(settings), board_(symmetric<std::uint64_t>(Board::words())) {
    must(exec::stream_create(&of_kernel_), "no stream");
    must(exec::stream_create(&of_host_), "no stream");
    host_.emplace(board_, kMostBlocks, of_host_);
    void* state = nullptr;
    must(exec::device_malloc(&state, sizeof(State)), "no memory on the device");
    state_ = static_cast<State*>(state);
    const State zero{};
    must(exec::copy(state_, &zero, sizeof zero), "no copy to the device");
    set_page(false);
  }
  ~Job() {
    exec::stream_destroy(of_kernel_);
    exec::stream_destroy(of_host_);
    exec::device_free(state_);
  }
  Job(const Job&) = delete;

  // A kernel may be compiled when it is first launched, and connections are made at a first touch.
  // That is no traffic, and peers' waits shall not count it.
  void warm_up() {
    launch(Phase{});
    must(exec::stream_synchronize(of_kernel_), "the kernel could not run");
    run(0.1 * settings_.seconds, true, true, Fault::kNone);
  }

  // The three kinds of phases take turns, because other work on the machine comes and goes.
  Result measure() {
    Result result{};
    const double seconds = settings_.seconds / settings_.rounds;
    for (int round = 0; round < settings_.rounds; ++round) {
      result.kernel_alone.add(run(seconds / 2, true, false, Fault::kNone));
      result.host_alone.add(run(seconds / 2, false, true, Fault::kNone));
      const Fault fault =
          is_of_each_round(settings_.fault) || round == 0 ? settings_.fault : Fault::kNone;
      set_page(fault == Fault::kMisread);
      result.both.add(run(seconds, true, true, fault));
      set_page(false);
    }
    count(result);
    return result;
  }

 private:
  // Collective: no peer gets a page that is being written.
  void set_page(bool is_wrong) {
    std::uint64_t words[kPageWords];
    for (std::size_t i = 0; i < kPageWords; ++i) words[i] = page_word(chime_my_pe(), i);
    if (is_wrong) words[settings_.seed % kPageWords] ^= 1;
    must(exec::copy(board_.page(), words, sizeof words), "no copy to the device");
    chime_barrier_all();
  }

  void launch(const Phase& phase) {
    const exec::LaunchConfig config{.grid = exec::dim3(kFirstFlood + settings_.blocks),
                                    .block = exec::dim3(settings_.blocks + 1),
                                    .stream = of_kernel_};
    must(collective_launch(config, send_and_read, context(), board_, state_, phase),
         "the kernel could not be launched");
  }

  Sent run(double seconds, bool kernel_sends, bool host_sends, Fault fault) {
    const Phase phase{.ns = static_cast<std::uint64_t>(seconds * 1e9),
                      .ns_of_try = static_cast<std::uint64_t>(settings_.seconds * 1e9),
                      .mark = ++phases_,
                      .blocks = settings_.blocks,
                      .kernel_sends = kernel_sends,
                      .host_sends = host_sends,
                      .fault = fault,
                      .seed = settings_.seed};
    chime_barrier_all();
    launch(phase);
    Sent sent{};
    Onlooker onlooker;
    given_up_ += !host_->flood(phase, sent.host);
    must(exec::stream_synchronize(of_kernel_), "the kernel could not run");
    sent.onlooker = onlooker.end();
    must(exec::copy(&seen_, state_, sizeof seen_), "no copy to the host");
    chime_barrier_all();
    std::copy(seen_.floods, seen_.floods + kMostBlocks, sent.floods);
    sent.gets = seen_.gets;
    sent.probe = seen_.probe;
    return sent;
  }

  void count(Result& result) const {
    for (unsigned i = 0; i <= settings_.blocks; ++i) {
      const Incoming& in = seen_.incoming[i];
      result.missing += in.missing + (in.present > in.sum ? in.present - in.sum : 0);
      result.twice += in.sum > in.present ? in.sum - in.present : 0;
      result.unwhole += in.unwhole;
      result.late += in.late;
    }
    for (unsigned i = 0; i < settings_.blocks; ++i) result.sent += seen_.sent[i];
    result.sent += host_->sent();
    result.wrong_gets = seen_.wrong_gets;
    result.miscounts = seen_.miscounts;
    result.given_up = seen_.given_up + given_up_;
  }

  const Settings settings_;
  const Board board_;
  exec::Stream of_kernel_{}, of_host_{};
  std::optional<HostSource> host_;
  State* state_ = nullptr;  // on the device
  State seen_{};
  std::uint64_t phases_ = 0, given_up_ = 0;
};

}  // namespace chime::perf
