#include "record.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iostream>
#include <map>

namespace {

const std::map<std::string, Event> kEvents = {
    {"ioctl", Event::kIoctl},       {"write", Event::kWrite}, {"command", Event::kCommand},
    {"doorbell", Event::kDoorbell}, {"wqe", Event::kWqe},     {"receive_wqe", Event::kReceiveWqe},
    {"cqe", Event::kCqe},
};

int digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

// A full disk, or a process that was killed: what stands before it is whole.
void warn_of_cut(const std::string& name, std::size_t line) {
  std::cerr << "softnic-trace: " << name << ':' << line
            << ": the trace is cut off inside this record; what follows is not known\n";
}

std::vector<Record> read_stream(std::istream& in, const std::string& name) {
  std::vector<Record> records;
  std::size_t number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    if (in.eof() && !records.empty() && !nlohmann::json::accept(line))
      warn_of_cut(name, number);
    else if (!line.empty())
      records.emplace_back(line, name, number);
  }
  if (in.bad()) throw BadTrace(name + ": " + std::strerror(errno));
  return records;
}

}  // namespace

const char* name_of(Event event) {
  for (const auto& [name, value] : kEvents)
    if (value == event) return name.c_str();
  return "unknown";
}

Record::Record(const std::string& text, const std::string& file, std::size_t line)
    : file_(file), line_(line), json_(nlohmann::json::parse(text, nullptr, false)) {
  if (!json_.is_object()) fail("this is no JSON object: " + text.substr(0, 60));
  const auto found = kEvents.find(this->text("event"));
  if (found == kEvents.end()) fail("unknown event '" + this->text("event") + "'");
  event_ = found->second;
  ns(), pid();  // every record has them
}

void Record::fail(const std::string& what) const { throw BadTrace(where() + ": " + what); }

const nlohmann::json& Record::member(const char* name) const {
  const auto found = json_.find(name);
  if (found == json_.end()) fail(std::string("there is no \"") + name + "\"");
  return *found;
}

std::uint64_t Record::number(const char* name) const {
  const nlohmann::json& value = member(name);
  if (!value.is_number_integer()) fail(std::string("\"") + name + "\" is no number");
  return value.get<std::uint64_t>();
}

std::string Record::text(const char* name) const {
  const nlohmann::json& value = member(name);
  if (!value.is_string()) fail(std::string("\"") + name + "\" is no text");
  return value.get<std::string>();
}

std::vector<std::byte> Record::bytes() const {
  const std::string hex = text("bytes");
  std::vector<std::byte> bytes(hex.size() / 2);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const int high = digit(hex[2 * i]), low = digit(hex[2 * i + 1]);
    if (high < 0 || low < 0) fail("\"bytes\" is not hexadecimal at digit " + std::to_string(2 * i));
    bytes[i] = static_cast<std::byte>(high << 4 | low);
  }
  if (hex.size() % 2) fail("\"bytes\" has an odd number of digits");
  return bytes;
}

std::vector<Record> read_trace(const std::string& file) {
  if (file == "-") return read_stream(std::cin, "standard input");
  std::ifstream in(file);
  if (!in) throw BadTrace(file + ": " + std::strerror(errno));
  return read_stream(in, file);
}

std::vector<Record> read_traces(const std::vector<std::string>& files) {
  std::vector<Record> all;
  for (const std::string& file : files) {
    auto records = read_trace(file);
    std::move(records.begin(), records.end(), std::back_inserter(all));
  }
  std::ranges::stable_sort(all, {}, &Record::ns);
  return all;
}
