#include "net/secure/key_schedule.hpp"

#include <algorithm>

#include "net/mesh/fields.hpp"

namespace chime::net {
namespace {

constexpr std::string_view kProtocol = "chime net 1";

}  // namespace

KeySchedule::KeySchedule(const Credentials& credentials, const Roles& roles,
                         const Token& server_nonce, const Token& client_nonce)
    : master_(
          hkdf_extract(Writer().put(server_nonce).put(client_nonce).take(), credentials.secret)),
      parties_(Writer()
                   .text(kProtocol)
                   .text(credentials.purpose)
                   .text(credentials.job)
                   .put(roles.client_pe)
                   .put(roles.server_pe)
                   .take()) {}

Digest KeySchedule::derive(std::string_view what, std::span<const std::byte> context) const {
  const auto info = Writer().text(what).raw(parties_).bytes(context).take();
  const auto bytes = hkdf_expand(master_, info, sizeof(Digest));
  Digest key;
  std::copy(bytes.begin(), bytes.end(), key.begin());
  return key;
}

std::string secret_name(const Credentials& credentials, std::string_view what) {
  const auto statement = Writer()
                             .text(kProtocol)
                             .text("name")
                             .text(credentials.purpose)
                             .text(credentials.job)
                             .text(what)
                             .take();
  const Digest digest = hmac_sha256(credentials.secret, statement);
  return to_hex(std::span(digest).first(16));
}

}  // namespace chime::net
