// What kernels read of registered buffers while it changes: the table in use is never written.
#include "host/transport/channels/known_buffers.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <memory>
#include <vector>

#include "chime/abi/wqe.h"

namespace chime::host {
namespace {

struct Told {
  std::array<std::vector<abi::NicBuffer>, 2> rows = {
      std::vector<abi::NicBuffer>(abi::kNicMostBuffers),
      std::vector<abi::NicBuffer>(abi::kNicMostBuffers)};
  abi::NicBuffers all = {
      .generation = 0, .reserved = 0, .tables = {{0, rows[0].data()}, {0, rows[1].data()}}};

  // As device code finds it: by the generation.
  const abi::NicBufferTable& in_use() const { return all.tables[all.generation % 2]; }

  using Image = std::vector<std::byte>;
  static Image image_of(const abi::NicBufferTable& table) {
    Image image(sizeof table.count + sizeof(abi::NicBuffer) * abi::kNicMostBuffers);
    std::memcpy(image.data(), &table.count, sizeof table.count);
    std::memcpy(image.data() + sizeof table.count, table.buffers,
                sizeof(abi::NicBuffer) * abi::kNicMostBuffers);
    return image;
  }

  std::vector<std::uint64_t> begins() const {
    std::vector<std::uint64_t> found;
    for (std::uint64_t i = 0; i < in_use().count; ++i) found.push_back(in_use().buffers[i].begin);
    return found;
  }
};

const std::byte* at(std::uintptr_t address) { return reinterpret_cast<const std::byte*>(address); }

// Whoever began to read before a change reads on in the table that was in use then.
class Reader {
 public:
  explicit Reader(const Told& told) : table_(told.in_use()), image_(Told::image_of(table_)) {}
  ~Reader() { EXPECT_EQ(Told::image_of(table_), image_) << "the table in use was written"; }

 private:
  const abi::NicBufferTable& table_;
  const Told::Image image_;
};

TEST(KnownBuffers, AChangeLeavesTheTableInUseAlone) {
  Told told;
  KnownBuffers known(told.all);
  using Begins = std::vector<std::uint64_t>;
  const auto change = [&](auto&& what, const Begins& then) {
    const std::uint64_t generation = told.all.generation;
    {
      const Reader reader(told);
      what();
    }
    EXPECT_EQ(told.all.generation, generation + 1);
    EXPECT_EQ(told.begins(), then);
  };
  std::unique_ptr<KnownBuffers::Known> a, b, c;
  change([&] { b = known.add(at(0x2000), 16, 2); }, {0x2000});
  change([&] { a = known.add(at(0x1000), 16, 1); }, {0x1000, 0x2000});
  change([&] { c = known.add(at(0x3000), 16, 3); }, {0x1000, 0x2000, 0x3000});
  change([&] { b.reset(); }, {0x1000, 0x3000});
  change([&] { b = known.add(at(0x2000), 32, 4); }, {0x1000, 0x2000, 0x3000});
  EXPECT_EQ(told.in_use().buffers[1].end, 0x2020u);
  EXPECT_EQ(told.in_use().buffers[1].nic, 0x2000u);
  EXPECT_EQ(told.in_use().buffers[1].lkey_be, abi::be32(4));
  EXPECT_EQ(told.in_use().buffers[2].lkey_be, abi::be32(3));
  change([&] { known.forget_all(); }, {});
}

TEST(KnownBuffers, WhatIsForgottenAlreadyChangesNothing) {
  Told told;
  KnownBuffers known(told.all);
  auto a = known.add(at(0x1000), 16, 1);
  known.forget_all();
  const std::uint64_t generation = told.all.generation;
  a.reset();
  known.forget_all();
  EXPECT_EQ(told.all.generation, generation);
}

}  // namespace
}  // namespace chime::host
