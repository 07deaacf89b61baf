#include "fabric_rival.hpp"

#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <sched.h>

#include <array>
#include <chrono>
#include <cstring>
#include <stdexcept>
#include <vector>

namespace chime::perf {
namespace {

constexpr std::uint32_t kInterface = FI_VERSION(1, 17);
constexpr std::size_t kEntries = 4096;  // completions that are not yet read

void check(long result, const char* what) {
  if (result < 0)
    throw std::runtime_error(std::string(what) + ": " + fi_strerror(static_cast<int>(-result)));
}

struct Close {
  template <class Object>
  void operator()(Object* object) const {
    fi_close(&object->fid);
  }
};
template <class Object>
using Owned = std::unique_ptr<Object, Close>;

struct FreeInfo {
  void operator()(fi_info* info) const { fi_freeinfo(info); }
};
using Info = std::unique_ptr<fi_info, FreeInfo>;

// Chime's requirements, without those for messages.
Info find(const std::string& provider) {
  const Info hints(fi_allocinfo());
  hints->caps = FI_MSG | FI_RMA | FI_WRITE | FI_REMOTE_WRITE;
  hints->mode = FI_CONTEXT | FI_CONTEXT2;
  hints->ep_attr->type = FI_EP_RDM;
  hints->domain_attr->mr_mode =
      FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_ENDPOINT;
  hints->domain_attr->threading = FI_THREAD_SAFE;
  hints->domain_attr->resource_mgmt = FI_RM_ENABLED;
  hints->fabric_attr->prov_name = ::strdup(provider.c_str());
  const bool speaks_tcp = provider.starts_with("tcp");
  fi_info* found = nullptr;
  check(fi_getinfo(kInterface, speaks_tcp ? "127.0.0.1" : nullptr, nullptr,
                   speaks_tcp ? FI_SOURCE : 0, hints.get(), &found),
        ("libfabric's provider " + provider).c_str());
  return Info(found);
}

class Endpoint final : public FabricRival {
 public:
  Endpoint(const std::string& provider, std::size_t bytes)
      : info_(find(provider)),
        half_((bytes + sizeof(std::uint64_t) + 63) / 64 * 64),
        memory_(2 * half_ / sizeof(std::uint64_t)),
        contexts_(kEntries) {
    check(fi_fabric(info_->fabric_attr, out(fabric_), nullptr), "fi_fabric");
    check(fi_domain(fabric_.get(), info_.get(), out(domain_), nullptr), "fi_domain");
    fi_av_attr table{};
    table.type = FI_AV_TABLE;
    check(fi_av_open(domain_.get(), &table, out(addresses_), nullptr), "fi_av_open");
    fi_cq_attr queue{};
    queue.size = kEntries;
    queue.format = FI_CQ_FORMAT_CONTEXT;
    check(fi_cq_open(domain_.get(), &queue, out(completions_), nullptr), "fi_cq_open");
    check(fi_endpoint(domain_.get(), info_.get(), out(endpoint_), nullptr), "fi_endpoint");
    check(fi_ep_bind(endpoint_.get(), &addresses_->fid, 0), "fi_ep_bind");
    check(fi_ep_bind(endpoint_.get(), &completions_->fid, FI_TRANSMIT | FI_RECV), "fi_ep_bind");
    check(fi_enable(endpoint_.get()), "fi_enable");
    check(fi_mr_reg(domain_.get(), memory_.data(), 2 * half_, FI_WRITE | FI_REMOTE_WRITE, 0, 1, 0,
                    out(region_), nullptr),
          "fi_mr_reg");
    if ((info_->domain_attr->mr_mode & FI_MR_ENDPOINT) != 0) {
      check(fi_mr_bind(region_.get(), &endpoint_->fid, 0), "fi_mr_bind");
      check(fi_mr_enable(region_.get()), "fi_mr_enable");
    }
  }

  EndpointInfo endpoint_info() const override {
    EndpointInfo endpoint_info{};
    const bool by_address = (info_->domain_attr->mr_mode & FI_MR_VIRT_ADDR) != 0;
    endpoint_info.memory = by_address ? reinterpret_cast<std::uint64_t>(memory_.data()) : 0;
    endpoint_info.key = fi_mr_key(region_.get());
    std::size_t bytes = sizeof endpoint_info.address;
    check(fi_getname(&endpoint_->fid, endpoint_info.address, &bytes), "fi_getname");
    endpoint_info.address_bytes = bytes;
    return endpoint_info;
  }

  void connect(const EndpointInfo& peer) override {
    peer_ = peer;
    if (fi_av_insert(addresses_.get(), peer.address, 1, &address_, 0, nullptr) != 1)
      throw std::runtime_error("fi_av_insert refuses the peer's address");
  }

  void write(std::size_t bytes, Ends ends) override { post(0, bytes, ends); }
  void write_word(std::uint64_t value, Ends ends) override {
    std::memcpy(source() + word_at(), &value, sizeof value);
    post(word_at(), sizeof value, ends);
  }
  std::uint64_t word() const override {
    return std::atomic_ref(const_cast<std::uint64_t&>(memory_[word_at() / sizeof(std::uint64_t)]))
        .load(std::memory_order_acquire);
  }

  bool progress() override {
    std::array<fi_cq_entry, 32> entries;
    const long count = fi_cq_read(completions_.get(), entries.data(), entries.size());
    if (count == -FI_EAGAIN) return false;
    check(count, "a write has failed");
    ended_.fetch_add(static_cast<std::uint64_t>(count), std::memory_order_release);
    return count != 0;
  }
  std::uint64_t ended() const override { return ended_.load(std::memory_order_acquire); }

 private:
  // The place where a call stores its new object.
  template <class Object>
  class Out {
   public:
    explicit Out(Owned<Object>& owner) : owner_(owner) {}
    ~Out() { owner_.reset(made_); }
    operator Object**() { return &made_; }

   private:
    Owned<Object>& owner_;
    Object* made_ = nullptr;
  };
  template <class Object>
  static Out<Object> out(Owned<Object>& owner) {
    return Out<Object>(owner);
  }

  // The other side writes to the first half of the memory, which ends with the word; this side
  // sends from the second.
  std::byte* source() { return reinterpret_cast<std::byte*>(memory_.data()) + half_; }
  std::size_t word_at() const { return half_ - sizeof(std::uint64_t); }

  void post(std::size_t at, std::size_t bytes, Ends ends) {
    iovec here{source() + at, bytes};
    fi_rma_iov there{peer_.memory + at, bytes, peer_.key};
    void* key = fi_mr_desc(region_.get());
    fi_msg_rma message{};
    message.msg_iov = &here;
    message.desc = &key;
    message.iov_count = 1;
    message.addr = address_;
    message.rma_iov = &there;
    message.rma_iov_count = 1;
    message.context = &contexts_[posted_++ % contexts_.size()];
    const std::uint64_t flags = FI_COMPLETION |
                                (ends == Ends::kDelivered ? FI_DELIVERY_COMPLETE : 0) |
                                (bytes <= info_->tx_attr->inject_size ? FI_INJECT : 0);
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    for (;;) {
      const long result = fi_writemsg(endpoint_.get(), &message, flags);
      if (result == 0) return;
      if (result != -FI_EAGAIN) check(result, "fi_writemsg");
      if (std::chrono::steady_clock::now() > deadline)
        throw std::runtime_error("for 30 s libfabric has had no room for a write");
      if (!progress()) sched_yield();
    }
  }

  const Info info_;
  const std::size_t half_;  // in bytes
  std::vector<std::uint64_t> memory_;
  std::vector<fi_context2> contexts_;
  Owned<fid_fabric> fabric_;
  Owned<fid_domain> domain_;
  Owned<fid_av> addresses_;
  Owned<fid_cq> completions_;
  Owned<fid_ep> endpoint_;
  Owned<fid_mr> region_;
  EndpointInfo peer_{};
  fi_addr_t address_ = FI_ADDR_UNSPEC;
  std::uint64_t posted_ = 0;
  std::atomic<std::uint64_t> ended_{0};
};

}  // namespace

std::unique_ptr<FabricRival> FabricRival::open(const std::string& provider, std::size_t bytes) {
  return std::make_unique<Endpoint>(provider, bytes);
}

FabricThread::FabricThread(FabricRival& rival)
    : thread_([this, &rival] {
        while (!is_over_.load(std::memory_order_relaxed))
          if (!rival.progress()) sched_yield();
      }) {}

FabricThread::~FabricThread() {
  is_over_ = true;
  thread_.join();
}

}  // namespace chime::perf
