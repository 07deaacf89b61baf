// `mpi`: as `host`, by MPI_Alltoall and MPI_Alltoallv on the same memory. On a GPU the MPI must
// take addresses of the device.
#pragma once

#include <mpi.h>

#include <climits>

#include "by_alltoallv.hpp"

namespace moe {

// MPI lives as long as this.
class Mpi {
 public:
  Mpi() { must_be_well(MPI_Init(nullptr, nullptr), "MPI_Init"); }
  ~Mpi() { MPI_Finalize(); }
  Mpi(const Mpi&) = delete;
  Mpi& operator=(const Mpi&) = delete;

  static void must_be_well(int status, const char* what) {
    if (status != MPI_SUCCESS) fail(std::string(what) + " failed with " + std::to_string(status));
  }
};

// The calls. MPI wants to know what each PE sends here: by alltoall() that of the first
// alltoallv(), by the first that of the second, which takes answers back.
class ByMpi {
 public:
  ByMpi(exec::Stream stream, const Shape& shape, std::size_t row_bytes)
      : stream_(stream), shape_(shape), row_bytes_(row_bytes) {}

  int alltoall(std::uint64_t* dst, const std::uint64_t* src, std::size_t n) {
    must(exec::stream_synchronize(stream_), "waiting for kernels");
    Mpi::must_be_well(MPI_Alltoall(src, static_cast<int>(n), MPI_UINT64_T, dst, static_cast<int>(n),
                                   MPI_UINT64_T, MPI_COMM_WORLD),
                      "MPI_Alltoall");
    const std::vector<std::size_t> rows = read<std::size_t>(dst, n * pes());
    std::vector<std::size_t> bytes(pes());
    for (std::size_t i = 0; i < rows.size(); ++i) bytes[i / n] += rows[i] * row_bytes_;
    to_come_.clear();
    for (const std::size_t each : bytes) to_come_.push_back(number(each));
    return CHIMEX_OK;
  }

  int alltoallv(void* dst, std::size_t* dst_counts, const std::size_t* dst_offsets, const void* src,
                const std::size_t* src_counts, const std::size_t* src_offsets) {
    must(exec::stream_synchronize(stream_), "waiting for kernels");
    const std::vector<int> sent = numbers(src_counts);
    Mpi::must_be_well(
        MPI_Alltoallv(src, sent.data(), numbers(src_offsets).data(), MPI_BYTE, dst, to_come_.data(),
                      numbers(dst_offsets).data(), MPI_BYTE, MPI_COMM_WORLD),
        "MPI_Alltoallv");
    const std::vector<std::size_t> came(to_come_.begin(), to_come_.end());
    must(exec::copy(dst_counts, came.data(), came.size() * sizeof(came[0])), "telling counts");
    to_come_ = sent;
    return CHIMEX_OK;
  }

 private:
  std::size_t pes() const { return static_cast<std::size_t>(shape_.n_pes); }

  template <class T>
  static std::vector<T> read(const void* memory, std::size_t count) {
    std::vector<T> values(count);
    must(exec::copy(values.data(), memory, count * sizeof(T)), "reading counts");
    return values;
  }
  static int number(std::size_t bytes) {
    if (bytes > INT_MAX) fail("MPI_Alltoallv takes no counts and offsets above 2^31 - 1 bytes");
    return static_cast<int>(bytes);
  }
  std::vector<int> numbers(const std::size_t* memory) const {
    std::vector<int> all;
    for (const std::size_t bytes : read<std::size_t>(memory, pes())) all.push_back(number(bytes));
    return all;
  }

  exec::Stream stream_;
  Shape shape_;
  std::size_t row_bytes_;
  std::vector<int> to_come_;  // bytes from each PE
};

}  // namespace moe
