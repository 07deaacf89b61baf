// libpmix, loaded when a PMIx launcher started this process, so that libchime.so itself does not
// need it.
#pragma once

#include <pmix.h>
#include <sys/types.h>

#include <future>
#include <optional>
#include <string>
#include <vector>

namespace chime::bootstrap {

// The functions that Chime uses, under their own names. libpmix.so.2 has them since PMIx 2.
struct PmixLibrary {
  // Throws BootstrapError, saying which package is missing.
  static PmixLibrary load();

  decltype(&::PMIx_Init) init;
  decltype(&::PMIx_Finalize) finalize;
  decltype(&::PMIx_Abort) abort;
  decltype(&::PMIx_Put) put;
  decltype(&::PMIx_Commit) commit;
  decltype(&::PMIx_Get) get;
  decltype(&::PMIx_Get_nb) get_nb;
  decltype(&::PMIx_Resolve_peers) resolve_peers;
  decltype(&::PMIx_Query_info_nb) query_info_nb;
  decltype(&::PMIx_Register_event_handler) register_event_handler;
  decltype(&::PMIx_Error_string) error_string;
  decltype(&::PMIx_Get_version) get_version;
};

// Arguments of PMIx calls, built by hand: the header's macros call functions that older libraries
// lack.
pmix_proc_t pmix_proc(const char* name_space, pmix_rank_t rank);
pmix_info_t pmix_flag(const char* key);
pmix_info_t pmix_seconds(const char* key, int seconds);

// A value that PMIx_Get gave; frees it.
class PmixValue {
 public:
  PmixValue() = default;
  PmixValue(const PmixValue&) = delete;
  PmixValue& operator=(const PmixValue&) = delete;
  ~PmixValue();

  pmix_value_t** out() { return &value_; }
  const pmix_value_t* operator->() const { return value_; }

  // Launchers use different integer types for one key. -1 if it is none.
  long long as_number() const;
  std::string as_text() const;

 private:
  pmix_value_t* value_ = nullptr;
};

// A row of what the launcher answers to PMIX_QUERY_LOCAL_PROC_TABLE.
struct PmixProcess {
  int rank;
  pid_t pid;
  pmix_proc_state_t state;
};

// Asks for the processes of `name_space` on this node, and returns at once: PMIx bounds no such
// question, so the thread that waits for the answer does. Launchers that cannot answer give
// nothing.
std::shared_future<std::optional<std::vector<PmixProcess>>> ask_for_processes(
    const PmixLibrary& library, const std::string& name_space);

}  // namespace chime::bootstrap
