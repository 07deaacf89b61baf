// What PEs write, brought to chime-run's own stdout and stderr line by line, with "[PE] " before
// each.
//
// Never blocks: a reader that stops reading must not keep chime-run from its time limit.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace chime::run {

// One of chime-run's own streams, and what it did not take yet.
class Sink {
 public:
  explicit Sink(int fd) : fd_(fd) {}

  int fd() const { return fd_; }
  void add(std::string_view text) {
    if (!is_closed()) waiting_ += text;
  }
  bool has_waiting() const { return !waiting_.empty(); }
  bool is_full() const { return waiting_.size() > kFullBytes; }
  // Takes nothing any more; error() has the system's reason.
  bool is_closed() const { return error_ != 0; }
  int error() const { return error_; }

  // Writes what `fd` takes without blocking. Call when poll says that it is writable.
  void write_some();
  // Gets rid of all, unless its reader takes nothing for a moment.
  void flush();

 private:
  static constexpr std::size_t kFullBytes = 1 << 20;
  int fd_;
  int error_ = 0;
  std::string waiting_;
};

// One stream of one PE.
class Source {
 public:
  // Lines of which `is_left_out` is true are not shown.
  using Filter = std::function<bool(std::string_view line)>;
  Source(int fd, std::string prefix, Sink& sink, Filter is_left_out = nullptr);

  int fd() const { return fd_; }
  bool has_ended() const { return fd_ < 0; }
  Sink& sink() const { return sink_; }

  // Takes what is there.
  void read_some();
  // The same when nobody writes any more, also if the sink is full: its reader may only be slow.
  void read_rest();

 private:
  void show_whole_lines();
  void finish();  // shows a last line that has no end
  void show(std::string_view line);

  int fd_;  // -1 after end of file
  std::string prefix_;
  Sink& sink_;
  Filter is_left_out_;
  std::string line_;
};

}  // namespace chime::run
