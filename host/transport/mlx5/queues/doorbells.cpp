#include "host/transport/mlx5/queues/doorbells.hpp"

#include <utility>

#include "host/errors/error.hpp"

namespace chime::host::mlx5 {
namespace {
constexpr std::uintptr_t kPage = 4096;
}

Doorbells::Doorbells(NicDoorbell choice, MapPage map_page, std::span<std::uint64_t> mailboxes)
    : choice_(choice), map_page_(std::move(map_page)), mailboxes_(mailboxes) {
  if (choice == NicDoorbell::kCpu) why_mailboxes_ = "CHIME_NIC_DOORBELL=cpu";
}

std::uint64_t* Doorbells::map(void* reg) {
  if (why_mailboxes_.empty()) {
    try {
      return map_page_of(reinterpret_cast<std::uintptr_t>(reg));
    } catch (const Error& error) {
      if (choice_ == NicDoorbell::kDirect) throw;
      why_mailboxes_ = error.message();
    }
  }
  return next_mailbox(static_cast<std::uint64_t*>(reg));
}

std::uint64_t* Doorbells::map_page_of(std::uintptr_t reg) {
  const std::uintptr_t page = reg & ~(kPage - 1);
  std::unique_ptr<IoMapping>& mapping = mapped_[page];
  if (!mapping) mapping = map_page_(reinterpret_cast<std::byte*>(page), kPage);
  return reinterpret_cast<std::uint64_t*>(mapping->address() + (reg - page));
}

std::uint64_t* Doorbells::next_mailbox(std::uint64_t* reg) {
  if (!writer_) writer_ = std::make_unique<DoorbellWriter>();
  std::uint64_t* const mailbox = &mailboxes_.front();
  mailboxes_ = mailboxes_.subspan(1);
  writer_->add(mailbox, reg);
  return mailbox;
}

std::unique_ptr<DoorbellWriter> Doorbells::start() {
  if (writer_) writer_->start();
  return std::move(writer_);
}

std::string Doorbells::describe() const {
  return why_mailboxes_.empty() ? "rung by kernels"
                                : "rung by a host thread (" + why_mailboxes_ + ")";
}

}  // namespace chime::host::mlx5
