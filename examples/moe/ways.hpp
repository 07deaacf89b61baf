// The ways to move rows, each with what it keeps from one layer to the next.
#pragma once

#include <chime/chime.h>

#include <memory>
#include <string>
#include <vector>

#include "by_alltoallv.hpp"
#ifdef MOE_HAS_MPI
#include "by_mpi.hpp"
#endif
#include "by_puts.hpp"
#include "in_kernel.hpp"

namespace moe {

// By name.
inline const std::vector<std::string> kWays = {
    "device", "puts", "stream", "host",
#ifdef MOE_HAS_MPI
    "mpi",
#endif
};

// Construction and destruction are collective.
class Way {
 public:
  Way() = default;
  virtual ~Way() = default;
  Way(const Way&) = delete;
  Way& operator=(const Way&) = delete;
  virtual void run(int iteration) = 0;  // ends on the stream
};

template <class T>
class InKernel : public Way {
 public:
  InKernel(const Layer<T>& layer, const exec::LaunchConfig& config)
      : layer_(layer), config_(config) {
    const auto experts = static_cast<std::size_t>(layer.shape.all_experts());
    counters_ = {symmetric<std::uint64_t>(experts),
                 symmetric<std::uint64_t>(experts),
                 symmetric<std::uint64_t>(static_cast<std::size_t>(layer.shape.n_pes)),
                 of_device<std::uint64_t>(experts),
                 {of_device<std::uint64_t>(experts), of_device<std::uint64_t>(experts)}};
  }
  ~InKernel() override {
    for (std::uint64_t* memory : {counters_.sent_to_expert, counters_.seen[0], counters_.seen[1]})
      exec::device_free(memory);
    for (std::uint64_t* memory : {counters_.back, counters_.here, counters_.told})
      chime_free(memory);
  }
  void run(int iteration) override {
    must(chime::collective_launch(config_, run_layer<T>, layer_, counters_, iteration),
         "launching the kernel");
  }

 private:
  const Layer<T> layer_;
  const exec::LaunchConfig config_;
  Counters counters_;
};

template <class T>
class ByPuts : public Way {
 public:
  ByPuts(const Layer<T>& layer, const exec::LaunchConfig& config) : layer_(layer), config_(config) {
    const auto pes = static_cast<std::size_t>(layer.shape.n_pes);
    signals_ = {symmetric<unsigned>(static_cast<std::size_t>(layer.shape.all_experts())),
                symmetric<std::uint64_t>(pes), symmetric<std::uint64_t>(pes),
                symmetric<std::uint64_t>(pes)};
  }
  ~ByPuts() override {
    for (std::uint64_t* memory : {signals_.back, signals_.here, signals_.counted})
      chime_free(memory);
    chime_free(signals_.rows_here);
  }
  void run(int iteration) override {
    must(chime::collective_launch(config_, run_layer_by_puts<T>, layer_, signals_, iteration),
         "launching the kernel");
  }

 private:
  const Layer<T> layer_;
  const exec::LaunchConfig config_;
  Signals signals_;
};

template <class T, class Calls>
class ByAlltoallv : public Way {
 public:
  ByAlltoallv(const Layer<T>& layer, const exec::LaunchConfig& config, const Calls& calls)
      : layer_(layer), config_(config), calls_(calls), shares_(make_all_shares(layer.shape)) {
    fill_offsets(layer, shares_);
  }
  ~ByAlltoallv() override { free_shares(shares_); }
  void run(int iteration) override { run_layer_by(layer_, shares_, calls_, config_, iteration); }

 private:
  const Layer<T> layer_;
  const exec::LaunchConfig config_;
  Calls calls_;
  const Shares shares_;
};

template <class T>
std::unique_ptr<Way> make_way(const std::string& by, const Layer<T>& layer,
                              const exec::LaunchConfig& config) {
  if (by == "device") return std::make_unique<InKernel<T>>(layer, config);
  if (by == "puts") return std::make_unique<ByPuts<T>>(layer, config);
#ifdef MOE_HAS_MPI
  if (by == "mpi")
    return std::make_unique<ByAlltoallv<T, ByMpi>>(
        layer, config, ByMpi(config.stream, layer.shape, layer.row_bytes()));
#endif
  if (by == "host")
    return std::make_unique<ByAlltoallv<T, ByHost>>(layer, config, ByHost{config.stream});
  return std::make_unique<ByAlltoallv<T, OnStream>>(layer, config, OnStream{config.stream});
}

}  // namespace moe
