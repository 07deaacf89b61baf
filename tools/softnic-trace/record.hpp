// One line of a trace, and where it stood.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

// A fault in a trace, with file and line.
struct BadTrace : std::runtime_error {
  using std::runtime_error::runtime_error;
};

enum class Event { kIoctl, kWrite, kCommand, kDoorbell, kWqe, kReceiveWqe, kCqe };
const char* name_of(Event event);

class Record {
 public:
  // Throws BadTrace when `text` is no record.
  Record(const std::string& text, const std::string& file, std::size_t line);

  Event event() const { return event_; }
  std::uint64_t ns() const { return number("ns"); }
  std::uint64_t pid() const { return number("pid"); }
  std::string where() const { return file_ + ":" + std::to_string(line_); }
  std::string file_name() const { return file_.substr(file_.rfind('/') + 1); }  // without folder

  // Members that every record of this kind has; throws BadTrace when this one has not.
  std::uint64_t number(const char* name) const;
  std::string text(const char* name) const;
  std::vector<std::byte> bytes() const;

 private:
  [[noreturn]] void fail(const std::string& what) const;
  const nlohmann::json& member(const char* name) const;

  std::string file_;
  std::size_t line_;
  nlohmann::json json_;
  Event event_;
};

// All records of `file` ("-" is standard input), in its order.
std::vector<Record> read_trace(const std::string& file);

// All records of several traces by time: the processes of one run.
std::vector<Record> read_traces(const std::vector<std::string>& files);
