#include "bootstrap/id_content.hpp"

#include <algorithm>
#include <cstring>

#include "net/mesh/fields.hpp"

namespace chime::bootstrap {
namespace {

constexpr int kIdVersion = chimex_uniqueid_t CHIMEX_UNIQUEID_INITIALIZER.version;
constexpr std::uint8_t kForm = 2;  // of what follows it
constexpr std::size_t kMaxBytes = sizeof(chimex_uniqueid_t::internal);

}  // namespace

//   | 32 B token | u16 port | u8 form | u8 number of addresses | addresses (net/socket/address.hpp)
//   |
chimex_uniqueid_t id_of(const IdContent& content) {
  const std::size_t head = sizeof(Token) + 4;
  net::Writer addresses;
  std::uint8_t count = 0;
  for (const net::Address& address : content.addresses) {
    const auto bytes = address.to_bytes();
    if (head + addresses.written().size() + bytes.size() > kMaxBytes) break;
    addresses.raw(bytes);
    ++count;
  }
  const auto all = net::Writer()
                       .put(content.token)
                       .put(content.port)
                       .put(kForm)
                       .put(count)
                       .raw(addresses.written())
                       .take();
  chimex_uniqueid_t id{};
  id.version = kIdVersion;
  std::memcpy(id.internal, all.data(), all.size());
  return id;
}

IdContent content_of(const chimex_uniqueid_t& id, const std::string& makes_ids) try {
  net::Reader fields(std::as_bytes(std::span(id.internal)));
  IdContent content;
  content.token = fields.get<Token>();
  content.port = fields.get<std::uint16_t>();
  const auto form = fields.get<std::uint8_t>();
  const auto count = fields.get<std::uint8_t>();
  if (id.version != kIdVersion || form != kForm || count == 0)
    throw net::Error(net::Fault::kProtocol, "");
  auto rest = fields.rest();
  for (int i = 0; i < count; i++)
    content.addresses.push_back(net::Address::from_bytes(rest).with_port(content.port));
  return content;
} catch (const net::Error&) {
  throw BootstrapError("this is not a unique id of this Chime version: get one from " + makes_ids +
                           " and pass all of its bytes",
                       CHIMEX_ERR_INVALID);
}

}  // namespace chime::bootstrap
