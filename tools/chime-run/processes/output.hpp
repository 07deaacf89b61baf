// The path of children's output, line by line: a Source reads it, Lines put "[PE] " before each
// line, a Sink writes it.
//
// Nothing here blocks: a reader that stops reading must not keep chime-run from its time limit.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace chime::run {

// A stream that this process writes, and what it did not take yet.
class Sink {
 public:
  explicit Sink(int fd) : fd_(fd) {}

  int fd() const { return fd_; }
  void add(std::string_view text) {
    if (!is_closed()) waiting_ += text;
  }
  bool has_waiting() const { return !waiting_.empty(); }
  std::size_t waiting_bytes() const { return waiting_.size(); }
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

// The lines of one stream.
class Lines {
 public:
  // Lines of which `is_left_out` is true are not shown.
  using Filter = std::function<bool(std::string_view line)>;
  Lines(std::string prefix, Sink& sink, Filter is_left_out = nullptr)
      : prefix_(std::move(prefix)), sink_(sink), is_left_out_(std::move(is_left_out)) {}

  void add(std::string_view text);
  // Shows a last line that has no end.
  void finish();

 private:
  void show(std::string_view line);

  std::string prefix_;
  Sink& sink_;
  Filter is_left_out_;
  std::string line_;
};

// One stream of a child.
class Source {
 public:
  using Take = std::function<void(std::string_view text)>;  // no text: it has ended
  // While one of `sinks`, where its text goes, is full, nothing is read.
  Source(int fd, std::vector<Sink*> sinks, Take take);

  int fd() const { return fd_; }
  bool is_waited_for() const { return fd_ >= 0 && !is_full(); }

  // Takes what is there.
  void read_some();
  // The same when nobody writes any more, also if a sink is full: its reader may only be slow.
  void read_rest();

 private:
  bool is_full() const;
  void finish();

  int fd_;  // -1 after end of file
  std::vector<Sink*> sinks_;
  Take take_;
};

}  // namespace chime::run
