// What a put over the environment's path costs, measured by a job of two PEs, for the predictor.
#pragma once

#include <cstddef>
#include <iosfwd>
#include <string>
#include <vector>

namespace chime::predict {

// One size over one path. Times are those of loops that nearly nothing disturbed (kMostQuiet), in
// microseconds.
struct Sample {
  std::size_t bytes = 0;
  double put_us = 0;          // a kernel's put and quiet
  double put_host_us = 0;     // of it: processor time of the proxy's thread
  double staged_us = 0;       // a copy to host memory, a host thread's put and quiet, a copy back
  double staged_host_us = 0;  // of it: processor time of that thread and the proxy's
};

// How long one core takes to copy `bytes` from memory to memory.
struct Copy {
  std::size_t bytes = 0;
  double us = 0;
};

struct Samples {
  std::string path;  // "p2p", "nic", "proxy" or "none"
  std::vector<Sample> samples;
  std::vector<Copy> copies;  // of 4 KiB to the largest sample's bytes, doubling
};

// The part of all loops that is quicker than the one whose time is taken. With more threads that
// poll than processors most loops are disturbed: half of them were seen to take twenty times as
// long. A few are faster than nearly all: stores of 8 bytes were seen to take 12 ns in one loop of
// 60, and 50 in the others.
inline constexpr double kMostQuiet = 1.0 / 32;

// Joins the job that a launcher has started, measures from PE 0 to PE 1 with `repeats` loops for
// each size, in turns, and prints what read_samples reads. Returns main's exit code: 2 if the job
// has not two PEs, or kernels do not run on the CPU device.
int measure_and_print(const std::vector<std::size_t>& sizes, int repeats);

// Throws std::runtime_error with the text that is not of this form.
Samples read_samples(const std::string& text);
void write_samples(std::ostream& out, const Samples& samples);

}  // namespace chime::predict
