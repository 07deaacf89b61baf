#include "device.hpp"

#include <fcntl.h>
#include <rdma/ib_user_verbs.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <string>

#include "softnic/kernel/clock_page.hpp"
#include "softnic/kernel/mappings.hpp"
#include "softnic/observe/strict.hpp"

namespace softnic {
namespace {

std::uint32_t last_page(int bar_fd) {
  struct stat status {};
  ::syscall(SYS_fstat, bar_fd, &status);
  return static_cast<std::uint32_t>(status.st_size / kPageBytes - 1);
}
}  // namespace

Device::Device(std::uint32_t nic_address, int bar_fd)
    : nic_address_(nic_address), bar_fd_(bar_fd), pages_(1, last_page(bar_fd)) {}

MemoryRegion* Device::add_region(MemoryRegion region) {
  const auto index = keys_.take([this](std::uint32_t i) {
    const auto found = regions_.lower_bound(i << 8);
    return found != regions_.end() && found->first >> 8 == i;
  });
  if (!index) return nullptr;
  region.key = *index << 8 | region.variant;
  const std::uint32_t key = region.key;
  return &regions_.emplace(key, std::move(region)).first->second;
}

std::uint32_t Device::take_cqn() {
  return cqns_.take([this](std::uint32_t n) { return cqs_.contains(n) || srqs_.contains(n); })
      .value();
}

CompletionQueue& Device::add_cq(CompletionQueue cq) {
  cq.cqn = take_cqn();
  return cqs_.emplace(cq.cqn, cq).first->second;
}

QueuePair* Device::add_qp(QueuePair qp) {
  const std::uint32_t nic = nic_address_ << kQpIndexBits;
  const auto index = qp_indices_.take([&](std::uint32_t i) { return qps_.contains(nic | i); });
  if (!index) return nullptr;
  qp.qpn = nic | *index;
  return &qps_.emplace(qp.qpn, std::move(qp)).first->second;
}

SharedReceiveQueue& Device::add_srq(SharedReceiveQueue srq) {
  srq.srqn = take_cqn();
  return srqs_.emplace(srq.srqn, srq).first->second;
}

Device::~Device() {
  while (!uars_.empty()) remove_uar(uars_.begin()->first);
  while (!channels_.empty()) remove_channel(channels_.begin()->first);
}

// The kernel does not assign a page again while it is mapped, and libmlx5 unmaps it before it
// returns it. A program that does not, and posts doorbells after all other pages were assigned,
// reaches the next owner's page. A doorbell names its queue pair, so it only causes a look.
Uar* Device::add_uar() {
  const auto page =
      pages_.take([this](std::uint32_t p) { return p == kClockPage || uars_.contains(p); });
  if (!page) return nullptr;
  const long at = ::syscall(SYS_mmap, nullptr, kPageBytes, PROT_READ | PROT_WRITE, MAP_SHARED,
                            bar_fd_, *page * kPageBytes);
  if (at < 0 && at > -4096) return nullptr;
  auto* const words = reinterpret_cast<std::uint64_t*>(at);
  std::fill_n(words, kPageBytes / sizeof *words, 0);  // of the owner before
  return &uars_.emplace(*page, Uar{*page, words}).first->second;
}

std::uint32_t Device::add_umem(Umem umem) {
  umems_.emplace(next_umem_, umem);
  return next_umem_++;
}

std::uint32_t Device::add_pd() {
  const std::uint32_t pdn = pdns_.take([this](std::uint32_t n) { return has_pd(n); }).value();
  pds_.insert(pdn);
  return pdn;
}

int Device::add_devx_channel(bool tells_data) { return add_channel(O_DIRECT, tells_data); }

int Device::add_channel(int pipe_flags, bool tells_data) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC | pipe_flags) != 0) return -1;
  ::fcntl(ends[1], F_SETFL, O_NONBLOCK);
  const std::string same_pipe = "/proc/self/fd/" + std::to_string(ends[0]);
  const int drain = static_cast<int>(
      ::syscall(SYS_openat, AT_FDCWD, same_pipe.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC, 0));
  if (drain < 0) {
    for (const int end : ends) ::syscall(SYS_close, end);
    return -1;
  }
  remove_channel(ends[0]);  // of a channel that the program closed: its number is used again
  channels_[ends[0]] = {ends[0], ends[1], drain, tells_data, next_channel_++};
  return ends[0];
}

bool Device::is_pd_in_use(std::uint32_t pdn) const {
  const auto uses = [pdn](const auto& entry) { return entry.second.pd == pdn; };
  return std::ranges::any_of(regions_, uses) || std::ranges::any_of(qps_, uses) ||
         std::ranges::any_of(srqs_, uses);
}

bool Device::is_umem_in_use(std::uint32_t id) const {
  const auto uses = [id](const auto& entry) {
    const Owner& owner = entry.second.owner;
    return owner.umems[0] == id || owner.umems[1] == id;
  };
  return std::ranges::any_of(cqs_, uses) || std::ranges::any_of(qps_, uses) ||
         std::ranges::any_of(srqs_, uses);
}

void Device::remove_qp(std::uint32_t qpn) {
  qps_.erase(qpn);
  strict::forget(qpn);
}

void Device::remove_uar(std::uint32_t page) {
  auto found = uars_.find(page);
  if (found == uars_.end()) return;
  ::munmap(found->second.words, kPageBytes);
  uars_.erase(found);
}

void Device::remove_channel(int read_fd) {
  auto found = channels_.find(read_fd);
  if (found == channels_.end()) return;
  ::syscall(SYS_close, found->second.write_fd);
  ::syscall(SYS_close, found->second.drain_fd);
  channels_.erase(found);
}

namespace {
EventType type_of(AsyncEvent event) {
  switch (event) {
    case AsyncEvent::kCqError:
      return EventType::kCqError;
    case AsyncEvent::kQpRequestError:
      return EventType::kQpRequestError;
    case AsyncEvent::kQpAccessError:
      return EventType::kQpAccessError;
    case AsyncEvent::kQpLastWqeReached:
      return EventType::kQpLastWqeReached;
    case AsyncEvent::kSrqLimitReached:
      return EventType::kSrqLimitReached;
    case AsyncEvent::kQpFatal:
    case AsyncEvent::kDeviceFatal:  // of no object: raise_fatal()
      break;
  }
  return EventType::kQpFatal;
}

}  // namespace

const char* Device::refusal_of(MemoryRegion* r, std::uint64_t address, std::uint64_t bytes,
                               std::uint32_t access, std::uint32_t pd) const {
  if (!r) return "key-unknown";
  if (r->pd != pd) return "key-domain";
  const std::uint64_t offset = address - r->iova;
  if (address < r->iova || offset > r->bytes || bytes > r->bytes - offset) return "key-bounds";
  if ((r->access & access) != access) return "key-access";
  return is_there(*r, offset, bytes) ? nullptr : "key-unmapped";
}

// Hardware has the pages pinned; the softnic uses the program's own mapping. It checks the whole
// region once a turn, because a system call for each access costs as much as the access.
bool Device::is_there(MemoryRegion& r, std::uint64_t offset, std::uint64_t bytes) const {
  if (r.seen_in_turn == turn_ || r.gpu || !r.pieces.empty()) return true;
  if (!is_mapped(r.start, r.bytes)) return is_mapped(r.start + offset, bytes);
  r.seen_in_turn = turn_;
  return true;
}

const char* Device::refusal(std::uint32_t key, std::uint64_t address, std::uint64_t bytes,
                            std::uint32_t access, std::uint32_t pd) {
  return refusal_of(region(key), address, bytes, access, pd);
}

std::byte* Device::translate(std::uint32_t key, std::uint64_t address, std::uint64_t bytes,
                             std::uint32_t access, std::uint32_t pd) {
  MemoryRegion* r = region(key);
  if (refusal_of(r, address, bytes, access, pd)) return nullptr;
  const std::uint64_t offset = address - r->iova;
  return r->pieces.empty() ? reinterpret_cast<std::byte*>(r->start + offset)
                           : translate_pieces(*r, offset, bytes, access & kLocalWrite);
}

// The whole range must lie in one run of memory: scattered pieces are refused; no program here uses
// them.
std::byte* Device::translate_pieces(const MemoryRegion& indirect, std::uint64_t offset,
                                    std::uint64_t bytes, std::uint32_t access) {
  std::byte* start = nullptr;
  for (std::uint64_t done = 0; done < bytes || done == 0;) {
    const std::uint64_t at = offset + done;
    const std::uint64_t inside = at & ((1ull << indirect.log_piece) - 1);
    if (at >> indirect.log_piece >= indirect.pieces.size()) return nullptr;
    const MemoryRegion::Piece& piece = indirect.pieces[at >> indirect.log_piece];
    const MemoryRegion* of = region(piece.key);
    if (!of || !of->pieces.empty()) return nullptr;  // keys of keys are not supported
    const std::uint64_t part =
        std::min<std::uint64_t>(bytes - done, (1ull << indirect.log_piece) - inside);
    std::byte* here = translate(piece.key, piece.address + inside, part, access, indirect.pd);
    if (!here || (start && here != start + done)) return nullptr;
    if (!start) start = here;
    done += std::max<std::uint64_t>(part, 1);
  }
  return start;
}

// Removes the channel with it, unless its number names another one by now.
void Device::forget_file(int file) {
  const auto found = async_channels_.find(file);
  if (found == async_channels_.end()) return;
  const EventChannel* to_program = channel(found->second.read_fd);
  if (to_program && to_program->id == found->second.id) remove_channel(to_program->read_fd);
  async_channels_.erase(found);
}

int Device::async_channel(int file) const {
  const auto found = async_channels_.find(file);
  return found == async_channels_.end() ? -1 : found->second.read_fd;
}

void Device::set_async_channel(int file, int read_fd) {
  async_channels_[file] = {read_fd, channels_.at(read_fd).id};
  if (is_gone_) say_that_it_is_gone(read_fd);
}

void Device::raise_fatal() {
  is_gone_ = true;
  for (const auto& [file, known] : async_channels_) say_that_it_is_gone(known.read_fd);
}

void Device::say_that_it_is_gone(int read_fd) {
  const EventChannel* const to_program = channel(read_fd);
  if (to_program == nullptr) return;
  ib_uverbs_async_event_desc description{};
  description.event_type = static_cast<std::uint32_t>(AsyncEvent::kDeviceFatal);
  [[maybe_unused]] auto sent =
      ::syscall(SYS_write, to_program->write_fd, &description, sizeof description);
}

void Device::tell_subscribers(EventType type, const Owner& owner) {
  struct Notification {
    std::uint64_t cookie;
    EventEntry entry;
  };
  for (const Owner::Subscription& s : owner.subscriptions) {
    const EventChannel* to = channel(s.read_fd);
    if (s.type != type || !to || to->id != s.channel) continue;
    const Notification notification{s.counter ? 1 : s.cookie, event_entry(type, s.number)};
    const bool with_entry = to->tells_data && !s.counter;
    [[maybe_unused]] auto sent =
        ::syscall(SYS_write, s.counter ? *s.counter : to->write_fd, &notification,
                  with_entry ? sizeof notification : sizeof notification.cookie);
  }
}

void Device::raise(AsyncEvent event, Owner& owner) {
  tell_subscribers(type_of(event), owner);
  const EventChannel* to_program = owner.is_devx ? nullptr : channel(async_channel(owner.file));
  if (!to_program) return;
  ib_uverbs_async_event_desc description{};
  description.element = owner.user_handle;
  description.event_type = static_cast<std::uint32_t>(event);
  if (::syscall(SYS_write, to_program->write_fd, &description, sizeof description) ==
      sizeof description)
    ++owner.async_events;
}

}  // namespace softnic
