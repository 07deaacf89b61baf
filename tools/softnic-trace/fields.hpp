// Takes bytes apart into fields.
#pragma once

#include <cstdint>
#include <cstdio>
#include <span>

#include "decode.hpp"
#include "softnic/firmware/bytes.hpp"

inline std::string hex(std::uint64_t value) {
  char text[32];
  std::snprintf(text, sizeof text, "%#llx", static_cast<unsigned long long>(value));
  return text;
}

inline std::string hex_digits(std::span<const std::byte> bytes) {
  std::string text;
  char two[4];
  for (const std::byte b : bytes) {
    std::snprintf(two, sizeof two, "%02x", std::to_integer<unsigned>(b));
    text += two;
  }
  return text;
}

// Reads from front to back. Reading behind the end gives zeros and a field "cut".
class Fields {
 public:
  explicit Fields(std::span<const std::byte> bytes) : bytes_(bytes) {}

  void add(std::string name, std::string value, Group group = Group::kPlain) {
    fields_.push_back({std::move(name), std::move(value), group});
  }

  std::size_t left() const { return bytes_.size() - at_; }
  std::uint32_t dword() { return softnic::load_be32(take<4>().data()); }
  std::uint64_t quad() { return softnic::load_be64(take<8>().data()); }
  std::span<const std::byte> take_bytes(std::size_t count) {
    if (count > left()) note_cut(), count = left();
    const auto taken = bytes_.subspan(at_, count);
    at_ += count;
    return taken;
  }

  // A reserved field of the PRM is shown when somebody wrote to it.
  void reserved(std::uint64_t value) {
    if (value != 0) add("reserved@" + std::to_string(at_), hex(value));
  }
  void padding(std::size_t count) {
    const auto bytes = take_bytes(count);
    for (const std::byte b : bytes)
      if (b != std::byte{0}) return add("padding@" + std::to_string(at_), hex_digits(bytes));
  }

  std::vector<Field> finish() {
    padding(left());
    return std::move(fields_);
  }

 private:
  template <std::size_t N>
  std::array<std::byte, N> take() {
    std::array<std::byte, N> value{};
    const auto taken = take_bytes(N);
    std::copy(taken.begin(), taken.end(), value.begin());
    return value;
  }
  void note_cut() {
    if (!cut_) add("cut", "at byte " + std::to_string(bytes_.size()));
    cut_ = true;
  }

  std::span<const std::byte> bytes_;
  std::size_t at_ = 0;
  bool cut_ = false;
  std::vector<Field> fields_;
};
