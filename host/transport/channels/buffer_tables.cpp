#include "host/transport/channels/buffer_tables.hpp"

#include <atomic>

namespace chime::host {
namespace {

// The CPU device's tables. Its kernels may read them meanwhile.
class TablesOfHost final : public BufferTables {
 public:
  explicit TablesOfHost(abi::NicBuffers& all) : all_(all) {}

  void fill(std::uint64_t generation, std::span<const abi::NicBuffer> rows) override {
    abi::NicBufferTable& table = all_.tables[generation % 2];
    abi::NicBuffer* to = table.buffers;
    for (const abi::NicBuffer& row : rows) {
      put(to->begin, row.begin);
      put(to->end, row.end);
      put(to->nic, row.nic);
      put(to++->lkey_be, row.lkey_be);
    }
    put(table.count, std::uint64_t{rows.size()});
  }
  // Pairs with the acquire load in find_registered: the table is whole.
  void use(std::uint64_t generation) override { put(all_.generation, generation); }

 private:
  // Release: a reader of the new word finds the generation that was in use before it (load_buffer
  // in device/path/local_memory.cuh).
  template <class T>
  static void put(T& word, T value) {
    std::atomic_ref(word).store(value, std::memory_order_release);
  }

  abi::NicBuffers& all_;
};

// Each call has done its work when it returns, and so before what the next one does: that is the
// release of each word above.
class TablesOfGpu final : public BufferTables {
 public:
  TablesOfGpu(Gpu& gpu, const BufferPieces& there) : gpu_(gpu), there_(there) {}

  void fill(std::uint64_t generation, std::span<const abi::NicBuffer> rows) override {
    const std::uint64_t count = rows.size(), which = generation % 2;
    if (count != 0) gpu_.copy(there_.rows[which].there, rows.data(), rows.size_bytes());
    gpu_.copy(&there_.all.there->tables[which].count, &count, sizeof count);
  }
  void use(std::uint64_t generation) override {
    gpu_.signal(&there_.all.there->generation, generation, false);
  }

 private:
  Gpu& gpu_;
  const BufferPieces there_;
};

}  // namespace

BufferPieces take_buffers(Pieces& pieces) {
  return {pieces.take<abi::NicBuffers>(1),
          {pieces.take<abi::NicBuffer>(abi::kNicMostBuffers),
           pieces.take<abi::NicBuffer>(abi::kNicMostBuffers)}};
}

std::unique_ptr<BufferTables> make_buffer_tables(Gpu& gpu, const BufferPieces& there) {
  const abi::NicBuffers empty = {.generation = 0,
                                 .reserved = 0,
                                 .tables = {{0, there.rows[0].there}, {0, there.rows[1].there}}};
  gpu.copy(there.all.there, &empty, sizeof empty);
  if (gpu.is_cpu()) return std::make_unique<TablesOfHost>(*there.all.there);
  return std::make_unique<TablesOfGpu>(gpu, there);
}

}  // namespace chime::host
