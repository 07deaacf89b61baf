// A driver over a wire that a test controls call by call, and the requests that reached the owner
// of its words.
#pragma once

#include <gmock/gmock.h>

#include <array>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "fake_wire.hpp"
#include "host/gpu/factory.hpp"
#include "host/transport/ofi/driver/driver.hpp"

namespace chime::host::ofi::test {

inline constexpr std::uint64_t kPass = 7, kPeersPass = 8;

// Records its requests: 'u' for an update, 'w' for a write.
class Notes final : public WordOwner {
 public:
  std::vector<std::pair<char, std::uint64_t>> all;
  std::uint64_t update(std::uint64_t at, const WordUpdate&) override {
    all.emplace_back('u', at);
    return 40 + at;
  }
  void write(std::uint64_t at, std::span<const std::byte>) override { all.emplace_back('w', at); }
};

inline constexpr HostRequest kAdd{HostRequest::Kind::kAtomic, 1, 16, nullptr, 0,
                                  {AmoOp::kAdd, 8, 3, 0}};

inline std::vector<Message> messages_in(std::span<const std::byte> bytes, std::uint64_t pass) {
  std::vector<Message> all;
  auto batch = BatchReader::open(bytes, pass);
  const bool is_well = batch && batch->is_well();
  EXPECT_TRUE(is_well);
  std::span<const std::byte> body;
  while (is_well && !batch->is_over()) all.push_back(batch->next(body));
  return all;
}

struct DriverTest : testing::Test {
  const std::unique_ptr<Gpu> gpu = open_simt_gpu();
  alignas(8) std::array<std::byte, 4096> heap{};
  FakeWire wire;
  Requests requests;
  BatchPool mail;
  Notes owner;
  std::optional<Driver> driver;
  std::vector<HostDriven::Ended> ended;

  // PE 0 of two.
  void open() {
    driver.emplace(Driver::Place{0, 2, heap, kPass, {}, true}, *gpu, wire, requests, mail);
    driver->serve(owner);
    driver->add_peer(1, {.pass = kPeersPass, .takes_puts = true});
  }
  void poll() {
    std::array<HostDriven::Ended, 16> some;
    const std::size_t count = driver->poll(some);
    ended.insert(ended.end(), some.begin(), some.begin() + static_cast<long>(count));
  }
  void put(std::size_t bytes, std::uint64_t completion) {
    ASSERT_TRUE(driver->post({HostRequest::Kind::kPut, 1, 0, heap.data(), bytes}, completion));
  }
  void add(std::uint64_t completion) {
    ASSERT_TRUE(driver->post({HostRequest::Kind::kAtomic, 1, 0, nullptr, 0, {AmoOp::kAdd, 8, 1, 0}},
                             completion));
  }
};

}  // namespace chime::host::ofi::test
