// Unique ids as text, for a command line.
#pragma once

#include <cstring>
#include <span>
#include <string>

#include "bootstrap/hub/tcp.hpp"
#include "net/secure/secret.hpp"

namespace chime::bootstrap::test {

inline std::string text_of(const chimex_uniqueid_t& id) {
  return net::to_hex(std::as_bytes(std::span(&id, 1)));
}

inline chimex_uniqueid_t unique_id_from_text(const std::string& text) {
  chimex_uniqueid_t id{};
  auto* bytes = reinterpret_cast<unsigned char*>(&id);
  for (std::size_t i = 0; i < sizeof id && 2 * i + 1 < text.size(); i++)
    bytes[i] = static_cast<unsigned char>(std::stoi(text.substr(2 * i, 2), nullptr, 16));
  return id;
}

}  // namespace chime::bootstrap::test
