#include "bootstrap/hub/token.hpp"

namespace chime::bootstrap {

Bytes job_secret_of(const Token& token) {
  const auto digest = net::hmac_sha256(token, net::bytes_of("chime: job secret"));
  return {digest.begin(), digest.end()};
}

std::string job_id_of(const Token& token) {
  const auto digest = net::hmac_sha256(token, net::bytes_of("chime: job id"));
  return "chime-" + net::to_hex(std::span(digest).first(8));
}

net::Credentials hub_credentials(const Token& token) {
  return {{token.begin(), token.end()}, job_id_of(token), "hub"};
}

}  // namespace chime::bootstrap
