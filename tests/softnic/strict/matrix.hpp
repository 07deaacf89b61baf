// The rows and columns of the strict matrix: the kinds of requests, the services that have them,
// and the destination of a correct request.
#pragma once

#include <sys/mman.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "routes.hpp"

namespace direct::matrix {

// A kind of work request.
struct Kind {
  const char* name;
  std::uint8_t opcode;
  std::uint8_t opmod;
  unsigned operands;  // segments between the remote address and the data
  unsigned atomic_bytes;
  bool on_uc, on_ud;

  bool is_atomic() const { return atomic_bytes != 0; }
  bool is_masked() const { return opmod != 0; }
  bool is_nop() const { return opcode == kNop; }
  bool is_send() const {
    return opcode == kSend || opcode == kSendImm || opcode == kSendInvalidate;
  }
  bool is_remote() const { return !is_nop() && !is_send() && opcode != kDump; }
  bool is_read() const { return opcode == kRead || is_atomic(); }  // brings data back
  bool takes_a_receive() const { return is_send() || opcode == kWriteImm; }
  bool is_on(Service service) const {
    return service == Service::kRc || (service == Service::kUc ? on_uc : on_ud);
  }
  std::uint32_t bytes() const { return is_atomic() ? atomic_bytes : 8; }
};

inline constexpr Kind kKinds[] = {
    {"Nop", kNop, 0, 0, 0, true, true},
    {"Dump", kDump, 0, 0, 0, true, false},
    {"Write", kWrite, 0, 0, 0, true, false},
    {"WriteImm", kWriteImm, 0, 0, 0, true, false},
    {"Send", kSend, 0, 0, 0, true, true},
    {"SendImm", kSendImm, 0, 0, 0, true, true},
    {"SendInvalidate", kSendInvalidate, 0, 0, 0, true, false},
    {"Read", kRead, 0, 0, 0, false, false},
    {"FetchAdd", kFetchAdd, 0, 1, 8, false, false},
    {"CompareSwap", kCompareSwap, 0, 1, 8, false, false},
    {"MaskedFetchAdd4", kMaskedFetchAdd, kExtended4, 1, 4, false, false},
    {"MaskedFetchAdd8", kMaskedFetchAdd, kExtended8, 1, 8, false, false},
    {"MaskedCompareSwap4", kMaskedCompareSwap, kExtended4, 1, 4, false, false},
    {"MaskedCompareSwap8", kMaskedCompareSwap, kExtended8, 2, 8, false, false},
};

// An address and its key.
struct Place {
  void* address;
  std::uint32_t key;
};

// Memory of every kind that a request may wrongly name; one for all rows of a cell's test.
struct Places {
  static constexpr std::size_t kPage = 4096, kReceives = 8192;
  Memory local{1 << 14}, remote{1 << 14};
  Memory unwritable{kPage, 0};                      // by the NIC, at this side
  Memory ungranted{kPage, IBV_ACCESS_LOCAL_WRITE};  // to the other side
  ibv_pd* elsewhere = check(ibv_alloc_pd(Hca::instance().context()), "ibv_alloc_pd");
  std::unique_ptr<Memory> stranger = std::make_unique<Memory>(kPage, kAllAccess, elsewhere);
  Places() = default;
  Places(const Places&) = delete;
  ~Places() {
    for (ibv_mr* region : lost_) ibv_dereg_mr(region);
    stranger.reset();
    ibv_dealloc_pd(elsewhere);
  }

  // A page that is unmapped while it is registered; until the next page is mapped somewhere.
  Place lose_a_page() {
    void* page = ::mmap(nullptr, kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    lost_.push_back(check(ibv_reg_mr(Hca::instance().pd(), page, kPage, kAllAccess), "ibv_reg_mr"));
    ::munmap(page, kPage);
    return {page, lost_.back()->lkey};
  }

 private:
  std::vector<ibv_mr*> lost_;
};

// All parts of a request. A row of the matrix changes one of these.
struct Draft {
  const Kind& kind;
  Service service;
  std::vector<std::uint8_t> path;  // of a datagram
  std::uint32_t qkey, peer;
  Place remote, local;
  std::uint32_t remote_reserved = 0;
  std::uint64_t operand_tail = 0;  // the bytes after a 4-byte masked addition
  std::uint32_t vector_reserved = 0, vector_extended = 0x80000000u;
  std::function<void(Wqe&)> data = [this](Wqe& wqe) {
    wqe.data(local.address, kind.bytes(), local.key);
  };

  Wqe wqe() const {
    Wqe wqe(kind.opcode, kind.opmod);
    if (kind.is_nop()) return wqe;
    if (service == Service::kUd) {
      wqe.u32(qkey).u32(vector_reserved).u32(vector_extended | peer);
      wqe.bytes().insert(wqe.bytes().end(), path.begin(), path.end());
    }
    if (kind.is_remote())
      wqe.u64(reinterpret_cast<std::uint64_t>(remote.address)).u32(remote.key).u32(remote_reserved);
    if (kind.is_atomic()) operands(wqe);
    data(wqe);
    return wqe;
  }

 private:
  // Each changes the word, so that a request which was carried out shows.
  void operands(Wqe& wqe) const {
    if (!kind.is_masked()) {
      wqe.u64(1).u64(0);
    } else if (kind.operands == 2) {
      wqe.u64(1).u64(0).u64(~0ull).u64(0);
    } else if (kind.atomic_bytes == 8) {
      wqe.u64(1).u64(0);
    } else if (kind.opcode == kMaskedFetchAdd) {
      wqe.u32(1).u32(0).u64(operand_tail);
    } else {
      wqe.u32(1).u32(0).u32(~0u).u32(0);
    }
  }
};

}  // namespace direct::matrix
