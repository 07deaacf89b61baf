#include "bootstrap/wire.hpp"

namespace chime::bootstrap {
namespace {

class Statement {
 public:
  explicit Statement(std::string_view purpose) { add(std::as_bytes(std::span(purpose))); }
  Statement& add(std::span<const std::byte> part) {
    bytes_.insert(bytes_.end(), part.begin(), part.end());
    return *this;
  }
  Digest proof(const Token& token) const { return hmac_sha256(token, bytes_); }

 private:
  Bytes bytes_;
};

}  // namespace

std::optional<Bytes> MessageStream::next(std::size_t limit) {
  std::uint32_t length;
  if (bytes_.size() < sizeof length) return std::nullopt;
  std::memcpy(&length, bytes_.data(), sizeof length);
  if (length == 0 || length > limit)
    throw BootstrapError("a message of " + std::to_string(length) + " bytes where at most " +
                         std::to_string(limit) + " are allowed");
  if (bytes_.size() - sizeof length < length) return std::nullopt;
  const auto begin = bytes_.begin() + sizeof length;
  Bytes message(begin, begin + length);
  bytes_.erase(bytes_.begin(), begin + length);
  return message;
}

Digest pe_proof(const Token& token, const Token& hub_nonce, const Token& pe_nonce, int pe,
                int n_pes) {
  const std::int32_t numbers[] = {pe, n_pes};
  return Statement("chime: a PE knows the token")
      .add(hub_nonce)
      .add(pe_nonce)
      .add(std::as_bytes(std::span(numbers)))
      .proof(token);
}

Digest hub_proof(const Token& token, const Token& hub_nonce, const Token& pe_nonce) {
  return Statement("chime: the hub knows the token").add(hub_nonce).add(pe_nonce).proof(token);
}

Bytes job_secret_of(const Token& token) {
  auto digest = Statement("chime: job secret").proof(token);
  return {digest.begin(), digest.end()};
}

std::string job_id_of(const Token& token) {
  auto digest = Statement("chime: job id").proof(token);
  return "chime-" + to_hex(std::span(digest).first(8));
}

}  // namespace chime::bootstrap
