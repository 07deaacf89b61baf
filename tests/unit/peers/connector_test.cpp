// PEs of a job are connected over a transport that does not contain the procedure.
#include "host/peers/connector.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <future>
#include <string>
#include <thread>
#include <vector>

#include "bootstrap/hub/tcp.hpp"
#include "fabric_double.hpp"
#include "host/errors/error.hpp"
#include "host/gpu/memfd.hpp"
#include "host/memory/registered_buffers.hpp"
#include "host/peers/control.hpp"
#include "host/peers/left_endpoint_infos.hpp"

namespace chime::host {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

constexpr int kPes = 3;
constexpr std::size_t kHeapBytes = 4096;

// A PE of the test: a thread with separate memory.
struct Pe {
  bootstrap::Bootstrap& job;
  std::array<std::byte, kHeapBytes> heap = {};
  FabricDouble transport;
  PeerTable peers{{job.rank(), job.size(), AmoChoice::kAuto}};
  int round;  // how often it joined before

  Pe(Fabric& fabric, bootstrap::Bootstrap& its_job, int its_round)
      : job(its_job), transport(fabric, its_job.rank(), heap.data()), round(its_round) {
    peers.add(transport);
  }
  int me() const { return job.rank(); }
  void connect() {
    std::shared_ptr<DeviceMemory> control = create_memfd(kSharedPages, sizeof(ControlBlock));
    Connector(job, control, peers, std::chrono::steady_clock::now() + 20s).connect(transport);
  }
};

// Each PE joins and runs `body` so many times, and keeps its memory until all have. Returns the
// errors of the PEs, or "".
template <class Body>
std::array<std::string, kPes> run(Body body, int rounds = 1) {
  const auto id = bootstrap::create_unique_id("lo");
  Fabric fabric;
  std::array<std::future<std::string>, kPes> pes;
  std::promise<void> over;
  const auto all_are_over = over.get_future().share();
  std::array<std::promise<std::string>, kPes> said;
  std::vector<std::thread> threads;
  for (int rank = 0; rank < kPes; ++rank) {
    pes[static_cast<std::size_t>(rank)] = said[static_cast<std::size_t>(rank)].get_future();
    threads.emplace_back([&, rank] {
      std::vector<std::unique_ptr<Pe>> pes_of_rounds;
      std::unique_ptr<bootstrap::Bootstrap> job;
      std::string error;
      for (int round = 0; round < rounds && error.empty(); ++round) {
        job.reset();
        job = bootstrap::join_unique_id(id, rank, kPes, {.timeout = 20s});
        pes_of_rounds.push_back(std::make_unique<Pe>(fabric, *job, round));
        try {
          body(*pes_of_rounds.back());
        } catch (const std::exception& thrown) {
          error = thrown.what();
        }
      }
      said[static_cast<std::size_t>(rank)].set_value(error);
      all_are_over.wait();
    });
  }
  std::array<std::string, kPes> errors;
  for (std::size_t pe = 0; pe < kPes; ++pe) errors[pe] = pes[pe].get();
  over.set_value();
  for (auto& thread : threads) thread.join();
  return errors;
}

const std::array<std::string, kPes> kNoErrors = {};

TEST(Connector, EachPairShowsItsEndpointInfosOffersAndReceipts) {
  EXPECT_EQ(run([](Pe& pe) {
              pe.connect();
              EXPECT_TRUE(pe.peers.all_by(Path::kProxy));
              for (int peer = 0; peer < kPes; ++peer) {
                EXPECT_EQ(pe.transport.offers[peer], FabricDouble::pair("offer", peer, pe.me()));
                EXPECT_EQ(pe.transport.receipts[peer],
                          FabricDouble::pair("receipt", peer, pe.me()));
              }
            }),
            kNoErrors);
}

TEST(Connector, ARefusalByOneSideHoldsForBoth) {
  EXPECT_EQ(run([](Pe& pe) {
              if (pe.me() == 1) pe.transport.unwanted = {2};
              pe.connect();
              for (int peer = 0; peer < kPes; ++peer) {
                const bool is_refused = (pe.me() == 1 && peer == 2) || (pe.me() == 2 && peer == 1);
                EXPECT_EQ(pe.peers.path(peer), is_refused ? Path::kNone : Path::kProxy);
                EXPECT_EQ(pe.peers.state(peer, Path::kProxy),
                          is_refused ? PeerState::kRefused : PeerState::kUsable);
                EXPECT_EQ(pe.transport.receipts.contains(peer), !is_refused);
              }
              EXPECT_FALSE(pe.me() != 0 && pe.peers.all_by(Path::kProxy));
            }),
            kNoErrors);
}

TEST(Connector, ASecondJoiningFindsTheNewEndpointInfos) {
  EXPECT_EQ(run(
                [](Pe& pe) {
                  const auto endpoint_info_of = [&](int whose) {
                    return FabricDouble::pair("endpoint_info", whose, pe.round);
                  };
                  pe.transport.endpoint_info = FabricDouble::text(endpoint_info_of(pe.me()));
                  pe.connect();
                  for (int peer = 0; peer < kPes; ++peer)
                    EXPECT_EQ(pe.transport.endpoint_infos[peer], endpoint_info_of(peer));
                },
                2),
            kNoErrors);
}

// No PE reads more than one endpoint info; the others' stay available.
TEST(Connector, OnDemandAPePublishesItsEndpointInfoAndReadsThatOfTheFirst) {
  EXPECT_EQ(run([](Pe& pe) {
              const auto endpoint_info_of = [](int whose) {
                return FabricDouble::pair("endpoint_info", whose, 0);
              };
              pe.transport.on_demand = pe.transport.finds = true;
              pe.transport.endpoint_info = FabricDouble::text(endpoint_info_of(pe.me()));
              pe.connect();
              EXPECT_EQ(pe.transport.endpoint_infos[0], endpoint_info_of(0));
              for (int peer = 1; peer < kPes; ++peer)
                EXPECT_EQ(pe.transport.endpoint_infos.contains(peer), peer == pe.me());
              EXPECT_TRUE(pe.peers.all_by(Path::kProxy)) << "on demand";
              for (int peer = 0; peer < kPes; ++peer) {
                const auto left = pe.job.lookup(peer, key_of_endpoint_infos(Path::kProxy),
                                                std::chrono::steady_clock::now() + 20s);
                EXPECT_EQ(FabricDouble::text(read_endpoint_info(peer, left)),
                          endpoint_info_of(peer));
              }
            }),
            kNoErrors);
}

TEST(Connector, WhereTheFirstDoesNotUseItNoneIsReached) {
  EXPECT_EQ(run([](Pe& pe) {
              pe.transport.on_demand = pe.transport.finds = true;
              pe.transport.agrees = false;
              pe.connect();
              for (int peer = 0; peer < kPes; ++peer) EXPECT_EQ(pe.peers.path(peer), Path::kNone);
              EXPECT_FALSE(pe.peers.any_by(Path::kProxy));
            }),
            kNoErrors);
}

TEST(Connector, AEndpointInfoIsBounded) {
  for (const std::string& error : run([](Pe& pe) {
         pe.transport.endpoint_info = EndpointInfoBytes(kMostEndpointInfoBytes + 1);
         pe.connect();
       }))
    EXPECT_THAT(error, HasSubstr("an endpoint info of 513 bytes is longer than 512"));
}

// ---- Driven by the host -------------------------------------------------------------------------

// Posts all and polls until all have ended. Returns the statuses in the order of the ends.
std::vector<chimex_status> carry_out(HostDriven& driven, std::span<const HostRequest> requests) {
  std::vector<chimex_status> statuses;
  std::uint64_t posted = 0, ended = 0;
  while (ended < requests.size()) {
    while (posted < requests.size() && driven.post(requests[posted], posted)) ++posted;
    std::array<HostDriven::Ended, 2> some;
    const std::size_t count = driven.poll(some);
    for (const auto& one : std::span(some).first(count)) {
      EXPECT_EQ(one.completion, ended++);
      statuses.push_back(one.status);
    }
  }
  return statuses;
}

TEST(HostDriven, MoreRequestsThanThereIsRoomForEndInOrder) {
  EXPECT_EQ(run([](Pe& pe) {
              pe.connect();
              const int peer = (pe.me() + 1) % kPes;
              std::array<std::byte, 64> sent, got = {};
              for (std::size_t i = 0; i < sent.size(); ++i)
                sent[i] = static_cast<std::byte>(i + 64 * static_cast<std::size_t>(pe.me()));
              std::vector<HostRequest> requests;
              for (std::size_t i = 0; i < sent.size(); ++i)
                requests.push_back({HostRequest::Kind::kPut, peer, i, &sent[i], 1});
              requests.push_back({HostRequest::Kind::kGet, peer, 0, got.data(), got.size()});
              const auto statuses = carry_out(*pe.transport.host_driven(), requests);
              EXPECT_THAT(statuses, testing::Each(CHIMEX_OK));
              EXPECT_EQ(got, sent);
            }),
            kNoErrors);
}

TEST(HostDriven, WhatIsPostedToAFailedPeerFails) {
  EXPECT_EQ(run([](Pe& pe) {
              pe.connect();
              std::byte byte{};
              const HostRequest to_0{HostRequest::Kind::kPut, 0, 0, &byte, 1};
              const HostRequest to_1{HostRequest::Kind::kPut, 1, 0, &byte, 1};
              pe.transport.fail(1);
              EXPECT_THAT(carry_out(*pe.transport.host_driven(), std::array{to_0, to_1, to_0}),
                          testing::ElementsAre(CHIMEX_OK, CHIMEX_ERR_NETWORK, CHIMEX_OK));
            }),
            kNoErrors);
}

TEST(RegisteredBuffers, AreMadeKnownToEveryTransportThatPosts) {
  Fabric fabric;
  Transports transports;
  std::array<std::byte, 64> heap, memory;
  RegisteredBuffers buffers(heap, false, transports);
  const auto open = [&]() -> FabricDouble& {
    return static_cast<FabricDouble&>(
        transports.add(std::make_unique<FabricDouble>(fabric, 0, heap.data())));
  };
  const FabricDouble &first = open(), &second = open();
  buffers.add(memory.data(), 16);
  buffers.add(memory.data() + 16, 16);
  EXPECT_EQ(first.registrations, 2);
  EXPECT_EQ(second.registrations, 2);
  buffers.remove(memory.data());
  EXPECT_EQ(first.registrations, 1);
  buffers.remove_all();
  EXPECT_EQ(first.registrations + second.registrations, 0);
}

TEST(Transports, GoInTheReverseOfTheOrderInWhichTheyWereOpened) {
  Fabric fabric;
  std::array<std::byte, 64> heap;
  std::vector<std::string> gone;
  {
    Transports transports;
    for (const char* name : {"first", "second", "third"}) {
      auto opened = std::make_unique<FabricDouble>(fabric, 0, heap.data());
      opened->at_its_end = [&gone, name] { gone.emplace_back(name); };
      transports.add(std::move(opened));
    }
  }
  EXPECT_THAT(gone, testing::ElementsAre("third", "second", "first"));
}

}  // namespace
}  // namespace chime::host
