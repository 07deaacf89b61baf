#include "host/trace/merge/json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <memory>
#include <set>
#include <tuple>

#include "host/errors/error.hpp"

namespace chime::trace {
namespace {

using Text = fmt::memory_buffer;

// Names of kernels hold what C++ does: also quotes and lambdas.
std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\')
      (result += '\\') += c;
    else if (static_cast<unsigned char>(c) < 0x20)
      result += fmt::format("\\u{:04x}", c);
    else
      result += c;
  }
  return result + '"';
}

template <class Numbers>
std::string list_of(const Numbers& numbers) {
  return fmt::format("[{}]", fmt::join(numbers, ","));
}

// The file, a large piece at a time.
class File {
 public:
  explicit File(const std::string& name)
      : name_(name), file_(std::fopen(name.c_str(), "we"), std::fclose) {
    if (!file_) throw host::system_error("timeline", "cannot write " + name);
  }
  template <class... Arguments>
  void add(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    fmt::format_to(fmt::appender(text_), format, std::forward<Arguments>(arguments)...);
    if (text_.size() >= kPiece) flush();
  }
  void finish() {
    flush();
    if (std::fflush(file_.get()) != 0) fail();
  }

 private:
  static constexpr std::size_t kPiece = 1 << 20;
  void flush() {
    if (std::fwrite(text_.data(), 1, text_.size(), file_.get()) != text_.size()) fail();
    text_.clear();
  }
  [[noreturn]] void fail() { throw host::system_error("timeline", "cannot write " + name_); }

  std::string name_;
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_;
  Text text_;
};

class Writer {
 public:
  Writer(const Timeline& timeline, const std::string& file) : timeline_(timeline), file_(file) {
    for (const auto& part : timeline.parts.all) start_ns_ = std::min(start_ns_, opened_ns(*part));
    for (const Span& span : timeline.spans) start_ns_ = std::min(start_ns_, span.begin_ns);
  }

  void write() {
    file_.add("{{\"displayTimeUnit\":\"ns\",\n\"otherData\":");
    write_facts();
    file_.add(",\n\"traceEvents\":[\n");
    name_tracks();
    for (std::size_t i = 0; i < timeline_.spans.size(); ++i) write_span(i);
    for (std::size_t i = 0; i < timeline_.arrows.size(); ++i) write_arrow(i);
    file_.add("\n]}}\n");
    file_.finish();
  }

 private:
  // In PE 0's time.
  static std::uint64_t opened_ns(const Part& part) {
    const std::uint64_t opened = part.header().opened_ns;
    return opened + static_cast<std::uint64_t>(part.offset_at(opened));
  }

  // Microseconds, as the format wants them, to the nanosecond.
  std::string time(std::uint64_t ns) const {
    return fmt::format("{}.{:03}", (ns - start_ns_) / 1000, (ns - start_ns_) % 1000);
  }
  static std::string length(std::uint64_t ns) {
    return fmt::format("{}.{:03}", ns / 1000, ns % 1000);
  }

  // The places of a track in Perfetto's list, and its number, which no other track has. Perfetto
  // shows it after the name, so the name needs none. 0: no track.
  static std::uint32_t number_of(std::uint32_t track) { return track + 1; }

  void begin_event() {
    if (!is_first_) file_.add(",\n");
    is_first_ = false;
  }

  void write_facts() {
    const Summary summary = summarize(timeline_);
    const PartHeader& first = timeline_.parts.all.front()->header();
    file_.add(
        "{{\"format\":\"Chime timeline 1\",\"pes\":{},\"start_ns\":{},\"events\":{},"
        "\"dropped\":{},\"open\":{},\"missing_pes\":{},\"killed_processes_of_pes\":{},"
        "\"clocks\":[",
        first.n_pes, start_ns_, summary.events, summary.dropped, summary.open,
        list_of(summary.missing), list_of(summary.not_closed));
    const char* comma = "";
    for (const auto& part : timeline_.parts.all) {
      const PartHeader& h = part->header();
      const bool is_same = h.clock == first.clock;
      file_.add("{}{{\"pe\":{},\"host\":{},\"process\":{},\"clock\":\"{}\"", comma, h.first_pe,
                quoted(h.host), h.process,
                is_same                ? "CLOCK_MONOTONIC of PE 0's machine"
                : part->doubt_ns() > 0 ? "another machine's, set to PE 0's"
                                       : "another machine's, not compared with PE 0's");
      file_.add(",\"offset_ns\":{},\"drift_ns\":{},\"doubt_ns\":{},\"dropped\":{}}}",
                h.last.offset_ns, h.last.offset_ns - h.first.offset_ns, part->doubt_ns(),
                h.dropped);
      comma = ",";
    }
    file_.add("]}}");
  }

  void name_tracks() {
    std::set<int> pes;
    for (const Span& span : timeline_.spans) pes.insert(span.event->my_pe);
    for (const int pe : pes) name_pe(pe);
    for (std::uint32_t i = 0; i < timeline_.tracks.all.size(); ++i) {
      const Track& track = timeline_.tracks.all[i];
      begin_event();
      file_.add(
          "{{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":{},\"tid\":{},\"args\":{{\"name\":{}}}}}"
          ",\n{{\"ph\":\"M\",\"name\":\"thread_sort_index\",\"pid\":{},\"tid\":{},"
          "\"args\":{{\"sort_index\":{}}}}}",
          track.pe, number_of(i), quoted(track_of(track.group)), track.pe, number_of(i),
          number_of(i));
    }
  }

  void name_pe(int pe) {
    const auto& parts = timeline_.parts.all;
    const auto part = std::find_if(parts.rbegin(), parts.rend(),
                                   [pe](const auto& p) { return p->header().first_pe <= pe; });
    const PartHeader& h = (part != parts.rend() ? *part : parts.front())->header();
    begin_event();
    file_.add(
        "{{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":{},\"tid\":0,\"args\":{{\"name\":{}}}}},"
        "\n"
        "{{\"ph\":\"M\",\"name\":\"process_sort_index\",\"pid\":{},\"tid\":0,"
        "\"args\":{{\"sort_index\":{}}}}}",
        pe, quoted(fmt::format("PE {} ({}, process {})", pe, h.host, h.process)), pe, pe);
  }

  static std::string name_of(const Span& span) {
    const Event& event = *span.event;
    if (event.kind != EventKind::kWork)
      return prefix_of(group_of(event)) + span.part->name(event.name);
    const char* const name = operation_name(event.operation);
    return is_wait_in_meeting(event) ? std::string("wait in ") + name : name;
  }

  // In quotes. There are few, of many events.
  const std::string& quoted_name_of(const Span& span) {
    const Event& event = *span.event;
    const bool is_work = event.kind == EventKind::kWork;
    const NameKey key{is_work ? nullptr : span.part, is_work ? event.operation : event.name,
                      group_of(event)};
    const auto [name, is_new] = names_.try_emplace(key);
    if (is_new) name->second = quoted(name_of(span));
    return name->second;
  }

  void write_span(std::size_t index) {
    const Span& span = timeline_.spans[index];
    if (!has_track(group_of(*span.event))) return write_request(index);
    begin_span("X", span, timeline_.tracks.of_spans[index]);
    file_.add(",\"dur\":{},\"args\":{{", length(span.end_ns - span.begin_ns));
    write_arguments(span);
    file_.add("}}}}");
  }

  // Requests overlap as they like. Perfetto packs those of one name and PE into one track.
  void write_request(std::size_t index) {
    const Span& span = timeline_.spans[index];
    begin_span("b", span, kNoTrack);
    file_.add(",\"id2\":{{\"local\":\"{}\"}},\"args\":{{", index);
    write_arguments(span);
    file_.add("}}}}");
    begin_event();
    file_.add(
        "{{\"ph\":\"e\",\"name\":{},\"cat\":\"{}\",\"pid\":{},\"tid\":0,\"ts\":{},"
        "\"id2\":{{\"local\":\"{}\"}}}}",
        quoted_name_of(span), category_of(group_of(*span.event)), span.event->my_pe,
        time(span.end_ns), index);
  }

  void begin_span(const char* phase, const Span& span, std::uint32_t track) {
    begin_event();
    file_.add("{{\"ph\":\"{}\",\"name\":{},\"cat\":\"{}\",\"pid\":{},\"tid\":{},\"ts\":{}", phase,
              quoted_name_of(span), category_of(group_of(*span.event)), span.event->my_pe,
              number_of(track), time(span.begin_ns));
  }

  void write_arguments(const Span& span) {
    const Event& event = *span.event;
    const Group group = group_of(event);
    const char* comma = "";
    const auto add = [&](const char* name, const auto& value) {
      file_.add("{}\"{}\":{}", comma, name, value);
      comma = ",";
    };
    if (event.pe >= 0) add("pe", event.pe);
    if (group == Group::kKernel) {
      add("launch", event.launch);
      add("blocks", event.bytes);
      add("threads", event.value);
    } else if (group == Group::kCollective) {
      add("team", static_cast<std::int64_t>(event.value));
      if (event.has_seen) add("first_pe", event.seen);
      if (event.bytes != 0) add("bytes", event.bytes);
    } else if (group == Group::kWait && !is_wait_in_meeting(event)) {
      if (event.address != kNotInHeap) add("word", event.address);
      add("value", event.value);
      if (event.has_seen) add("seen", event.seen);
    } else {
      if (event.bytes != 0) add("bytes", event.bytes);
      if (group == Group::kNic) add("queue_pair", event.value);
      if (update_of(event) != Update::kNone) {
        add("word", event.address);
        add("value", event.value);
      }
    }
    if (event.kind == EventKind::kWork && event.launch != 0) {
      add("launch", event.launch);
      add("block", event.block);
      add("thread", event.thread);
    }
    if (event.has_failed) add("failed", "true");
    if (span.is_open) add("open", "true");
  }

  // Both ends lie within their events. Viewers let an arrow end where an event begins. So a wait
  // that did not begin after its signal gets an event within it.
  void write_arrow(std::size_t number) {
    const Arrow& arrow = timeline_.arrows[number];
    const Span &from = timeline_.spans[arrow.from], &to = timeline_.spans[arrow.to];
    const std::uint64_t inside = to.end_ns > to.begin_ns ? to.end_ns - 1 : to.end_ns;
    if (from.begin_ns >= to.begin_ns)
      write_arrival(arrow, std::max(from.begin_ns, std::min(from.end_ns, inside)));
    write_end("s", "", number, arrow.from, from.begin_ns);
    write_end("f", ",\"bp\":\"e\"", number, arrow.to, inside);
  }

  // In the wait, from the signal's end to the wait's.
  void write_arrival(const Arrow& arrow, std::uint64_t at_ns) {
    const Span& wait = timeline_.spans[arrow.to];
    begin_event();
    file_.add(
        "{{\"ph\":\"X\",\"name\":\"signal of PE {}\",\"cat\":\"arrival\",\"pid\":{},\"tid\":{},"
        "\"ts\":{},\"dur\":{},\"args\":{{}}}}",
        timeline_.spans[arrow.from].event->my_pe, wait.event->my_pe,
        number_of(timeline_.tracks.of_spans[arrow.to]), time(at_ns), length(wait.end_ns - at_ns));
  }

  void write_end(const char* phase, const char* more, std::size_t number, std::size_t span,
                 std::uint64_t at_ns) {
    begin_event();
    file_.add(
        "{{\"ph\":\"{}\",\"name\":\"signal\",\"cat\":\"signal\",\"id\":{},\"pid\":{},\"tid\":{},"
        "\"ts\":{}{}}}",
        phase, number + 1, timeline_.spans[span].event->my_pe,
        number_of(timeline_.tracks.of_spans[span]), time(at_ns), more);
  }

  using NameKey = std::tuple<const Part*, std::uint32_t, Group>;

  const Timeline& timeline_;
  File file_;
  std::map<NameKey, std::string> names_;
  std::uint64_t start_ns_ = ~std::uint64_t{0};
  bool is_first_ = true;
};

}  // namespace

Summary summarize(const Timeline& timeline) {
  Summary summary;
  summary.events = timeline.spans.size();
  std::set<int> seen;
  for (const Span& span : timeline.spans) {
    summary.open += span.is_open && span.part->header().closed_ns == 0;
    seen.insert(span.event->my_pe);
  }
  for (const auto& part : timeline.parts.all) {
    summary.dropped += part->header().dropped;
    seen.insert(part->header().first_pe);
    if (!part->is_closed()) summary.not_closed.push_back(part->header().first_pe);
  }
  for (int pe = 0; pe < timeline.parts.all.front()->header().n_pes; ++pe)
    if (!seen.contains(pe)) summary.missing.push_back(pe);
  return summary;
}

void write_json(const Timeline& timeline, const std::string& file) {
  Writer(timeline, file).write();
}

}  // namespace chime::trace
