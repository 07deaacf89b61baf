#include "perfetto.hpp"

#include <deque>
#include <map>
#include <set>

#include "decode.hpp"
#include "softnic/firmware/bytes.hpp"

namespace {

using nlohmann::json;

class Converter {
 public:
  json convert(const std::vector<Record>& records) {
    start_ = records.empty() ? 0 : records.front().ns();
    for (const Record& record : records) add(record);
    for (const auto& [queue, waiting] : open_)  // never completed: each ends with the trace
      for (const Request& request : waiting) add_end("e", request, records.back(), json::object());
    return {{"traceEvents", std::move(events_)}, {"displayTimeUnit", "ns"}};
  }

 private:
  using Queue = std::pair<std::uint64_t, std::uint64_t>;  // process, queue pair
  struct Request {
    std::string name;
    std::uint64_t id;
    std::uint64_t pid, track;
    std::uint16_t index;
  };

  void add(const Record& record) {
    switch (record.event()) {
      case Event::kWqe:
        return begin(record);
      case Event::kCqe:
        return complete(record);
      case Event::kDoorbell:
      case Event::kReceiveWqe:
        return instant(record, name_of(record.event()), track_of_queue(record));
      default:
        return instant(record,
                       record.event() == Event::kCommand
                           ? "command " + std::to_string(record.number("opcode"))
                           : record.text("name"),
                       track(record, 0, "control path"));
    }
  }

  void begin(const Record& record) {
    const auto fields = decode(record);
    Request request{name_of_queue(record) + " " + fields.front().value, next_id_++, record.pid(),
                    track_of_queue(record), static_cast<std::uint16_t>(record.number("index"))};
    add_end("b", request, record, arguments(fields));
    open_[{record.pid(), record.number("qpn")}].push_back(std::move(request));
  }

  // A requester's completion retires all requests up to its own; the others did not ask for one.
  void complete(const Record& record) {
    const auto bytes = record.bytes();
    const unsigned kind = bytes.size() < 64 ? 0xf : std::to_integer<unsigned>(bytes[63]) >> 4;
    const auto arguments_of_cqe = arguments(decode(record));
    instant(record, kind == 0xd || kind == 0xe ? "error" : "cqe", track_of_queue(record));
    if (kind != 0 && kind != 0xd) return;
    auto& waiting = open_[{record.pid(), record.number("qpn")}];
    const std::uint16_t counter = softnic::load_be16(bytes.data() + 60);
    while (!waiting.empty() && static_cast<std::int16_t>(waiting.front().index - counter) <= 0) {
      add_end("e", waiting.front(), record, arguments_of_cqe);
      waiting.pop_front();
    }
  }

  // Requests of a queue pair overlap, so they are no slices of a thread. Perfetto has a track for
  // those of one name in one process.
  void add_end(const char* phase, const Request& request, const Record& at, json arguments) {
    json event = event_of(at, phase, request.name, request.track);
    event["pid"] = request.pid;
    event["cat"] = "wqe";
    event["id2"] = {{"local", std::to_string(request.id)}};  // "id" would be all processes'
    event["args"] = std::move(arguments);
    events_.push_back(std::move(event));
  }

  void instant(const Record& record, const std::string& name, std::uint64_t track) {
    json event = event_of(record, "i", name, track);
    event["s"] = "t";
    event["args"] = arguments(decode(record));
    events_.push_back(std::move(event));
  }

  json event_of(const Record& record, const char* phase, const std::string& name,
                std::uint64_t track) const {
    return {{"ph", phase},
            {"name", name},
            {"ts", static_cast<double>(record.ns() - start_) / 1000.0},
            {"pid", record.pid()},
            {"tid", track}};
  }

  static json arguments(const std::vector<Field>& fields) {
    json all = json::object();
    for (const Field& field : fields) all[field.name] = field.value;
    return all;
  }

  static std::string name_of_queue(const Record& record) {
    char name[40];
    std::snprintf(name, sizeof name, "QP %#llx",
                  static_cast<unsigned long long>(record.number("qpn")));
    return name;
  }

  std::uint64_t track_of_queue(const Record& record) {
    return track(record, record.number("qpn"), name_of_queue(record));
  }

  // Names a track, and its process, when they are first used.
  std::uint64_t track(const Record& record, std::uint64_t number, const std::string& name) {
    if (processes_.insert(record.pid()).second)
      add_name("process_name", record.pid(), 0, record.file_name());
    if (tracks_.insert({record.pid(), number}).second)
      add_name("thread_name", record.pid(), number, name);
    return number;
  }

  void add_name(const char* what, std::uint64_t pid, std::uint64_t number,
                const std::string& name) {
    events_.push_back(
        {{"ph", "M"}, {"name", what}, {"pid", pid}, {"tid", number}, {"args", {{"name", name}}}});
  }

  std::uint64_t start_ = 0;
  std::uint64_t next_id_ = 1;
  json events_ = json::array();
  std::map<Queue, std::deque<Request>> open_;
  std::set<std::uint64_t> processes_;
  std::set<Queue> tracks_;
};

}  // namespace

json perfetto_of(const std::vector<Record>& records) { return Converter().convert(records); }
