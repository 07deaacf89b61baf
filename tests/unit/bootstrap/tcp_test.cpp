// Unique ids: the shared bodies over threads and processes, and attacks of strangers.
#include "bootstrap/hub/tcp.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstring>
#include <future>
#include <thread>

#include "bodies.hpp"
#include "bootstrap/hub/wire.hpp"
#include "bootstrap/id_content.hpp"
#include "net/mesh/frame.hpp"
#include "net/secure/secure_channel.hpp"
#include "net/socket/descriptor.hpp"
#include "support/meet.hpp"
#include "unique_id_text.hpp"

namespace chime::bootstrap {
namespace {

using namespace std::chrono_literals;
using test::Body;

constexpr int kPes = 3;

class EveryBody : public testing::TestWithParam<Body> {};
class EveryLastBody : public testing::TestWithParam<Body> {};

std::string name_of(const testing::TestParamInfo<Body>& info) { return info.param.name; }

TEST_P(EveryBody, HoldsForThreads) {
  const auto id = create_unique_id("lo");
  std::vector<std::future<void>> pes;
  for (int pe = 0; pe < kPes; pe++)
    pes.push_back(std::async(std::launch::async, [&, pe] {
      GetParam().run([&] { return join_unique_id(id, pe, kPes, {.timeout = 60s}); });
    }));
  for (auto& pe : pes) EXPECT_NO_THROW(pe.get());
}

// Exit codes of `n` processes that run `body`.
std::vector<int> run_processes(const chimex_uniqueid_t& id, int n, const std::string& body) {
  std::vector<pid_t> started;
  for (int pe = 0; pe < n; pe++) {
    std::string words[] = {BOOTSTRAP_PE,      "--id", test::text_of(id), std::to_string(pe),
                           std::to_string(n), body};
    std::vector<char*> arguments;
    for (auto& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    pid_t pid = -1;
    EXPECT_EQ(posix_spawn(&pid, BOOTSTRAP_PE, nullptr, nullptr, arguments.data(), environ), 0);
    started.push_back(pid);
  }
  std::vector<int> codes;
  for (pid_t pid : started) {
    int status = 0;
    waitpid(pid, &status, 0);
    codes.push_back(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
  }
  return codes;
}

TEST_P(EveryBody, HoldsForProcesses) {
  EXPECT_EQ(run_processes(create_unique_id(), kPes, GetParam().name), std::vector<int>(kPes, 0));
}

TEST_P(EveryLastBody, HoldsForProcesses) {
  auto codes = run_processes(create_unique_id("lo"), kPes, GetParam().name);
  const auto victim = std::find(codes.begin(), codes.end(), 128 + SIGKILL);
  if (victim != codes.end()) *victim = 0;  // a body has at most one victim
  EXPECT_EQ(codes, std::vector<int>(kPes, 0));
}

INSTANTIATE_TEST_SUITE_P(Tcp, EveryBody, testing::ValuesIn(test::bodies()), name_of);
INSTANTIATE_TEST_SUITE_P(Tcp, EveryLastBody, testing::ValuesIn(test::last_bodies()), name_of);

BootstrapError failure_of_joining(const chimex_uniqueid_t& id, int pe, int n_pes,
                                  std::chrono::milliseconds timeout = 60s) {
  try {
    join_unique_id(id, pe, n_pes, {.timeout = timeout});
  } catch (const BootstrapError& e) {
    return e;
  }
  return BootstrapError("", CHIMEX_OK);
}
std::string error_of_joining(const chimex_uniqueid_t& id, int pe, int n_pes,
                             std::chrono::milliseconds timeout = 60s) {
  return failure_of_joining(id, pe, n_pes, timeout).what();
}

// The id's content begins with the token; its port follows (tcp.cpp).
chimex_uniqueid_t with_another_token(chimex_uniqueid_t id) {
  id.internal[5] ^= 1;
  return id;
}
std::uint16_t port_of(const chimex_uniqueid_t& id) {
  std::uint16_t port;
  std::memcpy(&port, id.internal + sizeof(Token), sizeof port);
  return port;
}

net::Descriptor connect_as_stranger(const chimex_uniqueid_t& id) {
  net::Descriptor fd(socket(AF_INET, SOCK_STREAM, 0));
  sockaddr_in where{};
  where.sin_family = AF_INET;
  where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  where.sin_port = htons(port_of(id));
  EXPECT_EQ(connect(fd.get(), reinterpret_cast<sockaddr*>(&where), sizeof where), 0);
  return fd;
}

// The error of joining, from the last attempt: an attempt that the deadline cuts short, as on a
// busy machine, has another cause than `wanted`, and is repeated with more time.
std::string error_with(const std::string& wanted, const chimex_uniqueid_t& id) {
  std::string error;
  for (auto timeout = 300ms; timeout < 60s && error.find(wanted) == std::string::npos; timeout *= 2)
    error = error_of_joining(id, 0, 2, timeout);
  return error;
}

// All bytes until the other side closes or is silent for `silence`.
Bytes read_all(int fd, std::chrono::milliseconds silence) {
  Bytes all;
  std::byte buffer[4096];
  pollfd ready{fd, POLLIN, 0};
  while (poll(&ready, 1, static_cast<int>(silence.count())) > 0) {
    const auto got = recv(fd, buffer, sizeof buffer, 0);
    if (got <= 0) break;
    all.insert(all.end(), buffer, buffer + got);
  }
  return all;
}

TEST(UniqueId, WrongTokenIsRefusedAndReportedOnce) {
  const auto id = create_unique_id("lo");
  testing::internal::CaptureStderr();
  const auto error = error_with("wrong token", with_another_token(id));
  EXPECT_NE(error.find("wrong token"), std::string::npos) << error;
  const auto log = testing::internal::GetCapturedStderr();
  EXPECT_NE(log.find("wrong token"), std::string::npos) << log;
  EXPECT_EQ(log.find("refused"), log.rfind("refused")) << log;
}

// The child has the list of its parent's hubs, but none of their threads.
TEST(UniqueId, AForkedChildOfItsMakerMayExit) {
  create_unique_id("lo");
  const pid_t child = fork();
  if (child == 0) std::exit(7);
  int status;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 7);
}

TEST(UniqueId, AFailureToJoinHasTheCodeOfItsCause) {
  const auto id = create_unique_id("lo");
  auto first = join_unique_id(id, 0, 3);
  EXPECT_EQ(failure_of_joining(id, 0, 3).code(), CHIMEX_ERR_MISMATCH);  // PE 0 is there
  EXPECT_EQ(failure_of_joining(id, 1, 2).code(), CHIMEX_ERR_MISMATCH);  // another number of PEs
  EXPECT_EQ(failure_of_joining(id, 3, 3).code(), CHIMEX_ERR_INVALID);
  EXPECT_EQ(failure_of_joining({}, 1, 3).code(), CHIMEX_ERR_INVALID);
  EXPECT_EQ(failure_of_joining(with_another_token(id), 1, 3, 300ms).code(), CHIMEX_ERR_TIMEOUT);
  try {
    first->lookup(1, "endpoint_info", std::chrono::steady_clock::now() + 20ms);
    FAIL() << "found an endpoint info of a PE that has not joined";
  } catch (const BootstrapError& e) {
    EXPECT_EQ(e.code(), CHIMEX_ERR_TIMEOUT) << e.what();
  }
}

TEST(UniqueId, StrangersNeitherDisturbNorReadTheJob) {
  const auto id = create_unique_id("lo");
  std::vector<net::Descriptor> strangers;
  for (int i = 0; i < 40; i++) {
    strangers.push_back(connect_as_stranger(id));
    const std::string garbage(static_cast<std::size_t>(i) * 37, static_cast<char>(i * 11));
    send(strangers.back().get(), garbage.data(), garbage.size(), MSG_NOSIGNAL);
  }
  std::vector<std::future<Bytes>> pes;
  const std::string secret = "an endpoint info that no stranger may see";
  for (int pe = 0; pe < 2; pe++)
    pes.push_back(std::async(std::launch::async, [&, pe] {
      auto job = join_unique_id(id, pe, 2, {.timeout = 60s});
      job->publish("endpoint_info", std::as_bytes(std::span(secret)));
      return job->lookup(1 - pe, "endpoint_info", std::chrono::steady_clock::now() + 60s);
    }));
  for (auto& pe : pes) EXPECT_EQ(pe.get().size(), secret.size());
  // A stranger gets only the challenge.
  const auto challenge_bytes = net::SecureChannel::server({}, -1, kHubLimits).take_output().size();
  for (auto& stranger : strangers)
    EXPECT_LE(read_all(stranger.get(), 10ms).size(), challenge_bytes);
}

TEST(UniqueId, ALookupBeforeTheHelloEndsTheConnection) {
  const auto id = create_unique_id("lo");
  auto stranger = connect_as_stranger(id);
  const auto request = MessageWriter(Message::kLookup)
                           .put<std::uint32_t>(1)
                           .put<std::int32_t>(0)
                           .text("endpoint_info")
                           .put<std::uint8_t>(1)
                           .take();
  const auto frame = net::framed(request);
  send(stranger.get(), frame.data(), frame.size(), MSG_NOSIGNAL);
  read_all(stranger.get(), 60s);
  EXPECT_EQ(recv(stranger.get(), nullptr, 0, MSG_DONTWAIT), 0);
}

TEST(UniqueId, APeIsNotFooledByAHubWithoutTheToken) {
  net::Descriptor listener(socket(AF_INET, SOCK_STREAM, 0));
  sockaddr_in where{};
  where.sin_family = AF_INET;
  where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof where;
  ASSERT_EQ(bind(listener.get(), reinterpret_cast<sockaddr*>(&where), length), 0);
  ASSERT_EQ(listen(listener.get(), 8), 0);
  getsockname(listener.get(), reinterpret_cast<sockaddr*>(&where), &length);
  auto id = create_unique_id("lo");
  const std::uint16_t port = ntohs(where.sin_port);
  std::memcpy(id.internal + sizeof(Token), &port, sizeof port);

  std::thread impostor([&] {
    for (;;) {
      net::Descriptor fd(accept(listener.get(), nullptr, nullptr));
      if (!fd) return;  // shut down below
      const auto challenge = net::SecureChannel::server({}, -1, kHubLimits).take_output();
      send(fd.get(), challenge.data(), challenge.size(), MSG_NOSIGNAL);
      const auto verdict = net::framed(Bytes(1 + 4 + net::kTagBytes, std::byte{1}));
      send(fd.get(), verdict.data(), verdict.size(), MSG_NOSIGNAL);
      read_all(fd.get(), 300ms);
    }
  });
  const auto error = error_with("token", id);
  shutdown(listener.get(), SHUT_RDWR);
  impostor.join();
  EXPECT_NE(error.find("does not know this job's token"), std::string::npos) << error;
}

TEST(UniqueId, PesThatDisagreeGetTheReason) {
  const auto id = create_unique_id("lo");
  auto first = join_unique_id(id, 0, 3);
  EXPECT_NE(error_of_joining(id, 0, 3).find("PE 0 is in the job already"), std::string::npos);
  EXPECT_NE(error_of_joining(id, 1, 4).find("4 PEs, but the job has 3"), std::string::npos);
  EXPECT_NE(error_of_joining(id, 3, 3).find("no PE 3 in a job of 3"), std::string::npos);
}

// Also if other addresses of the id do not work.
TEST(UniqueId, LeadsToTheHubByEachOfItsAddresses) {
  const auto content = content_of(create_unique_id("lo"), "");
  int pe = 0;
  std::vector<std::unique_ptr<Bootstrap>> jobs;
  for (const net::Address& address : content.addresses) {
    IdContent one = content;
    one.addresses = {net::Address::internet("127.255.255.254", 0), address};
    jobs.push_back(join_unique_id(id_of(one), pe++, static_cast<int>(content.addresses.size()),
                                  {.timeout = 60s}));
  }
  EXPECT_GE(jobs.size(), 1u);
}

TEST(UniqueId, WhatIsNoIdIsNamed) {
  EXPECT_NE(error_of_joining(chimex_uniqueid_t{}, 0, 1).find("not a unique id"), std::string::npos);
}

TEST(UniqueId, AnInterfaceThatIsNotThereIsNamedWithThoseThatAre) {
  try {
    create_unique_id("nosuch0");
    FAIL();
  } catch (const BootstrapError& e) {
    const std::string text = e.what();
    EXPECT_NE(text.find("CHIME_BOOTSTRAP_IF=nosuch0"), std::string::npos) << text;
    EXPECT_NE(text.find("lo"), std::string::npos) << text;
  }
}

// PE 1 joins a job of 3 alone and waits for `time`. Returns the error of its node lookup, and that
// of an endpoint info lookup.
std::pair<std::string, std::string> errors_of_waiting_alone(std::chrono::milliseconds time) try {
  const auto error_of = [](const auto& body) -> std::string {
    try {
      body();
    } catch (const BootstrapError& e) {
      return e.what();
    }
    return "no error";
  };
  const auto job = join_unique_id(create_unique_id("lo"), 1, 3, {.timeout = time});
  return {error_of([&] { job->node(); }), error_of([&] {
            job->lookup(2, "endpoint_info", std::chrono::steady_clock::now() + time);
          })};
} catch (const BootstrapError& e) {
  return {e.what(), ""};  // too little time to join
}

TEST(UniqueId, AMissingPeIsNamedByThoseThatWait) {
  const auto names = [](const std::pair<std::string, std::string>& errors) {
    return errors.first.find("PEs 0, 2 have not joined") != std::string::npos &&
           errors.second.find("PE 2 has not joined the job") != std::string::npos;
  };
  std::pair<std::string, std::string> errors;
  for (auto time = 300ms; time < 60s && !names(errors); time *= 2)
    errors = errors_of_waiting_alone(time);
  EXPECT_TRUE(names(errors)) << errors.first << "\n" << errors.second;
}

TEST(UniqueId, ALostPeIsReportedWithItsNumber) {
  const auto id = create_unique_id("lo");
  auto watcher = join_unique_id(id, 0, 2);
  std::promise<int> lost;
  watcher->on_peer_lost([&](int pe, const std::string&) { lost.set_value(pe); });
  // The body kills its PE 1; this test needs no more of it.
  auto codes = std::async(std::launch::async, [&] {
    std::string words[] = {BOOTSTRAP_PE, "--id", test::text_of(id),
                           "1",          "2",    "a_killed_pe_ends_a_lookup"};
    std::vector<char*> arguments;
    for (auto& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    pid_t pid = -1;
    posix_spawn(&pid, BOOTSTRAP_PE, nullptr, nullptr, arguments.data(), environ);
    waitpid(pid, nullptr, 0);
  });
  test::meet(*watcher);
  auto pe = lost.get_future();
  ASSERT_EQ(pe.wait_for(60s), std::future_status::ready);
  EXPECT_EQ(pe.get(), 1);
}

}  // namespace
}  // namespace chime::bootstrap
