#include "timeline.hpp"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <unordered_map>

namespace {

using nlohmann::json;

// One end of an arrow, until the spans are all known.
struct End {
  std::uint32_t track;
  std::int64_t at_ns;
};

std::int64_t ns_of(const json& event, const char* name) {
  return std::llround(event.at(name).get<double>() * 1000.0);
}

Category category_of(const std::string& word) {
  if (word == "call") return Category::kCall;
  if (word == "kernel") return Category::kKernel;
  if (word == "collective") return Category::kCollective;
  return word == "wait" ? Category::kWait : Category::kOther;
}

Team team_in(const json& arguments) {
  return {arguments.value("first_pe", -1), arguments.value("team", std::int64_t{0})};
}

class Reader {
 public:
  // Events are taken one by one: all of them as JSON would need ten times the file's memory.
  Timeline read(const std::string& file) {
    std::ifstream stream(file);
    if (!stream) throw BadTimeline(file + ": " + std::strerror(errno));
    const json rest = json::parse(stream, [this](int depth, json::parse_event_t what, json& value) {
      if (depth != kDepthOfEvents || what != json::parse_event_t::object_end) return true;
      if (!value.contains("ph")) return true;
      take(value);
      return false;
    });
    const json facts = rest.value("otherData", json::object());
    if (!facts.value("format", "").starts_with("Chime timeline"))
      throw BadTimeline(file + ": this is no timeline of Chime's (CHIME_TRACE)");
    timeline_.pes = facts.at("pes").get<int>();
    timeline_.dropped = facts.at("dropped").get<std::uint64_t>();
    finish();
    return std::move(timeline_);
  }

 private:
  static constexpr int kDepthOfEvents = 2;  // in an array in an object

  void take(const json& event) {
    const auto phase = event.at("ph").get<std::string>();
    if (phase == "X") return take_span(event, ns_of(event, "dur"));
    if (phase == "b") return begin_request(event);
    if (phase == "e") return end_request(event);
    const bool is_begin = phase == "s";
    if (!is_begin && phase != "f") return;
    (is_begin ? begins_ : ends_)[event.at("id").get<std::uint64_t>()] = {
        event.at("tid").get<std::uint32_t>(), ns_of(event, "ts")};
  }

  static std::string id_in(const json& event) {
    return event.at("id2").at("local").get<std::string>();
  }

  void begin_request(const json& event) {
    requests_[id_in(event)] = timeline_.spans.size();
    take_span(event, 0);
  }

  void end_request(const json& event) {
    const auto request = requests_.find(id_in(event));
    if (request == requests_.end()) throw BadTimeline("a request ends that did not begin");
    timeline_.spans[request->second].end_ns = ns_of(event, "ts");
  }

  void take_span(const json& event, std::int64_t length_ns) {
    const auto category = event.at("cat").get<std::string>();
    if (category == "arrival") return;  // it is a part of its wait, for viewers
    const json& arguments = event.at("args");
    const std::int64_t begin_ns = ns_of(event, "ts");
    timeline_.spans.push_back({.begin_ns = begin_ns,
                               .end_ns = begin_ns + length_ns,
                               .pe = event.at("pid").get<int>(),
                               .peer = arguments.value("pe", -1),
                               .track = event.at("tid").get<std::uint32_t>(),
                               .name = number_of(event.at("name").get<std::string>()),
                               .team = team_in(arguments),
                               .category = category_of(category)});
  }

  std::uint32_t number_of(const std::string& name) {
    const auto [known, is_new] =
        numbers_.try_emplace(name, static_cast<std::uint32_t>(timeline_.names.size()));
    if (is_new) timeline_.names.push_back(name);
    return known->second;
  }

  void finish() {
    auto& spans = timeline_.spans;
    std::stable_sort(spans.begin(), spans.end(), [](const Span& a, const Span& b) {
      return a.begin_ns != b.begin_ns ? a.begin_ns < b.begin_ns : a.end_ns > b.end_ns;
    });
    for (std::size_t i = 0; i < spans.size(); ++i) of_track_[spans[i].track].push_back(i);
    for (const auto& [id, from] : begins_) {
      const auto to = ends_.find(id);
      if (to == ends_.end()) continue;
      timeline_.arrows.push_back({span_at(from), span_at(to->second)});
    }
  }

  // The innermost span of the track at that time.
  std::size_t span_at(const End& end) const {
    const auto track = of_track_.find(end.track);
    if (track == of_track_.end()) throw BadTimeline("an arrow has no event at one of its ends");
    const auto& spans = track->second;
    auto after = std::upper_bound(
        spans.begin(), spans.end(), end.at_ns,
        [this](std::int64_t at, std::size_t i) { return at < timeline_.spans[i].begin_ns; });
    while (after != spans.begin())
      if (timeline_.spans[*--after].end_ns >= end.at_ns) return *after;
    throw BadTimeline("an arrow has no event at one of its ends");
  }

  Timeline timeline_;
  std::unordered_map<std::string, std::uint32_t> numbers_;
  std::map<std::uint64_t, End> begins_, ends_;
  std::unordered_map<std::string, std::size_t> requests_;
  std::unordered_map<std::uint32_t, std::vector<std::size_t>> of_track_;
};

}  // namespace

Timeline read_timeline(const std::string& file) try {
  return Reader().read(file);
} catch (const json::parse_error& error) {
  throw BadTimeline(file + " is no timeline: byte " + std::to_string(error.byte) +
                    " is not of JSON, or the file ends there");
} catch (const json::exception& error) {
  throw BadTimeline(file + ": " + error.what());
}
