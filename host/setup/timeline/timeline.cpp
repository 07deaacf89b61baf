#include "host/setup/timeline/timeline.hpp"

#include <condition_variable>
#include <exception>
#include <mutex>
#include <string>
#include <vector>

#include "host/errors/error.hpp"
#include "host/errors/log.hpp"
#include "host/pe/pe.hpp"
#include "host/setup/timeline/hosts.hpp"
#include "host/trace/executor.hpp"
#include "host/trace/merge/merge.hpp"
#include "host/trace/paths.hpp"
#include "host/trace/recorder.hpp"

namespace chime::host {
namespace {

// PEs that are threads of one process share its part.
struct OfProcess {
  std::mutex mutex;
  std::condition_variable closed;  // the part, by the last of its PEs
  trace::PartFile* part = nullptr;
  std::vector<trace::PartFile*> parts;  // live for ever: a thread may end an event late
  std::string path;
  int pes = 0;           // that record
  bool is_sent = false;  // PE 0 has no access to this disk, and got the part
  int number = 0;        // of timelines that the process has had
};
OfProcess& of_process() {
  static auto& the_one = *new OfProcess;
  return the_one;
}

void begin(OfProcess& mine, const Runtime& runtime) {
  const Settings& settings = runtime.settings;
  mine.is_sent = false;
  mine.path = trace::numbered(settings.trace_path, ++mine.number);
  trace::prepare(mine.path);
  mine.part = new trace::PartFile(
      trace::part_of(mine.path, runtime.my_pe()),
      {.n_pes = runtime.n_pes(), .first_pe = runtime.my_pe(), .job = runtime.bootstrap->job_id()},
      settings.trace_events);
  mine.parts.push_back(mine.part);
  trace::set_pe_of_call(current_pe_or_none);
  trace::begin_recording(*mine.part);
  simt::set_recorder(&trace::kExecutorsRecorder);
}

// True where it is not known: the node was not looked up before the PEs of the job were gone.
bool has_other_hosts(const Runtime& runtime) {
  try {
    return runtime.bootstrap->node().n_pes < runtime.n_pes();
  } catch (const bootstrap::BootstrapError&) {
    return true;
  }
}

// The timeline is worth no job: what it misses is said.
template <class Act>
void or_warn(const Runtime& runtime, Act act) {
  try {
    act();
  } catch (const std::exception& error) {
    log(LogLevel::kWarn, runtime.my_pe(), "the timeline misses something: {}", error.what());
  }
}

// The PE that the part is named after sends it, though others may record for longer.
void await_others(OfProcess& mine, const Runtime& runtime, const trace::PartFile& part) {
  std::unique_lock lock(mine.mutex);
  if (!mine.closed.wait_until(lock, deadline_of_end(runtime), [&] { return part.is_closed(); }))
    throw Error("timeline", CHIMEX_ERR_TIMEOUT, "other PEs of this process still record");
}

bool is_wanted(const Runtime& runtime) { return !runtime.settings.trace_path.empty(); }

}  // namespace

void start_timeline(const Runtime& runtime) {
  if (!is_wanted(runtime)) return;
  OfProcess& mine = of_process();
  const std::lock_guard lock(mine.mutex);
  if (mine.pes == 0)
    begin(mine, runtime);
  else
    mine.part->add_pe();
  ++mine.pes;
  tell_clock(runtime, *mine.part);
  if (runtime.my_pe() == 0) trace::remove_earlier(mine.path);
}

void align_timeline(const Runtime& runtime) {
  if (is_wanted(runtime)) compare_clocks(runtime, *of_process().part, Comparison::kAtStart);
}

void stop_timeline(const Runtime& runtime, bool is_well) {
  if (!is_wanted(runtime)) return;
  OfProcess& mine = of_process();
  trace::PartFile* const part = mine.part;
  const bool compares = is_well && part != nullptr;
  if (compares) or_warn(runtime, [&] { compare_clocks(runtime, *part, Comparison::kAtEnd); });
  {
    const std::lock_guard lock(mine.mutex);
    if (mine.pes == 0) return;
    if (--mine.pes == 0) {
      simt::set_recorder(nullptr);
      trace::end_recording();
      part->close(has_other_hosts(runtime));
      mine.closed.notify_all();
    }
  }
  if (!compares) return;
  or_warn(runtime, [&] {
    if (part->header().first_pe == runtime.my_pe()) await_others(mine, runtime, *part);
    if (!carry_parts(runtime, mine.path, *part)) return;
    const std::lock_guard lock(mine.mutex);
    mine.is_sent = true;
  });
}

// Where a PE has died, its host's other processes may still record: chime-run, or the user, joins
// the parts when they have ended.
void join_timeline(const Runtime& runtime) {
  if (!is_wanted(runtime)) return;
  const std::string& path = of_process().path;
  if (of_process().is_sent) trace::remove_part(of_process().part->file(), path);
  if (runtime.my_pe() != 0) return;
  try {
    if (trace::parts_are_complete(path))
      log(LogLevel::kInfo, 0, "timeline {}", trace::merge(path));
    else
      log(LogLevel::kWarn, 0,
          "the timeline is not written yet, because not all PEs have ended well: chime-trace merge "
          "{} does it (chime-run does it by itself)",
          path);
  } catch (const std::exception& error) {
    log(LogLevel::kWarn, 0, "{}; chime-trace merge {} tries again", error.what(), path);
  }
}

}  // namespace chime::host
