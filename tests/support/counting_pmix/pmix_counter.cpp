// Replaces libpmix.so.2 in a PE, counts the PE's requests to its launcher, and prints the counts on
// stderr at the end; counting_pmix.py reads them. Each call goes on to the library that
// COUNTED_PMIX names. With LOSE_FIRST_GET the first PMIx_Get_nb of each key of each PE is dropped:
// it gets no answer.
#include <dlfcn.h>
#include <pmix.h>
#include <signal.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>

namespace {

using Clock = std::chrono::steady_clock;

struct Counts {
  const Clock::time_point begin = Clock::now();
  std::atomic<int> puts{0}, commits{0}, queries{0};
  std::mutex mutex;  // guards the members below
  std::set<std::string> keys;
  std::map<std::string, int> gets;  // by "<key>@<rank>": the number of requests
  double joined = 0;                // when the last endpoint info of its host's PEs arrived

  double seconds() const { return std::chrono::duration<double>(Clock::now() - begin).count(); }
  ~Counts() {
    std::string text = "PE " + std::string(std::getenv("PMIX_RANK")) + " counted " +
                       std::to_string(puts) + " puts of " + std::to_string(keys.size()) +
                       " keys, " + std::to_string(commits) + " commits, " +
                       std::to_string(queries) + " queries, joined after " +
                       std::to_string(joined) + " of " + std::to_string(seconds()) + " s, gets:";
    for (const auto& [question, times] : gets) text += " " + question + "=" + std::to_string(times);
    std::fprintf(stderr, "%s\n", text.c_str());
  }

  void count_put(const char* key) {
    puts++;
    const std::lock_guard lock(mutex);
    keys.insert(key);
  }
  int count_get(const std::string& key, unsigned rank) {
    const std::lock_guard lock(mutex);
    return ++gets[key + "@" + std::to_string(rank)];
  }
  void note_answer(const std::string& key) {
    const std::lock_guard lock(mutex);
    if (key.ends_with(".chime.node") || key.ends_with(".chime.host")) joined = seconds();
  }
};
Counts counts;

void* real(const char* name) {
  static void* const library = dlopen(std::getenv("COUNTED_PMIX"), RTLD_NOW | RTLD_LOCAL);
  void* const found = library ? dlsym(library, name) : nullptr;
  if (!found) std::abort();
  return found;
}

// A PMIx_Get_nb in flight.
struct Asked {
  pmix_value_cbfunc_t heard;
  void* token;
  std::string key;
};

void hear(pmix_status_t status, pmix_value_t* value, void* pointer) {
  const std::unique_ptr<Asked> asked(static_cast<Asked*>(pointer));
  if (status == PMIX_SUCCESS) counts.note_answer(asked->key);
  asked->heard(status, value, asked->token);
}
}  // namespace

#define REAL(name) reinterpret_cast<decltype(&::name)>(real(#name))

extern "C" {

pmix_status_t PMIx_Init(pmix_proc_t* proc, pmix_info_t* info, size_t n) {
  return REAL(PMIx_Init)(proc, info, n);
}
pmix_status_t PMIx_Finalize(const pmix_info_t* info, size_t n) {
  return REAL(PMIx_Finalize)(info, n);
}
pmix_status_t PMIx_Abort(int status, const char* message, pmix_proc_t* procs, size_t n) {
  return REAL(PMIx_Abort)(status, message, procs, n);
}
pmix_status_t PMIx_Put(pmix_scope_t scope, const char* key, pmix_value_t* value) {
  const char* const death = std::getenv("DIE_AT_PUT");
  if (death != nullptr && death == std::string(std::getenv("PMIX_RANK")) + " " + key)
    raise(SIGKILL);
  counts.count_put(key);
  return REAL(PMIx_Put)(scope, key, value);
}
pmix_status_t PMIx_Commit() {
  counts.commits++;
  return REAL(PMIx_Commit)();
}
// Requests for data that the process already has: the job's size, the host's name.
pmix_status_t PMIx_Get(const pmix_proc_t* proc, const char* key, const pmix_info_t* info, size_t n,
                       pmix_value_t** value) {
  return REAL(PMIx_Get)(proc, key, info, n, value);
}
pmix_status_t PMIx_Get_nb(const pmix_proc_t* proc, const char* key, const pmix_info_t* info,
                          size_t n, pmix_value_cbfunc_t heard, void* token) {
  if (counts.count_get(key, proc->rank) == 1 && std::getenv("LOSE_FIRST_GET") != nullptr)
    return PMIX_SUCCESS;
  auto asked = std::make_unique<Asked>(Asked{heard, token, key});
  const auto status = REAL(PMIx_Get_nb)(proc, key, info, n, hear, asked.get());
  if (status == PMIX_SUCCESS) static_cast<void>(asked.release());
  return status;
}
pmix_status_t PMIx_Resolve_peers(const char* node, const char* name_space, pmix_proc_t** procs,
                                 size_t* n) {
  return REAL(PMIx_Resolve_peers)(node, name_space, procs, n);
}
pmix_status_t PMIx_Query_info_nb(pmix_query_t* queries, size_t n, pmix_info_cbfunc_t heard,
                                 void* token) {
  counts.queries++;
  return REAL(PMIx_Query_info_nb)(queries, n, heard, token);
}
pmix_status_t PMIx_Register_event_handler(pmix_status_t* codes, size_t n_codes, pmix_info_t* info,
                                          size_t n, pmix_notification_fn_t handler,
                                          pmix_hdlr_reg_cbfunc_t registered, void* token) {
  return REAL(PMIx_Register_event_handler)(codes, n_codes, info, n, handler, registered, token);
}
const char* PMIx_Error_string(pmix_status_t status) { return REAL(PMIx_Error_string)(status); }
const char* PMIx_Get_version() { return REAL(PMIx_Get_version)(); }

}  // extern "C"
