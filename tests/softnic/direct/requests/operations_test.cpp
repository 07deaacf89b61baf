// The effect of each opcode on memory, and the contents of its completion.

#include <chrono>
#include <cstring>
#include <thread>
#include <vector>

#include "routes.hpp"

namespace direct {
namespace {

class Operations : public Connected {
 protected:
  void expect_same(std::size_t remote_at, std::size_t local_at, std::size_t count) {
    EXPECT_EQ(0, std::memcmp(remote.at(remote_at), local.at(local_at), count)) << count << " bytes";
  }
};
CHIME_OVER_ALL_ROUTES(Operations);

constexpr std::size_t kSizes[] = {1,    7,    8,    9,     63,        64,     65,
                                  4095, 4096, 4097, 16384, 65536 + 3, 1 << 20};

TEST_P(Operations, WriteMovesEverySizeAndNothingBeside) {
  for (std::size_t bytes : kSizes) {
    local.fill(5, bytes, static_cast<unsigned>(bytes));
    std::memset(remote.at(0), 0x5a, bytes + 64);
    const Cqe cqe =
        complete(left, Wqe(kWrite)
                           .remote(remote.at(3), remote.rkey())
                           .data(local.at(5), static_cast<std::uint32_t>(bytes), local.lkey()));
    EXPECT_EQ(cqe.wqe_opcode(), kWrite);
    expect_same(3, 5, bytes);
    EXPECT_EQ(*remote.at(2), 0x5a);
    EXPECT_EQ(*remote.at(3 + bytes), 0x5a);
  }
}

TEST_P(Operations, ReadMovesEverySizeAndNothingBeside) {
  for (std::size_t bytes : kSizes) {
    remote.fill(3, bytes, static_cast<unsigned>(bytes) + 1);
    std::memset(local.at(0), 0x5a, bytes + 64);
    const Cqe cqe =
        complete(left, Wqe(kRead)
                           .remote(remote.at(3), remote.rkey())
                           .data(local.at(5), static_cast<std::uint32_t>(bytes), local.lkey()));
    EXPECT_EQ(cqe.wqe_opcode(), kRead);
    EXPECT_EQ(cqe.byte_count(), bytes);
    expect_same(3, 5, bytes);
    EXPECT_EQ(*local.at(4), 0x5a);
    EXPECT_EQ(*local.at(5 + bytes), 0x5a);
  }
}

TEST_P(Operations, InlineWriteCarriesItsBytesInTheRequest) {
  for (std::uint32_t bytes = 1; bytes <= 220; bytes += bytes < 60 ? 1 : 13) {
    local.fill(0, bytes, bytes);
    std::memset(remote.at(0), 0x5a, 256);
    complete(left, Wqe(kWrite).remote(remote.at(1), remote.rkey()).inlined(local.at(0), bytes));
    expect_same(1, 0, bytes);
    EXPECT_EQ(*remote.at(0), 0x5a);
    EXPECT_EQ(*remote.at(1 + bytes), 0x5a);
  }
}

TEST_P(Operations, GatherTakesPiecesInTheirOrder) {
  local.fill(0, 8192, 1);
  complete(left, Wqe(kWrite)
                     .remote(remote.at(0), remote.rkey())
                     .data(local.at(4000), 100, local.lkey())
                     .data(local.at(10), 1, local.lkey())
                     .data(local.at(100), 3000, local.lkey())
                     .data(local.at(7), 13, local.lkey()));
  expect_same(0, 4000, 100);
  expect_same(100, 10, 1);
  expect_same(101, 100, 3000);
  expect_same(3101, 7, 13);
}

TEST_P(Operations, InlineAndPointedPiecesMixInOneRequest) {
  local.fill(0, 4096, 9);
  const std::uint64_t head = 0x1122334455667788, tail = 0x99aabbccddeeff00;
  complete(left, Wqe(kWrite)
                     .remote(remote.at(0), remote.rkey())
                     .inlined(&head, 8)
                     .data(local.at(256), 200, local.lkey())
                     .inlined(&tail, 8));
  EXPECT_EQ(remote.word(0), head);
  expect_same(8, 256, 200);
  EXPECT_EQ(remote.word(208), tail);
}

TEST_P(Operations, ReadScattersOverPieces) {
  remote.fill(0, 4096, 2);
  complete(left, Wqe(kRead)
                     .remote(remote.at(0), remote.rkey())
                     .data(local.at(1000), 10, local.lkey())
                     .data(local.at(0), 500, local.lkey())
                     .data(local.at(2000), 3, local.lkey()));
  expect_same(0, 1000, 10);
  expect_same(10, 0, 500);
  expect_same(510, 2000, 3);
}

TEST_P(Operations, WriteWithImmediateConsumesAReceive) {
  local.fill(0, 40000, 3);
  const std::uint16_t posted = right.receives.post({});
  complete(left, Wqe(kWriteImm)
                     .immediate(0xcafe0123)
                     .remote(remote.at(8), remote.rkey())
                     .data(local.at(0), 40000, local.lkey()));
  const Cqe cqe = right.received.next();
  EXPECT_EQ(cqe.opcode(), 1);
  EXPECT_EQ(cqe.immediate(), 0xcafe0123u);
  EXPECT_EQ(cqe.byte_count(), 40000u);
  EXPECT_EQ(cqe.counter(), posted);
  EXPECT_EQ(cqe.qpn(), right.qpn());
  expect_same(8, 0, 40000);
}

TEST_P(Operations, SendScattersIntoTheReceive) {
  local.fill(0, 3000, 4);
  const std::uint16_t posted = right.receives.post({{remote.at(0), 1000, remote.lkey()},
                                                    {remote.at(5000), 1, remote.lkey()},
                                                    {remote.at(6000), 9000, remote.lkey()}});
  complete(left, Wqe(kSend).data(local.at(0), 3000, local.lkey()));
  const Cqe cqe = right.received.next();
  EXPECT_EQ(cqe.opcode(), 2);
  EXPECT_EQ(cqe.byte_count(), 3000u);
  EXPECT_EQ(cqe.counter(), posted);
  EXPECT_FALSE(cqe.is_solicited());
  expect_same(0, 0, 1000);
  expect_same(5000, 1000, 1);
  expect_same(6000, 1001, 1999);
}

// The messages are longer than a packet, and pieces end inside packets: the second packet begins
// within a piece.
TEST_P(Operations, MessagesOfManyPacketsMoveOverManyPieces) {
  struct Part {
    std::size_t at;
    std::uint32_t bytes;
  };
  constexpr Part kParts[] = {{100, 20000}, {50000, 11}, {60000, 30000}, {120000, 9999}};
  constexpr std::uint32_t kAll = 20000 + 11 + 30000 + 9999;
  const auto expect_parts = [&](const Memory& scattered, const Memory& whole, const char* what) {
    std::size_t at = 0;
    for (const Part& part : kParts) {
      EXPECT_EQ(0, std::memcmp(scattered.at(part.at), whole.at(at), part.bytes)) << what << at;
      at += part.bytes;
    }
  };
  const auto over_local = [&](Wqe wqe) {
    for (const Part& part : kParts) wqe.data(local.at(part.at), part.bytes, local.lkey());
    return wqe;
  };
  remote.fill(0, kAll, 6);
  complete(left, over_local(Wqe(kRead).remote(remote.at(0), remote.rkey())));
  expect_parts(local, remote, "read at ");

  local.fill(0, 200000, 7);
  complete(left, over_local(Wqe(kWrite).remote(remote.at(0), remote.rkey())));
  expect_parts(local, remote, "write at ");

  local.fill(0, kAll, 8);
  std::vector<ReceiveQueue::Piece> pieces;
  for (const Part& part : kParts) pieces.push_back({remote.at(part.at), part.bytes, remote.lkey()});
  right.receives.post(pieces);
  complete(left, Wqe(kSend).data(local.at(0), kAll, local.lkey()));
  EXPECT_EQ(right.received.next().byte_count(), kAll);
  expect_parts(remote, local, "send at ");
}

TEST_P(Operations, SendWithImmediateCarriesBoth) {
  local.fill(0, 64, 5);
  right.receives.post({{remote.at(0), 64, remote.lkey()}});
  complete(left, Wqe(kSendImm).immediate(0x01020304).data(local.at(0), 64, local.lkey()));
  const Cqe cqe = right.received.next();
  EXPECT_EQ(cqe.opcode(), 3);
  EXPECT_EQ(cqe.immediate(), 0x01020304u);
  expect_same(0, 0, 64);
}

TEST_P(Operations, SolicitedShowsInTheReceiversCompletion) {
  for (const std::uint8_t opcode : {kSend, kSendImm}) {
    right.receives.post({{remote.at(0), 64, remote.lkey()}});
    complete(left, Wqe(opcode).solicited().data(local.at(0), 8, local.lkey()));
    EXPECT_TRUE(right.received.next().is_solicited());
  }
  right.receives.post({});
  complete(left, Wqe(kWriteImm)
                     .solicited()
                     .remote(remote.at(0), remote.rkey())
                     .data(local.at(0), 8, local.lkey()));
  EXPECT_TRUE(right.received.next().is_solicited());
}

TEST_P(Operations, NothingToMoveIsAMessageAllTheSame) {
  complete(left, Wqe(kWrite).remote(nullptr, 0));
  complete(left, Wqe(kRead).remote(nullptr, 0));
  right.receives.post({});
  complete(left, Wqe(kSend));
  EXPECT_EQ(right.received.next().byte_count(), 0u);
  right.receives.post({});
  complete(left, Wqe(kWriteImm).immediate(7).remote(nullptr, 0));
  EXPECT_EQ(right.received.next().immediate(), 7u);
}

TEST_P(Operations, NopAndDumpCompleteAndMoveNothing) {
  EXPECT_EQ(complete(left, Wqe(kNop)).wqe_opcode(), kNop);
  local.fill(0, 64, 6);
  std::memset(remote.at(0), 0, 64);
  EXPECT_EQ(complete(left, Wqe(kDump).data(local.at(0), 64, local.lkey())).wqe_opcode(), kDump);
  EXPECT_EQ(remote.word(0), 0u);
}

// A long NOP pads the end of a queue, and no program clears its blocks first.
TEST_P(Operations, NopIsNotReadBehindItsControlSegment) {
  Wqe padding(kNop);
  for (int i = 0; i < 6; ++i) padding.u64(0xdeadbeef00000000ull);
  EXPECT_EQ(complete(left, padding).wqe_opcode(), kNop);
  EXPECT_EQ(complete(left, Wqe(kNop).u64(0).u64(0)).wqe_opcode(), kNop);
  Options datagrams;
  datagrams.service = Service::kUd;
  Pair ud(route(), datagrams);
  EXPECT_EQ(complete(*ud.left, Wqe(kNop)).wqe_opcode(), kNop);
}

// Only queue pairs that enable these fields use them. UCX leaves old bytes of its ring there.
TEST_P(Operations, SignatureAndStreamAreNotRead) {
  Wqe dirty = write(0, 0, 64);
  for (const unsigned at : {8, 9, 10}) dirty.bytes()[at] = 0xa5;
  complete(left, dirty);
}

// A program that never reads may say so.
TEST_P(Operations, WritesNeedNoRoomForReads) {
  Options none;
  none.max_reads = route().devx ? 1 : 0;
  Pair writers(route(), none);
  complete(*writers.left, write(0, 0, 64));
}

TEST_P(Operations, CompletionNamesQueuePairIndexAndOpcode) {
  for (int i = 0; i < 3; ++i) {
    const std::uint16_t index = left.sends.post_and_ring(
        Wqe(kWrite).remote(remote.at(0), remote.rkey()).data(local.at(0), 8, local.lkey()));
    const Cqe cqe = left.sent.retired(index);
    EXPECT_EQ(cqe.qpn(), left.qpn());
    EXPECT_EQ(cqe.counter(), index);
    EXPECT_EQ(cqe.wqe_opcode(), kWrite);
  }
}

TEST_P(Operations, BothDirectionsAtOnce) {
  local.fill(0, 65536, 7);
  remote.fill(65536, 65536, 8);
  for (int round = 0; round < 20; ++round) {
    const std::uint16_t l = left.sends.post_and_ring(
        Wqe(kWrite).remote(remote.at(0), remote.rkey()).data(local.at(0), 65536, local.lkey()));
    const std::uint16_t r =
        right.sends.post_and_ring(Wqe(kWrite)
                                      .remote(local.at(65536), local.rkey())
                                      .data(remote.at(65536), 65536, remote.lkey()));
    left.sent.retired(l);
    right.sent.retired(r);
  }
  expect_same(0, 0, 65536);
  expect_same(65536, 65536, 65536);
}

// An unreliable queue pair completes when it has sent. A message that finds no receive is dropped.
TEST_P(Operations, UnreliableConnectionWritesAndDropsWithoutAReceive) {
  Options options;
  options.service = Service::kUc;
  Pair uc(route(), options);
  local.fill(0, 20000, 11);
  complete(*uc.left, Wqe(kSend).data(local.at(0), 8, local.lkey()));  // no receive: dropped
  complete(
      *uc.left,
      Wqe(kWrite).remote(remote.at(8192), remote.rkey()).data(local.at(0), 20000, local.lkey()));
  // Completed means sent. Once the later write has arrived, the message has been dropped.
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (std::memcmp(remote.at(8192), local.at(0), 20000) != 0 &&
         std::chrono::steady_clock::now() < deadline)
    std::this_thread::yield();
  uc.right->receives.post({{remote.at(4096), 4096, remote.lkey()}});
  complete(*uc.left, Wqe(kSend).data(local.at(100), 50, local.lkey()));
  EXPECT_EQ(uc.right->received.next().byte_count(), 50u);
  expect_same(4096, 100, 50);
  expect_same(8192, 0, 20000);
}

// Datagrams: an address vector in every request, and 40 bytes before the payload at the receiver.
TEST_P(Operations, DatagramArrivesBehindItsRouteHeader) {
  Options options;
  options.service = Service::kUd;
  Pair ud(route(), options);
  const std::vector<std::uint8_t> path = Hca::instance().address_vector();
  local.fill(0, 256, 12);
  const auto datagram = [&](std::uint32_t qkey) {
    return Wqe(kSendImm)
        .immediate(9)
        .vector(path, qkey, ud.right->qpn())
        .data(local.at(0), 256, local.lkey());
  };
  ud.right->receives.post({{remote.at(0), 40 + 256, remote.lkey()}});
  complete(*ud.left, datagram(0x9999));  // wrong key: silently dropped
  complete(*ud.left, datagram(0x1234));
  const Cqe cqe = ud.right->received.next();
  EXPECT_EQ(cqe.byte_count(), 40u + 256u);
  EXPECT_EQ(cqe.remote_qpn(), ud.left->qpn());
  EXPECT_EQ(cqe.immediate(), 9u);
  const bool has_route_header = cqe.word(24) >> 28 & 3;
  EXPECT_EQ(has_route_header, Hca::instance().is_ethernet());
  expect_same(40, 0, 256);

  // A key with the highest bit set stands for the sender's own (IBA 10.2.5).
  ud.right->receives.post({{remote.at(0), 40 + 256, remote.lkey()}});
  complete(*ud.left, datagram(0x80009999));
  EXPECT_EQ(ud.right->received.next().byte_count(), 40u + 256u);
}

}  // namespace
}  // namespace direct
