#include "host/peers/left_endpoint_infos.hpp"

#include <fmt/format.h>

#include <cstdint>

#include "host/errors/error.hpp"
#include "net/mesh/fields.hpp"

namespace chime::host {
namespace {

void check_length(std::size_t bytes, std::size_t most) {
  if (bytes > most)
    throw Error("setup", CHIMEX_ERR_SYSTEM,
                fmt::format("an endpoint info of {} bytes is longer than {}", bytes, most));
}

EndpointInfoBytes copy_of(std::span<const std::byte> bytes) { return {bytes.begin(), bytes.end()}; }

void check_version(net::Reader& message) {
  if (message.get<std::uint32_t>() != kAbiVersion)
    throw net::Error(net::Fault::kProtocol, "another interface");
}

// The part of the message of PE `pe` that `read(message)` takes out.
template <class Read>
auto read_message(int pe, std::span<const std::byte> bytes, Read read) {
  try {
    net::Reader message(bytes);
    return read(message);
  } catch (const net::Error&) {
    throw Error("setup", CHIMEX_ERR_MISMATCH,
                fmt::format("PE {} runs another version of Chime", pe));
  }
}

}  // namespace

std::string key_of_endpoint_infos(Path path) {
  return fmt::format("chime.way.{}", static_cast<int>(path));
}

std::string key_of_receipts(Path path) { return key_of_endpoint_infos(path) + ".receipts"; }

EndpointInfoBytes write_endpoint_info(const Transport& transport) {
  const EndpointInfoBytes endpoint_info = transport.own_endpoint_info().bytes;
  check_length(endpoint_info.size(), kMostEndpointInfoBytes);
  return net::Writer().put(kAbiVersion).bytes(endpoint_info).take();
}

EndpointInfoBytes read_endpoint_info(int pe, std::span<const std::byte> bytes) {
  return read_message(pe, bytes, [](net::Reader& message) {
    check_version(message);
    return copy_of(message.bytes());
  });
}

EndpointInfoBytes write_endpoint_infos(Transport& transport, int n_pes) {
  net::Writer message;
  const auto add = [&](const EndpointInfoBytes& bytes, std::size_t most) {
    check_length(bytes.size(), most);
    message.bytes(bytes);
  };
  message.put(kAbiVersion);
  add(transport.own_endpoint_info().bytes, kMostEndpointInfoBytes);
  for (int pe = 0; pe < n_pes; ++pe) add(transport.offer(pe), kMostOfferBytes);
  return message.take();
}

Shown read_endpoint_infos(int pe, std::span<const std::byte> bytes, int me) {
  return read_message(pe, bytes, [me](net::Reader& message) {
    check_version(message);
    Shown shown{.endpoint_info = copy_of(message.bytes()), .offer = {}};
    for (int other = 0; other < me; ++other) message.bytes();
    shown.offer = copy_of(message.bytes());
    return shown;
  });
}

EndpointInfoBytes write_receipts(std::span<const Acceptance> acceptances) {
  net::Writer message;
  for (const Acceptance& acceptance : acceptances) {
    check_length(acceptance.receipt.size(), kMostOfferBytes);
    message.put(std::uint8_t{acceptance.is_accepted}).bytes(acceptance.receipt);
  }
  return message.take();
}

std::optional<EndpointInfoBytes> read_receipt(int pe, std::span<const std::byte> bytes, int me) {
  return read_message(pe, bytes, [me](net::Reader& message) {
    const auto next = [&]() -> std::optional<EndpointInfoBytes> {
      const bool is_accepted = message.get<std::uint8_t>() != 0;
      const auto receipt = message.bytes();
      return is_accepted ? std::optional(copy_of(receipt)) : std::nullopt;
    };
    for (int other = 0; other < me; ++other) next();
    return next();
  });
}

}  // namespace chime::host
