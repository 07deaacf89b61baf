// The halo exchange of the modes in which the host drives the step. It has the same data, order and
// bits as the device's.
#pragma once

#include <vector>

#include "system/launcher.hpp"
#include "system/memory.hpp"

namespace particles {

// --halo stream: kernels pack and unpack, on-stream put_signal sends, the stream waits.
template <class Real>
void exchange_on_stream(const Memory<Real>& memory, const Launcher& launcher, int parity,
                        std::uint64_t exchange);

// --halo host, the staged baseline: packed positions are copied to the host, which puts, signals
// and waits.
template <class Real>
void exchange_on_host(const Memory<Real>& memory, const Launcher& launcher, int parity,
                      std::uint64_t exchange, std::vector<Real>& staging);

}  // namespace particles
