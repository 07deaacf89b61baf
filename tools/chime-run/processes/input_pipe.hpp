// The input of PE 0 where it is not chime-run's own: a pipe, and the bytes that it has not taken
// yet.
#pragma once

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

#include "net/socket/descriptor.hpp"
#include "output.hpp"

namespace chime::run {

class InputPipe {
 public:
  InputPipe() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC)) return;  // PE 0 cannot be started then, and says why
    read_ = net::Descriptor(ends[0]);
    write_ = net::Descriptor(ends[1]);
    sink_ = Sink(write_.get());
  }

  int read_end() const { return read_.get(); }
  void close_read_end() { read_.reset(); }

  void add(std::string_view text) {
    sink_.add(text);
    unreported_ += text.size();
  }
  void end() { has_ended_ = true; }

  void add_to(std::vector<pollfd>& polled) const {
    if (sink_.has_waiting()) polled.push_back({write_.get(), POLLOUT, 0});
  }
  // Returns how many bytes are gone since the last call: taken, or thrown away because PE 0 reads
  // no more.
  std::size_t write_some() {
    sink_.write_some();
    if (has_ended_ && !sink_.has_waiting()) write_.reset();
    const auto waiting = sink_.waiting_bytes();
    return std::exchange(unreported_, waiting) - waiting;
  }

 private:
  net::Descriptor read_, write_;
  Sink sink_{-1};
  std::size_t unreported_ = 0;  // of what was added
  bool has_ended_ = false;
};

}  // namespace chime::run
