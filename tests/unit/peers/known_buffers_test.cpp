// The table of registered buffers while kernels read it: the table in use is never written.
#include "host/transport/channels/known_buffers.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <memory>
#include <vector>

#include "chime/abi/wqe.h"
#include "gpu_apart.hpp"
#include "host/errors/error.hpp"
#include "host/gpu/factory.hpp"

namespace chime::host {
namespace {

struct Told {
  std::array<std::vector<abi::NicBuffer>, 2> rows = {
      std::vector<abi::NicBuffer>(abi::kNicMostBuffers),
      std::vector<abi::NicBuffer>(abi::kNicMostBuffers)};
  abi::NicBuffers all{};

  // On the CPU device, which owns this memory.
  std::unique_ptr<BufferTables> tables() {
    return make_buffer_tables(
        *cpu, {{nullptr, &all}, {{nullptr, rows[0].data()}, {nullptr, rows[1].data()}}});
  }
  const std::unique_ptr<Gpu> cpu = open_simt_gpu();

  // Found by the generation, as in device code.
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

// A reader that began before a change goes on in the table that was in use then.
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
  KnownBuffers known(told.tables());
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
  KnownBuffers known(told.tables());
  auto a = known.add(at(0x1000), 16, 1);
  known.forget_all();
  const std::uint64_t generation = told.all.generation;
  a.reset();
  known.forget_all();
  EXPECT_EQ(told.all.generation, generation);
}

// ---- On a GPU -----------------------------------------------------------------------------------

// Records the order of the host's writes to its memory.
class WrittenGpu final : public GpuApart {
 public:
  WrittenGpu() : GpuApart({}) { wall_off(); }
  void copy(void* dst, const void* src, std::size_t bytes) override {
    need();
    if (holds(dst)) written.push_back(dst);
    GpuApart::copy(dst, src, bytes);
  }
  void signal(std::uint64_t* word, std::uint64_t value, bool add) override {
    need();
    if (fails_to_signal) throw Error("CUDA driver", CHIMEX_ERR_SYSTEM, "no room for a write");
    written.push_back(word);
    GpuApart::signal(word, value, add);
  }
  std::vector<const void*> written;
  bool is_lost = false, fails_to_signal = false;

 private:
  void need() const {
    if (is_lost) throw Error("CUDA driver", CHIMEX_ERR_SYSTEM, "the GPU is lost");
  }
};

struct KnownBuffersOfAGpu : testing::Test {
  WrittenGpu gpu;
  const std::unique_ptr<DeviceMemory> memory = gpu.allocate_device(counted(take_buffers));
  const BufferPieces there = [this] {
    Pieces pieces(nullptr, memory->address());
    return take_buffers(pieces);
  }();
  KnownBuffers known{make_buffer_tables(gpu, there)};

  template <class T>
  T fetched(const T* at) {
    T here;
    gpu.copy(&here, at, sizeof here);
    return here;
  }
};

TEST_F(KnownBuffersOfAGpu, AreWrittenThereAndTheGenerationLast) {
  gpu.written.clear();
  const auto a = known.add(at(0x1000), 16, 1);
  const auto b = known.add(at(0x2000), 16, 2);
  const auto all = fetched(there.all.there);
  EXPECT_EQ(all.generation, 2u);
  EXPECT_EQ(all.tables[0].buffers, there.rows[0].there);
  ASSERT_EQ(all.tables[0].count, 2u);
  const auto second = fetched(all.tables[0].buffers + 1);
  EXPECT_EQ(second.begin, 0x2000u);
  EXPECT_EQ(second.end, 0x2010u);
  EXPECT_EQ(second.lkey_be, abi::be32(2));
  const void* const generation = &there.all.there->generation;
  const auto writes = [&](int table) {
    return std::vector<const void*>{there.rows[table].there, &there.all.there->tables[table].count,
                                    generation};
  };
  std::vector<const void*> wanted = writes(1);
  for (const void* write : writes(0)) wanted.push_back(write);
  EXPECT_EQ(gpu.written, wanted);
}

// A change that was filled but not put in use is put in use first: the next change fills the table
// that was in use before.
TEST_F(KnownBuffersOfAGpu, FillNoTableInUseAfterAWriteThatFailed) {
  const auto a = known.add(at(0x1000), 16, 1);
  gpu.fails_to_signal = true;
  EXPECT_THROW(known.add(at(0x2000), 16, 2), Error);
  gpu.fails_to_signal = false;
  gpu.written.clear();
  const auto b = known.add(at(0x3000), 16, 3);
  const auto all = fetched(there.all.there);
  const int used = static_cast<int>(all.generation % 2);
  const void* const generation = &there.all.there->generation;
  EXPECT_EQ(gpu.written,
            (std::vector<const void*>{generation, there.rows[used].there,
                                      &there.all.there->tables[used].count, generation}));
  ASSERT_EQ(all.tables[used].count, 2u);
  EXPECT_EQ(fetched(there.rows[used].there + 1).begin, 0x3000u);
}

TEST_F(KnownBuffersOfAGpu, ThatIsLostTakesNoneAndDropsAll) {
  auto a = known.add(at(0x1000), 16, 1);
  gpu.is_lost = true;
  EXPECT_THROW(known.add(at(0x2000), 16, 2), Error);
  a.reset();
  known.forget_all();
  gpu.is_lost = false;
  a = known.add(at(0x3000), 16, 3);
  const auto all = fetched(there.all.there);
  const abi::NicBufferTable& used = all.tables[all.generation % 2];
  ASSERT_EQ(used.count, 1u);
  EXPECT_EQ(fetched(used.buffers).begin, 0x3000u);
}

}  // namespace
}  // namespace chime::host
