#include "host/transport/ofi/requests/words.hpp"

#include <fmt/format.h>

namespace chime::host::ofi {
namespace {

std::string describe(const MessageBatch& batch) {
  return fmt::format("a batch of messages (atomics, puts of few bytes, answers) to PE {}",
                     batch.to);
}

}  // namespace

std::string describe(const HostRequest& wanted) {
  switch (wanted.kind) {
    case HostRequest::Kind::kPut:
      return fmt::format("a put of {} bytes to PE {}", wanted.bytes, wanted.pe);
    case HostRequest::Kind::kGet:
      return fmt::format("a get of {} bytes from PE {}", wanted.bytes, wanted.pe);
    case HostRequest::Kind::kAtomic:
      break;
  }
  return fmt::format("an atomic on PE {}", wanted.pe);
}

std::string failed(const Posted& posted, const ProviderFacts& provider, const std::string& words) {
  const std::string what = posted.kind == Posted::Kind::kMessageBatch
                               ? describe(static_cast<const MessageBatch&>(posted))
                               : describe(static_cast<const Request&>(posted).wanted);
  return fmt::format(
      "{} by libfabric's {} failed: {}; look whether that PE has ended, and whether its address "
      "can be reached from here (CHIME_IFACE chooses it)",
      what, provider.name, words);
}

}  // namespace chime::host::ofi
