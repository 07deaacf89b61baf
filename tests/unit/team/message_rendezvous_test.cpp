// Threads that make collective calls by messages, which are late and overtake each other between
// pairs of PEs.
#include "host/collective/message_rendezvous.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <barrier>
#include <condition_variable>
#include <deque>
#include <map>
#include <random>
#include <thread>

#include "host/errors/abort.hpp"

namespace chime::host {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

constexpr std::uint64_t kLong = 60'000'000'000;
constexpr std::uint64_t kShort = 300'000'000;

CollectiveCall call_of(std::uint64_t bytes) { return {CollectiveCall::Kind::kMalloc, bytes}; }

// Carries the messages of a job's PEs within this process: a thread for each PE takes the next
// message of a random pair.
class PostOffice {
 public:
  explicit PostOffice(int n_pes) : inboxes_(static_cast<std::size_t>(n_pes)) {}

  class Messenger final : public host::Messenger {
   public:
    Messenger(PostOffice& office, int pe) : office_(office), pe_(pe) {}
    ~Messenger() override { office_.close(pe_); }
    int my_pe() const override { return pe_; }
    int n_pes() const override { return static_cast<int>(office_.inboxes_.size()); }
    void start(Listener& listener) override { office_.open(pe_, listener); }
    void send(int pe, std::span<const std::byte> message) override {
      office_.take(pe_, pe, message);
    }

   private:
    PostOffice& office_;
    int pe_;
  };

  // As if the process of `pe` had been stopped: messages to it wait.
  void stop(int pe) {
    const std::lock_guard lock(inbox(pe).mutex);
    inbox(pe).is_stopped = true;
  }

  // As if the process of `pe` had ended: no message reaches or leaves it; all others learn that.
  void kill(int pe) {
    for (std::size_t other = 0; other < inboxes_.size(); ++other) {
      const std::lock_guard lock(inboxes_[other].mutex);
      if (static_cast<int>(other) != pe) inboxes_[other].lost.push_back(pe);
      if (static_cast<int>(other) == pe) inboxes_[other].is_dead = true;
      inboxes_[other].came.notify_all();
    }
  }

 private:
  struct Inbox {
    std::mutex mutex;
    std::condition_variable came;
    std::map<int, std::deque<net::Bytes>> messages;  // by sender
    std::deque<int> lost;
    bool is_dead = false, is_stopped = false, must_end = false;
    std::thread thread;
  };

  Inbox& inbox(int pe) { return inboxes_[static_cast<std::size_t>(pe)]; }

  void open(int pe, Messenger::Listener& listener) {
    inbox(pe).thread = std::thread([this, pe, &listener] { serve(pe, listener); });
  }

  void close(int pe) {
    Inbox& mine = inbox(pe);
    {
      const std::lock_guard lock(mine.mutex);
      mine.must_end = true;
      mine.came.notify_all();
    }
    if (mine.thread.joinable()) mine.thread.join();
  }

  void take(int from, int to, std::span<const std::byte> message) {
    {
      const std::lock_guard lock(inbox(from).mutex);
      if (inbox(from).is_dead) return;
    }
    const std::lock_guard lock(inbox(to).mutex);
    inbox(to).messages[from].emplace_back(message.begin(), message.end());
    inbox(to).came.notify_all();
  }

  void serve(int pe, Messenger::Listener& listener) {
    Inbox& mine = inbox(pe);
    std::mt19937 random(static_cast<unsigned>(pe));
    for (;;) {
      std::unique_lock lock(mine.mutex);
      mine.came.wait(lock, [&] {
        const bool may_hear = !mine.is_dead && !mine.is_stopped;
        return mine.must_end || (may_hear && (!mine.messages.empty() || !mine.lost.empty()));
      });
      if (mine.must_end) return;
      const auto own = mine.messages.find(pe);
      std::vector<int> senders;
      for (const auto& [from, messages] : mine.messages)
        if (from != pe) senders.push_back(from);
      if (!senders.empty() || own != mine.messages.end()) {
        const int from = senders.empty() ? pe : senders[random() % senders.size()];
        const net::Bytes message = std::move(mine.messages[from].front());
        mine.messages[from].pop_front();
        if (mine.messages[from].empty()) mine.messages.erase(from);
        lock.unlock();
        std::this_thread::sleep_for(std::chrono::microseconds(random() % 100));
        listener.on_message(from, message);
      } else {
        const int gone = mine.lost.front();
        mine.lost.pop_front();
        lock.unlock();
        listener.on_lost(gone, "PE " + std::to_string(gone) + " is lost");
      }
    }
  }

  std::deque<Inbox> inboxes_;
};

// PEs as threads, each with a separate rendezvous and abort word.
class Job {
 public:
  using BesideOf = std::function<Beside(int pe)>;

  Job(
      int n_pes, std::uint64_t timeout_ns, const BesideOf& beside = [](int) { return Beside(); })
      : office(n_pes), words(static_cast<std::size_t>(n_pes)) {
    for (int pe = 0; pe < n_pes; ++pe)
      rendezvous_.push_back(
          std::make_unique<MessageRendezvous>(std::make_unique<PostOffice::Messenger>(office, pe),
                                              words[at(pe)], timeout_ns, beside(pe)));
  }

  template <class Body>
  void run(Body body) {
    std::vector<std::thread> threads;
    for (int pe = 0; pe < size(); ++pe)
      threads.emplace_back([&, pe] { body(pe, *rendezvous_[at(pe)]); });
    for (std::thread& thread : threads) thread.join();
  }

  // The error of each PE's meeting for `call(pe)`; "" if it has met.
  template <class Call>
  std::vector<std::string> errors_of(Call call) {
    std::vector<std::string> errors(rendezvous_.size());
    run([&](int pe, Rendezvous& rendezvous) {
      try {
        rendezvous.meet(call(pe));
      } catch (const Error& error) {
        errors[at(pe)] = std::to_string(error.code()) + ": " + error.what();
      }
    });
    return errors;
  }

  int size() const { return static_cast<int>(rendezvous_.size()); }
  static std::size_t at(int pe) { return static_cast<std::size_t>(pe); }

  PostOffice office;
  std::vector<abi::AbortWord> words;

 private:
  std::vector<std::unique_ptr<Rendezvous>> rendezvous_;
};

std::string code(chimex_status status) { return std::to_string(status) + ": "; }

TEST(MessageRendezvous, NonePassesBeforeAllHaveCome) {
  Job job(9, kLong);
  std::atomic<int> come{0};
  job.run([&](int, Rendezvous& rendezvous) {
    for (int call = 1; call <= 50; ++call) {
      ++come;
      rendezvous.meet(call_of(64));
      EXPECT_GE(come, 9 * call);
    }
  });
}

TEST(MessageRendezvous, ADifferenceReachesAllInTheSameWords) {
  Job job(5, kLong);
  const auto errors = job.errors_of([](int pe) { return call_of(pe == 3 ? 128 : 64); });
  for (const std::string& error : errors)
    EXPECT_EQ(error, code(CHIMEX_ERR_MISMATCH) +
                         "collective call: PEs 0-2, 4 called chime_malloc(64) but PE 3 called "
                         "chime_malloc(128); all PEs must make the same calls in the same order");
  for (const std::string& error : job.errors_of([](int) { return call_of(64); }))
    EXPECT_EQ(error, "") << "a difference breaks nothing";
}

TEST(MessageRendezvous, ACallThatOneDoesNotComeToFailsOnAllAndNamesIt) {
  constexpr std::uint64_t kTimeoutNs = 3'000'000'000;  // the threads of a job start in less
  Job job(7, kTimeoutNs);
  const auto comes = [](int pe) { return pe != 4; };
  std::vector<std::string> errors(7);
  job.run([&](int pe, Rendezvous& rendezvous) {
    if (!comes(pe)) return;
    try {
      rendezvous.meet(call_of(64));
    } catch (const Error& error) {
      errors[Job::at(pe)] = error.what();
    }
  });
  for (int pe = 0; pe < 7; ++pe)
    if (comes(pe)) {
      EXPECT_THAT(errors[Job::at(pe)], HasSubstr("for all PEs to call chime_malloc(64)"));
      EXPECT_THAT(errors[Job::at(pe)], HasSubstr("waited 3 s"));
    }
  EXPECT_THAT(errors[1], HasSubstr("PE 4 has not"));
  const auto begin = std::chrono::steady_clock::now();
  for (const std::string& error : job.errors_of([](int) { return call_of(64); }))
    EXPECT_THAT(error, HasSubstr("no collective call succeeds any more"));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::nanoseconds(kTimeoutNs))
      << "the late PE and the others fail at once";
}

TEST(MessageRendezvous, ALostPeEndsTheWaitOfAll) {
  for (const int victim : {0, 1, 6}) {
    Job job(7, kLong);
    std::vector<std::string> errors(7);
    std::barrier all_have_met(7);  // otherwise the first call may fail
    job.run([&](int pe, Rendezvous& rendezvous) {
      rendezvous.meet(call_of(64));
      all_have_met.arrive_and_wait();
      if (pe == victim) return job.office.kill(victim);
      try {
        rendezvous.meet(call_of(64));
      } catch (const Error& error) {
        errors[Job::at(pe)] = code(error.code()) + error.what();
      }
    });
    for (int pe = 0; pe < 7; ++pe)
      if (pe != victim) {
        EXPECT_THAT(errors[Job::at(pe)], HasSubstr("PE " + std::to_string(victim) + " is lost"));
        EXPECT_THAT(errors[Job::at(pe)], HasSubstr(code(CHIMEX_ERR_PEER_DEAD)));
      }
  }
}

// Messages do not get past it: PEs below ask the decider themselves, and need not wait for eleven
// seconds.
TEST(MessageRendezvous, APeOnTheWayUpThatIsStoppedIsGoneRound) {
  for (const std::vector<int>& stopped : {std::vector{1}, {2}, {1, 2}}) {
    Job job(7, kShort);
    const auto begin = std::chrono::steady_clock::now();
    const auto errors = [&] {
      for (const int pe : stopped) job.office.stop(pe);
      std::vector<std::string> found(7);
      job.run([&](int pe, Rendezvous& rendezvous) {
        if (std::find(stopped.begin(), stopped.end(), pe) != stopped.end()) return;
        try {
          rendezvous.meet(call_of(64));
        } catch (const Error& error) {
          found[Job::at(pe)] = code(error.code()) + error.what();
        }
      });
      return found;
    }();
    for (int pe = 0; pe < 7; ++pe) {
      if (std::find(stopped.begin(), stopped.end(), pe) != stopped.end()) continue;
      EXPECT_THAT(errors[Job::at(pe)], HasSubstr(code(CHIMEX_ERR_TIMEOUT))) << pe;
    }
    EXPECT_LT(std::chrono::steady_clock::now() - begin, 9s);
  }
}

// The two wait for each other. Seen before: no error until CHIME_TIMEOUT.
TEST(MessageRendezvous, APeThatStandsInABarrierMeanwhileSaysSoToAll) {
  for (const int there : {0, 1, 4}) {
    Job job(5, kLong, [there](int pe) {
      return Beside{.barrier = [=]() -> std::uint64_t { return pe == there ? 14 : 0; },
                    .kernels_run = [] { return false; }};
    });
    const auto begin = std::chrono::steady_clock::now();
    job.run([&](int pe, Rendezvous& rendezvous) {
      if (pe == there) {
        while (!abort_cause(job.words[Job::at(pe)])) std::this_thread::sleep_for(1ms);
        return;
      }
      try {
        rendezvous.meet(call_of(64));
        ADD_FAILURE() << "it has met";
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), CHIMEX_ERR_MISMATCH);
        EXPECT_THAT(error.what(), HasSubstr("called chime_malloc(64) but PE " +
                                            std::to_string(there) + " called chime_barrier_all"));
      }
    });
    EXPECT_LT(std::chrono::steady_clock::now() - begin, 20s);
  }
}

// This does not apply to a barrier that goes on, or one to which a kernel may still come.
TEST(MessageRendezvous, ABarrierThatMayEndDoesNoHarm) {
  for (const bool kernels_run : {false, true}) {
    std::atomic<std::uint64_t> barrier{2};
    Job job(3, kLong, [&](int pe) {
      return Beside{.barrier = [&, pe]() -> std::uint64_t { return pe == 1 ? barrier.load() : 0; },
                    .kernels_run = [=] { return kernels_run; }};
    });
    job.run([&](int pe, Rendezvous& rendezvous) {
      for (int turn = 0; pe == 1 && turn < 200; ++turn) {
        std::this_thread::sleep_for(10ms);
        if (!kernels_run) barrier += 2;
      }
      if (pe == 1) barrier = 0;
      EXPECT_NO_THROW(rendezvous.meet(call_of(64)));
    });
  }
}

TEST(MessageRendezvous, TheAbortWordEndsTheWaitAndIsReported) {
  Job job(3, kLong);
  std::vector<std::string> errors(3);
  job.run([&](int pe, Rendezvous& rendezvous) {
    if (pe == 2) {
      for (abi::AbortWord& word : job.words)
        raise_abort(word, {CHIMEX_ERR_PEER_DEAD, 2, Path::kP2p, "PE 2 fell asleep", 1});
      return;
    }
    try {
      rendezvous.meet(call_of(64));
    } catch (const Error& error) {
      errors[Job::at(pe)] = error.what();
    }
  });
  EXPECT_THAT(errors[0], HasSubstr("PE 2 fell asleep"));
  EXPECT_THAT(errors[1], HasSubstr("PE 2 fell asleep"));
}

}  // namespace
}  // namespace chime::host
