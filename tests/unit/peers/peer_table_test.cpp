// Which path to a peer is used, how atomics are made, and why a peer is not reached.
#include "host/peers/peer_table.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "fabric_double.hpp"
#include "host/errors/error.hpp"
#include "host/peers/control.hpp"

namespace chime::host {
namespace {

constexpr int kMany = 1'000'000;

PeerTable::Job job_of(int n_pes, AmoChoice amo = AmoChoice::kAuto) { return {0, n_pes, amo}; }

void make_usable(PeerTable& peers, int pe, Path way, std::byte* mapped = nullptr) {
  peers.ask(pe, way);
  peers.connect(pe, way);
  peers.use(pe, way, mapped);
}

TEST(PeerTable, APathOpensStepByStep) {
  PeerTable peers(job_of(kMany));
  const int pe = kMany - 1;
  EXPECT_EQ(peers.state(pe, Path::kNic), PeerState::kUnknown);
  peers.ask(pe, Path::kNic);
  EXPECT_EQ(peers.state(pe, Path::kNic), PeerState::kAsked);
  peers.connect(pe, Path::kNic);
  EXPECT_EQ(peers.state(pe, Path::kNic), PeerState::kConnecting);
  EXPECT_EQ(peers.path(pe), Path::kNone);
  peers.use(pe, Path::kNic, nullptr);
  EXPECT_EQ(peers.state(pe, Path::kNic), PeerState::kUsable);
  EXPECT_EQ(peers.path(pe), Path::kNic);
  EXPECT_EQ(peers.state(pe, Path::kProxy), PeerState::kUnknown);
  EXPECT_EQ(peers.path(pe - 1), Path::kNone);
}

TEST(PeerTableDeathTest, AStepThatWasLeftOutEndsTheProcess) {
  PeerTable peers(job_of(2));
  EXPECT_DEATH(peers.use(1, Path::kNic, nullptr), "PE 1, path 2: state 0 came where 3 follows 2");
  peers.ask(1, Path::kNic);
  EXPECT_DEATH(peers.ask(1, Path::kNic), "state 1 came where 1 follows 0");
}

TEST(PeerTable, TheFirstUsablePathIsTakenAndStays) {
  PeerTable peers(job_of(3));
  std::byte heap{};
  make_usable(peers, 1, Path::kP2p, &heap);
  make_usable(peers, 1, Path::kNic);
  EXPECT_EQ(peers.path(1), Path::kP2p);
  EXPECT_EQ(peers.heap(1), &heap);
  EXPECT_EQ(peers.heap(2), nullptr);
}

TEST(PeerTable, ARefusedPeerIsReachedByTheNextPath) {
  PeerTable peers(job_of(2));
  peers.ask(1, Path::kP2p);
  peers.connect(1, Path::kP2p);
  peers.refuse(1, Path::kP2p);
  EXPECT_EQ(peers.state(1, Path::kP2p), PeerState::kRefused);
  EXPECT_EQ(peers.path(1), Path::kNone);
  make_usable(peers, 1, Path::kProxy);
  EXPECT_EQ(peers.path(1), Path::kProxy);
}

TEST(PeerTable, EveryTransportSaysWhyNot) {
  Fabric fabric;
  FabricDouble one(fabric, 0, nullptr), other(fabric, 0, nullptr);
  one.fabric_name = "first";
  other.fabric_name = "second";
  one.path = Path::kNic;
  PeerTable peers(job_of(4));
  peers.add(one);
  peers.add(other);
  EXPECT_EQ(peers.why_not(3),
            "PE 3 is not on the first fabric, and PE 3 is not on the second fabric");
}

TEST(PeerTable, WaysThatTheJobDoesNotLookForAreNamed) {
  Fabric doubles;
  FabricDouble node(doubles, 0, nullptr), nic(doubles, 0, nullptr), fabric(doubles, 0, nullptr);
  node.path = Path::kP2p;
  node.reach = Reach::kNode;
  node.fabric_name = "node's";
  nic.path = Path::kNic;
  nic.fabric_name = "NICs'";
  fabric.fabric_name = "job's";
  PeerTable peers(job_of(4));
  peers.add(node);
  EXPECT_EQ(peers.why_not(3),
            "PE 3 is not on the node's fabric, and CHIME_NIC=none (auto opens one), and "
            "CHIME_FABRIC=off (auto opens one)");
  peers.add(nic);
  EXPECT_EQ(peers.why_not(3),
            "PE 3 is not on the node's fabric, and PE 3 is not on the NICs' fabric, and "
            "CHIME_FABRIC=off (auto opens one)");
  peers.add(fabric);
  EXPECT_EQ(
      peers.why_not(3),
      "PE 3 is not on the node's fabric, and PE 3 is not on the NICs' fabric, and PE 3 is not "
      "on the job's fabric");
}

TEST(PeerTable, ADeadPeerHasNoPathAndTheFirstCauseCounts) {
  PeerTable peers(job_of(2));
  make_usable(peers, 1, Path::kNic);
  peers.bury(1, "process 7 has ended");
  peers.bury(1, "it does not answer");
  EXPECT_EQ(peers.state(1, Path::kNic), PeerState::kDead);
  EXPECT_EQ(peers.path(1), Path::kNone);
  EXPECT_EQ(peers.why_not(1), "PE 1 is gone: process 7 has ended");
}

// A thread that sees the death meanwhile waits until the peer's memory is taken.
TEST(PeerTable, ADeadPeersMemoryIsTakenWhenItIsSeenDead) {
  PeerTable peers(job_of(2));
  make_usable(peers, 1, Path::kP2p);
  std::atomic<bool> is_taken = false;
  std::thread seer;
  bool was_taken = false;
  peers.bury(1, "process 7 has ended", [&] {
    seer = std::thread([&] {
      while (!peers.is_dead(1)) std::this_thread::yield();
      was_taken = is_taken;
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    is_taken = true;
  });
  seer.join();
  EXPECT_TRUE(was_taken);
}

TEST(PeerTable, AllByCountsEachPeer) {
  PeerTable peers(job_of(3));
  for (const int pe : {0, 2}) make_usable(peers, pe, Path::kNic);
  EXPECT_FALSE(peers.all_by(Path::kNic));
  make_usable(peers, 1, Path::kNic);
  EXPECT_TRUE(peers.all_by(Path::kNic));
  EXPECT_FALSE(peers.all_by(Path::kP2p));
}

// Two PEs: which are mapped, which the NIC reaches, and the resulting path for each CHIME_AMO.
struct AmoRow {
  AmoChoice choice;
  int mapped, by_nic;
  Path path;
};

TEST(PeerTable, AtomicsGoByTheOwnersNicWhereAPeIsReachedByItAlone) {
  for (const AmoRow& row : {AmoRow{AmoChoice::kAuto, 2, 0, Path::kP2p},
                            {AmoChoice::kAuto, 2, 2, Path::kP2p},
                            {AmoChoice::kAuto, 1, 2, Path::kNic},
                            {AmoChoice::kAuto, 1, 1, Path::kP2p},
                            {AmoChoice::kP2p, 1, 2, Path::kP2p},
                            {AmoChoice::kOwner, 2, 2, Path::kNic},
                            {AmoChoice::kOwner, 1, 2, Path::kNic}}) {
    PeerTable peers(job_of(2, row.choice));
    for (int pe = 0; pe < row.mapped; ++pe) make_usable(peers, pe, Path::kP2p);
    for (int pe = 0; pe < row.by_nic; ++pe) make_usable(peers, pe, Path::kNic);
    EXPECT_EQ(peers.amo_path(), row.path) << row.mapped << " mapped, " << row.by_nic << " by NIC";
  }
  EXPECT_THROW(PeerTable(job_of(2, AmoChoice::kOwner)).amo_path(), Error);
}

// Where some PE has a NIC, the owners update the words of all PEs, also of those without a NIC:
// NICs work on words then. Where none has, processors alone do.
TEST(PeerTable, AtomicsGoByTheirOwnersWhereTheProxyReachesTheRest) {
  for (const bool some_have : {true, false}) {
    Fabric doubles;
    FabricDouble nic(doubles, 0, nullptr), fabric(doubles, 0, nullptr);
    nic.path = Path::kNic;
    nic.some_have = some_have;
    PeerTable peers(job_of(2));
    peers.add(nic);
    peers.add(fabric);
    make_usable(peers, 0, Path::kP2p);
    for (const int pe : {0, 1}) make_usable(peers, pe, Path::kProxy);
    EXPECT_EQ(peers.amo_path(), some_have ? Path::kNic : Path::kP2p);
    make_usable(peers, 1, Path::kP2p);
    EXPECT_EQ(peers.amo_path(), Path::kP2p) << "all are mapped";
  }
}

// Opened on demand: the NIC until it refuses, whatever other path exists meanwhile.
TEST(PeerTable, APeRefusedOnDemandIsReachedByTheNextPath) {
  Fabric doubles;
  FabricDouble nic(doubles, 0, nullptr), fabric(doubles, 0, nullptr);
  nic.path = Path::kNic;
  nic.on_demand = true;
  PeerTable peers(job_of(3));
  peers.add(nic);
  peers.add(fabric);
  for (const int pe : {1, 2}) make_usable(peers, pe, Path::kProxy);
  EXPECT_EQ(peers.path(1), Path::kNic) << "it will be";
  peers.refuse(1, Path::kNic, "no place");
  EXPECT_EQ(peers.path(1), Path::kProxy);
  make_usable(peers, 2, Path::kNic);
  EXPECT_EQ(peers.path(2), Path::kNic);
}

TEST(PeerTable, FindsControlPages) {
  PeerTable peers(job_of(2));
  ControlBlock block{};
  EXPECT_EQ(peers.control(1), nullptr);
  peers.set_control(1, &block);
  EXPECT_EQ(peers.control(1), &block);
  EXPECT_EQ(peers.control(0), nullptr);
}

}  // namespace
}  // namespace chime::host
