// A NIC without a thread, with one queue pair: a test drives it turn by turn, so that every run is
// the same between two turns. Sides of one fabric reach each other by the link's own rings.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "softnic/engine/engine.hpp"
#include "softnic/wire/ring.hpp"

struct Side {
  static constexpr std::uint32_t kPd = 1, kBlocks = 16;
  static constexpr std::uint32_t kAllAccess =
      softnic::kLocalWrite | softnic::kRemoteWrite | softnic::kRemoteRead | softnic::kRemoteAtomic;
  struct There {
    std::uint64_t address;
    std::uint32_t rkey;
  };
  struct Here {
    const std::byte* at;
    std::uint32_t lkey;
    std::uint32_t bytes;
  };

  explicit Side(const std::string& fabric)
      : Side(softnic::make_shared_memory_link(fabric + std::to_string(::getpid()))) {}

  explicit Side(std::unique_ptr<softnic::Link> link)
      : device(link->address(), bar()), engine(device, std::move(link), "") {
    page = device.add_uar();
    softnic::CompletionQueue cq;
    cq.ring = entries.data();
    cq.records = records.data();
    cq.entries = kBlocks;
    cq.uar_page = page->page;
    softnic::QueuePair made;
    made.pd = kPd;
    made.state = softnic::QpState::kRts;
    made.uar_page = page->page;
    made.send_ring = ring.data();
    made.send_blocks = kBlocks;
    made.records = records.data() + 2;
    made.send_cqn = made.receive_cqn = device.add_cq(cq).cqn;
    made.access = kAllAccess;
    qp = device.add_qp(std::move(made));
    number = qp->qpn;
  }

  void connect(const Side& peer) const { qp->remote_qpn = peer.number; }

  std::uint32_t add_region(const std::byte* start, std::uint64_t bytes, std::uint32_t access) {
    softnic::MemoryRegion region;
    region.pd = kPd;
    region.start = region.iova = reinterpret_cast<std::uint64_t>(start);
    region.bytes = bytes;
    region.access = access;
    return device.add_region(region)->key;
  }

  void post_read(There from, Here to) { post(softnic::Opcode::kRead, from, to); }
  void post_write(Here from, There to) { post(softnic::Opcode::kWrite, to, from); }

  // The completions of the NIC so far, counted without wrap-around.
  unsigned completions() const { return device_cq().produced; }
  std::uint8_t syndrome(unsigned n) const {
    const std::byte* cqe = entries.data() + n * 64;
    const bool failed = std::to_integer<unsigned>(cqe[63]) >> 4 == 0xd;
    return failed ? std::to_integer<std::uint8_t>(cqe[55]) : 0;
  }

  std::vector<std::byte> entries = std::vector<std::byte>(kBlocks * 64);
  std::vector<std::byte> ring = std::vector<std::byte>(kBlocks * softnic::kBlock);
  std::vector<std::uint32_t> records = std::vector<std::uint32_t>(4);
  softnic::Device device;
  softnic::Engine engine;
  softnic::Uar* page = nullptr;
  softnic::QueuePair* qp = nullptr;
  std::uint32_t number = 0;  // of the queue pair

 private:
  static int bar() {
    static const int fd = [] {
      const int made = ::memfd_create("test-bar", MFD_CLOEXEC);
      if (made < 0 || ::ftruncate(made, 1 << 20) != 0) std::abort();
      return made;
    }();
    return fd;
  }
  const softnic::CompletionQueue& device_cq() const {
    return *const_cast<softnic::Device&>(device).cq(qp->send_cqn);
  }

  void post(softnic::Opcode opcode, There there, Here here) {
    constexpr std::uint32_t kSegments = 3;
    constexpr std::byte kAlways{0x08};
    std::byte* wqe = ring.data() + posted_ % kBlocks * softnic::kBlock;
    softnic::store_be32(wqe, posted_ << 8 | static_cast<std::uint32_t>(opcode));
    softnic::store_be32(wqe + 4, number << 8 | kSegments);
    wqe[11] = kAlways;
    softnic::store_be64(wqe + 16, there.address);
    softnic::store_be32(wqe + 24, there.rkey);
    softnic::store_be32(wqe + 32, here.bytes);
    softnic::store_be32(wqe + 36, here.lkey);
    softnic::store_be64(wqe + 40, reinterpret_cast<std::uint64_t>(here.at));
    softnic::store_be32(&records[3], ++posted_);
    page->words[0x800 / 8] = softnic::load<std::uint64_t>(wqe);
  }

  std::uint32_t posted_ = 0;
};

// Throws if `holds` does not become true.
template <class Condition>
void turn_until(Side& side, const Condition& holds) {
  const auto deadline = softnic::Clock::now() + std::chrono::seconds(60);
  while (!holds()) {
    if (softnic::Clock::now() > deadline) throw std::runtime_error("turned in vain");
    side.engine.turn();
  }
}
