// Meshes of several PEs, each on a thread of its own.
#include "net/mesh/mesh.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <deque>
#include <future>
#include <thread>

#include "meeting.hpp"
#include "net/mesh/fields.hpp"

namespace chime::net::test {
namespace {

using testing::HasSubstr;

constexpr Mesh::Tag kTag = 7;

struct Received {
  int from;
  std::string text;
  bool operator==(const Received&) const = default;
};

// One PE's mesh, its thread, and what came.
class Pe {
 public:
  using EndpointInfos = std::map<int, Bytes>;

  Pe(int pe, int n_pes, EndpointInfos& endpoint_infos,
     std::vector<Address> listen_at = {some_name()},
     std::chrono::milliseconds connect_timeout = 60s)
      : endpoint_infos_(endpoint_infos),
        mesh(
            {.secret = Bytes(32, std::byte{5}),
             .job = "job",
             .pe = pe,
             .n_pes = n_pes,
             .listen_at = std::move(listen_at),
             .offered = {Address::internet("127.0.0.1", 0), Address::internet("::1", 0)},
             .connect_timeout = connect_timeout,
             .log = [this](std::string line) { note(log, std::move(line)); }},
            [this](int other) {
              const auto endpoint_info = endpoint_infos_.find(other);
              endpoint_info == endpoint_infos_.end()
                  ? mesh.not_found(other, "it has no endpoint info")
                  : mesh.found(other, endpoint_info->second);
            },
            [this](int other, const std::string& why) {
              note(lost, Received{other, why});
            }) {
    endpoint_infos[pe] = mesh.endpoint_info();
    mesh.on_left([this](int other) { note(left, int{other}); });
    mesh.handle(kTag, [this](int from, std::span<const std::byte> payload) {
      note(received,
           Received{from, {reinterpret_cast<const char*>(payload.data()), payload.size()}});
    });
  }
  void start() {
    thread_ = std::thread([this] { mesh.run(); });
  }
  void end() {
    mesh.stop();
    if (thread_.joinable()) thread_.join();
  }
  ~Pe() { end(); }

  template <class List>
  bool has(List& list, std::size_t n, std::chrono::seconds limit = 60s) {
    std::unique_lock lock(mutex_);
    return came_.wait_for(lock, limit, [&] { return list.size() >= n; });
  }
  void say(int to, std::string_view text) { ASSERT_TRUE(mesh.send(to, kTag, bytes_of(text))); }

 private:
  template <class List, class Item>
  void note(List& list, Item item) {
    std::lock_guard lock(mutex_);
    list.push_back(std::move(item));
    came_.notify_all();
  }
  EndpointInfos& endpoint_infos_;
  std::mutex mutex_;
  std::condition_variable came_;

 public:
  std::vector<Received> received, lost;
  std::vector<int> left;
  std::vector<std::string> log;
  Mesh mesh;

 private:
  std::thread thread_;
};

struct Job {
  explicit Job(int n) {
    for (int pe = 0; pe < n; ++pe) pes.emplace_back(pe, n, endpoint_infos);
    for (Pe& pe : pes) pe.start();
  }
  Pe::EndpointInfos endpoint_infos;
  std::deque<Pe> pes;
};

TEST(Mesh, MessagesArriveInOrderAndWithTheirSender) {
  Job job(3);
  for (int i = 0; i < 200; ++i) {
    job.pes[1].say(0, std::to_string(i));
    job.pes[2].say(0, std::to_string(i));
  }
  ASSERT_TRUE(job.pes[0].has(job.pes[0].received, 400));
  int next[3] = {};
  for (const Received& r : job.pes[0].received) EXPECT_EQ(r.text, std::to_string(next[r.from]++));
}

TEST(Mesh, APeThatLeavesDeliversAllAlsoBeforeItsConnectionIsOpen) {
  for (int round = 0; round < 20; ++round) {
    Job job(2);
    job.pes[1].say(0, "last words");
    job.pes[1].end();
    ASSERT_TRUE(job.pes[0].has(job.pes[0].received, 1));
    EXPECT_EQ(job.pes[0].received[0], (Received{1, "last words"}));
  }
}

TEST(Mesh, APeSpeaksToItselfToo) {
  Job job(1);
  job.pes[0].say(0, "me");
  ASSERT_TRUE(job.pes[0].has(job.pes[0].received, 1));
  EXPECT_EQ(job.pes[0].received[0], (Received{0, "me"}));
}

TEST(Mesh, OpensWhatIsUsedAndNoMore) {
  Job job(8);
  for (int pe = 0; pe < 8; ++pe) job.pes[pe].say((pe + 1) % 8, "next");
  for (Pe& pe : job.pes) ASSERT_TRUE(pe.has(pe.received, 1));
  for (Pe& pe : job.pes) EXPECT_EQ(pe.mesh.opened(), 1u);
}

TEST(Mesh, AllMaySpeakToAllAtOnceFromSeveralThreads) {
  constexpr int kPes = 6, kThreads = 3, kEach = 20;
  Job job(kPes);
  std::vector<std::thread> threads;
  for (int pe = 0; pe < kPes; ++pe)
    for (int t = 0; t < kThreads; ++t)
      threads.emplace_back([&, pe] {
        for (int i = 0; i < kEach; ++i)
          for (int other = 0; other < kPes; ++other) job.pes[pe].say(other, "x");
      });
  for (auto& thread : threads) thread.join();
  for (Pe& pe : job.pes) EXPECT_TRUE(pe.has(pe.received, kPes * kThreads * kEach));
}

TEST(Mesh, AHandlerMayAnswer) {
  Pe::EndpointInfos endpoint_infos;
  Pe asked(0, 2, endpoint_infos), asking(1, 2, endpoint_infos);
  asked.mesh.handle(8, [&](int from, std::span<const std::byte>) { asked.say(from, "answer"); });
  asked.start();
  asking.start();
  ASSERT_TRUE(asking.mesh.send(0, 8, {}));
  ASSERT_TRUE(asking.has(asking.received, 1));
  EXPECT_EQ(asking.received[0], (Received{0, "answer"}));
}

// The source of the endpoint infos may be gone when the answer is due: the hub of a unique id's job
// ends with PE 0's process.
TEST(Mesh, AnAnswerNeedsNoEndpointInfoButTheOneThatTheAskingPeBrought) {
  Pe::EndpointInfos endpoint_infos, none;
  Pe asked(0, 2, none), asking(1, 2, endpoint_infos);
  endpoint_infos[0] = asked.mesh.endpoint_info();
  asked.mesh.handle(8, [&](int from, std::span<const std::byte>) { asked.say(from, "answer"); });
  asked.start();
  asking.start();
  ASSERT_TRUE(asking.mesh.send(0, 8, {}));
  ASSERT_TRUE(asking.has(asking.received, 1));
  EXPECT_EQ(asking.received[0], (Received{0, "answer"}));
}

TEST(Mesh, ReachesOverEveryFamilyThatIsOffered) {
  for (const char* everywhere : {"0.0.0.0", "::"}) {
    Pe::EndpointInfos endpoint_infos;
    Pe a(0, 2, endpoint_infos, {Address::internet(everywhere, 0)}), b(1, 2, endpoint_infos);
    a.start();
    b.start();
    b.say(0, everywhere);
    ASSERT_TRUE(a.has(a.received, 1));
    EXPECT_EQ(a.received[0], (Received{1, everywhere}));
  }
}

TEST(Mesh, APeThatLeftIsNotALostOne) {
  Job job(2);
  job.pes[0].say(1, "hello");
  job.pes[1].say(0, "hello");
  ASSERT_TRUE(job.pes[0].has(job.pes[0].received, 1));
  ASSERT_TRUE(job.pes[1].has(job.pes[1].received, 1));
  job.pes[1].end();
  std::string words;
  const auto end = Clock::now() + 10s;
  while (words.empty() && Clock::now() < end) {
    try {
      job.pes[0].mesh.send(1, kTag, {});
    } catch (const Error& error) {
      words = error.what();
    }
  }
  EXPECT_THAT(words, HasSubstr("PE 1 has left the job"));
  EXPECT_TRUE(job.pes[0].lost.empty());
}

// Both have opened a connection, so that it says goodbye twice.
TEST(Mesh, APeThatLeavesIsReportedOnceToConnectedPes) {
  Job job(2);
  job.pes[0].say(1, "hello");
  job.pes[1].say(0, "hello");
  ASSERT_TRUE(job.pes[0].has(job.pes[0].received, 1));
  ASSERT_TRUE(job.pes[1].has(job.pes[1].received, 1));
  job.pes[1].end();
  ASSERT_TRUE(job.pes[0].has(job.pes[0].left, 1));
  job.pes[0].end();
  EXPECT_EQ(job.pes[0].left, std::vector{1});
  EXPECT_TRUE(job.pes[0].lost.empty());
}

// Otherwise a PE that waits for its answer would wait for ever.
TEST(Mesh, APeThatLeavesIsReportedToOneThatStillSeeksIt) {
  Pe::EndpointInfos endpoint_infos;
  Pe seeker(0, 2, endpoint_infos, {some_name()}, 60s), leaver(1, 2, endpoint_infos);
  const auto silent = some_name();
  const Descriptor unserved = listen_at(silent);
  endpoint_infos[1] = silent.to_bytes();
  seeker.start();
  leaver.start();
  seeker.say(1, "where are you?");
  leaver.say(0, "hello");
  ASSERT_TRUE(seeker.has(seeker.received, 1));
  leaver.end();
  EXPECT_TRUE(seeker.has(seeker.left, 1));
  EXPECT_TRUE(seeker.lost.empty());
}

// Within a third of the time limit for opening a connection.
TEST(Mesh, ALatePeGetsTheLossAtOnce) {
  for (const Address& place : {some_name(), Address::internet("127.0.0.1", 0)}) {
    Pe::EndpointInfos endpoint_infos;
    Pe late(0, 2, endpoint_infos, {some_name()}, 60s), leaver(1, 2, endpoint_infos, {place});
    leaver.start();
    leaver.end();
    late.start();
    late.say(1, "anybody?");
    ASSERT_TRUE(late.has(late.lost, 1));
    EXPECT_THAT(late.lost[0].text, HasSubstr("it has left the job, or has died"));
    EXPECT_THAT(late.lost[0].text, HasSubstr("Connection refused"));
  }
}

TEST(Mesh, AKilledPeIsReportedOnceToConnectedPes) {
  int announce[2];
  ASSERT_EQ(pipe(announce), 0);
  Pe::EndpointInfos endpoint_infos;
  Pe survivor(0, 2, endpoint_infos);  // its thread starts after the fork
  const pid_t victim = fork();
  if (victim == 0) {
    Pe pe(1, 2, endpoint_infos);
    pe.start();
    pe.say(0, "I am here");
    const std::uint64_t length = pe.mesh.endpoint_info().size();
    if (write(announce[1], &length, sizeof length) < 0) _exit(1);
    if (write(announce[1], pe.mesh.endpoint_info().data(), length) < 0) _exit(1);
    pause();
    _exit(0);
  }
  survivor.start();
  std::uint64_t length = 0;
  ASSERT_EQ(read(announce[0], &length, sizeof length), static_cast<ssize_t>(sizeof length));
  Bytes endpoint_info(length);
  ASSERT_EQ(read(announce[0], endpoint_info.data(), length), static_cast<ssize_t>(length));
  endpoint_infos[1] = endpoint_info;
  survivor.say(1, "hello");
  ASSERT_TRUE(survivor.has(survivor.received, 1));
  kill(victim, SIGKILL);
  waitpid(victim, nullptr, 0);
  ASSERT_TRUE(survivor.has(survivor.lost, 1));
  EXPECT_EQ(survivor.lost[0].from, 1);
  EXPECT_THROW(survivor.mesh.send(1, kTag, {}), Error);
  EXPECT_FALSE(survivor.has(survivor.lost, 2, 0s));
}

TEST(Mesh, OneThatDoesNotAnswerIsReportedAtItsTimeout) {
  Pe::EndpointInfos endpoint_infos;
  Pe pe(0, 2, endpoint_infos, {some_name()}, 2s);
  const auto silent = some_name();
  const Descriptor unserved = listen_at(silent);
  endpoint_infos[1] = silent.to_bytes();
  pe.start();
  pe.say(1, "anybody?");
  ASSERT_TRUE(pe.has(pe.lost, 1));
  EXPECT_THAT(pe.lost[0].text, HasSubstr("cannot be reached"));
  EXPECT_THAT(pe.lost[0].text, HasSubstr("did not answer in time"));
}

// Otherwise it would wait for ever for the answer to its message.
TEST(Mesh, APeThatIsLostAsUnreachableGetsTheLoss) {
  Pe::EndpointInfos endpoint_infos;
  Pe asker(0, 2, endpoint_infos), deaf(1, 2, endpoint_infos, {some_name()}, 2s);
  const auto silent = some_name();
  const Descriptor unserved = listen_at(silent);
  endpoint_infos[0] = silent.to_bytes();
  asker.start();
  deaf.start();
  deaf.say(0, "anybody?");
  asker.say(1, "a question");
  ASSERT_TRUE(deaf.has(deaf.received, 1));
  ASSERT_TRUE(deaf.has(deaf.lost, 1));
  ASSERT_TRUE(asker.has(asker.lost, 1));
  EXPECT_EQ(asker.lost[0].from, 1);
}

TEST(Mesh, APeWithoutAnEndpointInfoIsLost) {
  Pe::EndpointInfos endpoint_infos;
  Pe pe(0, 2, endpoint_infos);
  pe.start();
  pe.say(1, "anybody?");
  ASSERT_TRUE(pe.has(pe.lost, 1));
  EXPECT_THAT(pe.lost[0].text, HasSubstr("it has no endpoint info"));
  EXPECT_THROW(pe.mesh.send(1, kTag, {}), Error);
}

// Its sender goes on meanwhile, and sends to others.
TEST(Mesh, WhatIsSentToAPeWhoseEndpointInfoIsNotKnownYetWaitsForIt) {
  Pe::EndpointInfos endpoint_infos;
  std::promise<int> asked;
  Mesh sender(
      {.secret = Bytes(32, std::byte{5}),
       .job = "job",
       .pe = 0,
       .n_pes = 3,
       .listen_at = {some_name()},
       .connect_timeout = 60s},
      [&](int pe) { pe == 1 ? asked.set_value(pe) : sender.found(pe, endpoint_infos.at(pe)); },
      nullptr);
  Pe late(1, 3, endpoint_infos), there(2, 3, endpoint_infos);
  late.start();
  there.start();
  std::thread thread([&] { sender.run(); });
  EXPECT_TRUE(sender.send(1, kTag, bytes_of("first")));
  EXPECT_TRUE(sender.send(1, kTag, bytes_of("second")));
  EXPECT_TRUE(sender.send(2, kTag, bytes_of("to another")));
  EXPECT_TRUE(there.has(there.received, 1));
  EXPECT_EQ(asked.get_future().get(), 1);
  EXPECT_TRUE(late.received.empty());
  sender.found(1, endpoint_infos.at(1));
  EXPECT_TRUE(late.has(late.received, 2));
  EXPECT_EQ(late.received, (std::vector{Received{0, "first"}, Received{0, "second"}}));
  sender.stop();
  thread.join();
}

// So many messages wait for the endpoint info that sending them takes a good part of a second.
// Another thread sends all that time: its messages follow them.
TEST(Mesh, WhatIsSentWhileAConnectionOpensComesBehindWhatHasWaited) {
  constexpr std::uint32_t kWaiting = 100'000, kMore = 2'000;
  Pe::EndpointInfos endpoint_infos;
  std::promise<void> asked;
  Mesh sender(
      {.secret = Bytes(32, std::byte{5}),
       .job = "job",
       .pe = 0,
       .n_pes = 2,
       .listen_at = {some_name()},
       .connect_timeout = 60s},
      [&](int) { asked.set_value(); }, nullptr);
  Pe late(1, 2, endpoint_infos);
  std::uint32_t next = 0;  // the next expected number, of the mesh's thread
  std::atomic<std::uint32_t> came = 0, out_of_order = 0;
  late.mesh.handle(8, [&](int, std::span<const std::byte> payload) {
    out_of_order += Reader(payload).get<std::uint32_t>() != next++;
    ++came;
  });
  late.start();
  std::thread thread([&] { sender.run(); });
  std::uint32_t sent = 0;
  const auto send_next = [&] {
    const std::uint32_t number = sent;
    sent += sender.send(1, 8, std::as_bytes(std::span(&number, 1)));
  };
  while (sent < kWaiting) send_next();
  asked.get_future().get();
  sender.found(1, endpoint_infos.at(1));
  const auto end = Clock::now() + 60s;
  while (Clock::now() < end && (came < kWaiting || sent < kWaiting + kMore)) send_next();
  while (Clock::now() < end && came < sent) std::this_thread::sleep_for(1ms);
  EXPECT_EQ(came, sent);
  EXPECT_EQ(out_of_order, 0u);
  sender.stop();
  thread.join();
}

// A PE that does not serve its mesh does not make another keep everything.
TEST(Mesh, WhatOnePeMayHaveWaitingIsBounded) {
  Pe::EndpointInfos endpoint_infos;
  Pe sender(0, 2, endpoint_infos), idle(1, 2, endpoint_infos);
  sender.start();
  const Bytes large(Mesh::kMaxPayload);
  std::size_t taken = 0;
  while (taken <= 4 * Mesh::kMaxQueuedBytes && sender.mesh.send(1, kTag, large))
    taken += large.size();
  EXPECT_LE(taken, Mesh::kMaxQueuedBytes);
  idle.start();
  EXPECT_TRUE(idle.has(idle.received, taken / large.size()));
}

// Each has the job's secret, but a wrong number.
TEST(Mesh, ASecondOfOnePeAndOneThatIsNoPeAreRefused) {
  Job job(2);
  job.pes[1].say(0, "the first");
  ASSERT_TRUE(job.pes[0].has(job.pes[0].received, 1));
  Pe::EndpointInfos endpoint_infos = job.endpoint_infos;
  Pe second(1, 2, endpoint_infos), foreign(5, 6, endpoint_infos);
  for (Pe* pe : {&second, &foreign}) {
    pe->start();
    pe->say(0, "let me in");
    ASSERT_TRUE(pe->has(pe->lost, 1));
  }
  EXPECT_THAT(second.lost[0].text, HasSubstr("PE 1 is connected already"));
  EXPECT_THAT(foreign.lost[0].text, HasSubstr("there is no PE 5 in a job of 2"));
  job.pes[1].say(0, "the first goes on");
  EXPECT_TRUE(job.pes[0].has(job.pes[0].received, 2));
  EXPECT_TRUE(job.pes[0].lost.empty());
}

TEST(Mesh, StrangersAreLoggedOnceAndDoNoHarm) {
  Job job(2);
  std::span<const std::byte> endpoint_info = job.endpoint_infos[0];
  const auto address = Address::from_bytes(endpoint_info);
  std::list<Descriptor> strangers;
  for (int i = 0; i < 20; ++i) {
    strangers.push_back(start_connecting(address));
    send_some(strangers.back(), Bytes(100, std::byte(i)), {});
  }
  job.pes[1].say(0, "unharmed");
  ASSERT_TRUE(job.pes[0].has(job.pes[0].received, 1));
  ASSERT_TRUE(job.pes[0].has(job.pes[0].log, 1));
  EXPECT_FALSE(job.pes[0].has(job.pes[0].log, 2, 0s));
}

// An invalid message is its sender's fault.
TEST(Mesh, AMessageOfAnUnknownKindEndsTheConnection) {
  Job job(3);
  ASSERT_TRUE(job.pes[1].mesh.send(0, 99, {}));
  ASSERT_TRUE(job.pes[0].has(job.pes[0].lost, 1));
  EXPECT_EQ(job.pes[0].lost[0].from, 1);
  EXPECT_THAT(job.pes[0].lost[0].text, HasSubstr("unknown kind, 99"));
  job.pes[2].say(0, "goes on");
  EXPECT_TRUE(job.pes[0].has(job.pes[0].received, 1));
}

}  // namespace
}  // namespace chime::net::test
