#include "diff.hpp"

#include <algorithm>
#include <compare>
#include <map>
#include <set>

#include "decode.hpp"

namespace {

// The events of one kind at one queue, in order. The queue is named by the order of first
// appearance. The completions of a queue's sends and of its receives are two kinds.
using Stream = std::vector<const Record*>;
struct Key {
  Event event;
  std::size_t queue;
  bool of_receives;
  auto operator<=>(const Key&) const = default;
};
using Streams = std::map<Key, Stream>;

bool completes_a_receive(const Record& record) {
  if (record.event() != Event::kCqe) return false;
  const auto bytes = record.bytes();
  const unsigned kind = bytes.size() < 64 ? 0xf : std::to_integer<unsigned>(bytes[63]) >> 4;
  return kind != 0x0 && kind != 0xd;
}

bool belongs_to_a_queue(Event event) {
  return event == Event::kWqe || event == Event::kReceiveWqe || event == Event::kCqe ||
         event == Event::kDoorbell;
}

Streams streams_of(const std::vector<Record>& records, const std::set<std::string>& events) {
  Streams streams;
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::size_t> queues;
  for (const Record& record : records) {
    if (!events.contains(name_of(record.event()))) continue;
    std::size_t queue = 0;
    if (belongs_to_a_queue(record.event()))
      queue = queues.try_emplace({record.pid(), record.number("qpn")}, queues.size()).first->second;
    streams[{record.event(), queue, completes_a_receive(record)}].push_back(&record);
  }
  return streams;
}

class Comparison {
 public:
  Comparison(const DiffOptions& options, std::ostream& out) : options_(options), out_(out) {}

  void compare(Event event, const Stream& one, const Stream& other) {
    for (std::size_t i = 0; i < std::max(one.size(), other.size()); ++i) {
      if (i >= one.size())
        say(other[i]->where() + ": " + name_of(event) + " has no counterpart");
      else if (i >= other.size())
        say(one[i]->where() + ": " + name_of(event) + " has no counterpart");
      else
        compare(*one[i], *other[i]);
    }
  }

  bool finish() {
    if (compared_ + differences_ == 0) throw BadTrace("neither trace has any of the --events");
    check_ignored();
    if (differences_ > options_.limit)
      out_ << "... and " << differences_ - options_.limit << " more\n";
    out_ << compared_ << " events compared, " << differences_ << " differences";
    for (const char* separator = "; ignored: "; const auto& [name, count] : ignored_)
      out_ << separator << name << " (" << count << ")", separator = ", ";
    out_ << '\n';
    return differences_ == 0;
  }

 private:
  // Fields by name, and what each is worth.
  using Values = std::map<std::string, const Field*>;

  static Values values_of(const std::vector<Field>& fields) {
    Values values;
    for (const Field& field : fields) values[field.name] = &field;
    return values;
  }

  // A misspelt name would hide nothing and leave its owner wondering.
  void check_ignored() const {
    for (const std::string& name : options_.ignore)
      if (name != "time" && !is_group(name) && !seen_.contains(name))
        throw BadTrace("--ignore " + name + ": no group of fields, and no field of these traces");
  }
  static bool is_group(const std::string& name) {
    return std::ranges::any_of(kAllGroups, [&](Group group) { return name == name_of(group); });
  }

  void compare(const Record& one, const Record& other) {
    ++compared_;
    const auto here = decode(one), there = decode(other);
    const Values mine = values_of(here), theirs = values_of(there);
    Values all = mine;
    all.insert(theirs.begin(), theirs.end());
    std::string text;
    for (const auto& [name, field] : all) {
      seen_.insert(name);
      const std::string left = value(mine, name), right = value(theirs, name);
      if (left == right) continue;
      if (const char* why = ignored(*field))
        ++ignored_[why];
      else
        text += "\n    " + name + ": " + left + " | " + right;
    }
    if (!text.empty())
      say(one.where() + " | " + other.where() + ": " + name_of(one.event()) + text);
  }

  static std::string value(const Values& values, const std::string& name) {
    const auto found = values.find(name);
    return found == values.end() ? "-" : found->second->value;
  }

  const char* ignored(const Field& field) const {
    if (options_.ignore.contains(name_of(field.group))) return name_of(field.group);
    const auto by_name = options_.ignore.find(field.name);
    return by_name == options_.ignore.end() ? nullptr : by_name->c_str();
  }

  void say(const std::string& text) {
    if (differences_++ < options_.limit) out_ << text << '\n';
  }

  const DiffOptions& options_;
  std::ostream& out_;
  std::size_t compared_ = 0, differences_ = 0;
  std::map<std::string, std::size_t> ignored_;
  std::set<std::string> seen_;
};

}  // namespace

bool diff_traces(const std::vector<Record>& one, const std::vector<Record>& other,
                 const DiffOptions& options, std::ostream& out) {
  Streams mine = streams_of(one, options.events), theirs = streams_of(other, options.events);
  for (const auto& [key, stream] : theirs) mine[key];  // every stream of either
  Comparison comparison(options, out);
  for (const auto& [key, stream] : mine) comparison.compare(key.event, stream, theirs[key]);
  return comparison.finish();
}
