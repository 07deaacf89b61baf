// Fields of a message, one after the other: little endian; text and bytes are u32 length + content.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "net/secure/secret.hpp"
#include "net/socket/error.hpp"

namespace chime::net {

static_assert(std::endian::native == std::endian::little, "the wire format is the memory's");

class Writer {
 public:
  template <class T>
  requires std::is_trivially_copyable_v<T> Writer& put(const T& value) {
    return raw(std::as_bytes(std::span(&value, 1)));
  }
  Writer& bytes(std::span<const std::byte> content) {
    put(static_cast<std::uint32_t>(content.size()));
    return raw(content);
  }
  Writer& text(std::string_view content) { return bytes(bytes_of(content)); }
  // Without a length: the last field, or one of known size.
  Writer& raw(std::span<const std::byte> content) {
    bytes_.insert(bytes_.end(), content.begin(), content.end());
    return *this;
  }

  const Bytes& written() const { return bytes_; }
  Bytes take() { return std::move(bytes_); }

 private:
  Bytes bytes_;
};

// Takes a message apart, which must outlive it. Throws Error{kProtocol} on a field that is not
// there. Do not get() a bool: a byte that is neither 0 nor 1 is none.
class Reader {
 public:
  explicit Reader(std::span<const std::byte> message) : rest_(message) {}

  template <class T>
  requires(std::is_trivially_copyable_v<T> && !std::is_same_v<T, bool>) T get() {
    T value;
    std::memcpy(&value, take(sizeof value).data(), sizeof value);
    return value;
  }
  std::span<const std::byte> bytes() { return take(get<std::uint32_t>()); }
  std::string text() {
    const auto content = bytes();
    return {reinterpret_cast<const char*>(content.data()), content.size()};
  }
  std::span<const std::byte> rest() { return take(rest_.size()); }

 private:
  std::span<const std::byte> take(std::size_t n) {
    if (rest_.size() < n) throw Error(Fault::kProtocol, "a message is shorter than its fields");
    const auto taken = rest_.first(n);
    rest_ = rest_.subspan(n);
    return taken;
  }

  std::span<const std::byte> rest_;
};

}  // namespace chime::net
