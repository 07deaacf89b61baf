// Stands in for libpmix.so.2 in a PE, counts what the PE asks of its launcher, and says it at the
// end. Each call goes on to the library that COUNTED_PMIX names.
#include <dlfcn.h>
#include <pmix.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <set>
#include <string>

namespace {

struct Counts {
  std::atomic<int> puts{0}, commits{0}, gets{0}, queries{0};
  std::mutex mutex;  // guards keys
  std::set<std::string> keys;
  ~Counts() {
    std::fprintf(stderr, "counted %d puts of %zu keys, %d commits, %d gets, %d queries\n",
                 puts.load(), keys.size(), commits.load(), gets.load(), queries.load());
  }
};
Counts counts;

void* real(const char* name) {
  static void* const library = dlopen(std::getenv("COUNTED_PMIX"), RTLD_NOW | RTLD_LOCAL);
  void* const found = library ? dlsym(library, name) : nullptr;
  if (!found) std::abort();
  return found;
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
  counts.puts++;
  const std::lock_guard lock(counts.mutex);
  counts.keys.insert(key);
  return REAL(PMIx_Put)(scope, key, value);
}
pmix_status_t PMIx_Commit() {
  counts.commits++;
  return REAL(PMIx_Commit)();
}
// Asked of what the process knows already: the job's size, the host's name.
pmix_status_t PMIx_Get(const pmix_proc_t* proc, const char* key, const pmix_info_t* info, size_t n,
                       pmix_value_t** value) {
  return REAL(PMIx_Get)(proc, key, info, n, value);
}
pmix_status_t PMIx_Get_nb(const pmix_proc_t* proc, const char* key, const pmix_info_t* info,
                          size_t n, pmix_value_cbfunc_t heard, void* token) {
  counts.gets++;
  return REAL(PMIx_Get_nb)(proc, key, info, n, heard, token);
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
