#ifdef CHIME_HAVE_PMIX

#include "bootstrap/pmix/pmix_library.hpp"

#include <dlfcn.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <utility>

#include "bootstrap/bootstrap.hpp"

namespace chime::bootstrap {
namespace {

constexpr char kLibrary[] = "libpmix.so.2";  // one name for PMIx 2 to 5

template <class Function>
void find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  if (!function)
    throw BootstrapError(std::string(kLibrary) + " has no " + name + ": it is too old");
}

pmix_info_t named(const char* key) {
  pmix_info_t info{};
  std::strncpy(info.key, key, PMIX_MAX_KEYLEN);
  return info;
}

using Processes = std::optional<std::vector<PmixProcess>>;

// Kept until it is answered: PMIx copies none of what it is asked with.
struct ProcessQuestion {
  explicit ProcessQuestion(std::string of) : name_space(std::move(of)) {
    of_job.value.type = PMIX_STRING;
    of_job.value.data.string = name_space.data();
    query.keys = keys;
    query.qualifiers = &of_job;
    query.nqual = 1;
  }
  ProcessQuestion(const ProcessQuestion&) = delete;

  void add(const pmix_proc_info_t& row);
  void add_all(const pmix_info_t& result);

  std::string name_space;
  char key[sizeof PMIX_QUERY_LOCAL_PROC_TABLE] = PMIX_QUERY_LOCAL_PROC_TABLE;
  char* keys[2] = {key, nullptr};
  pmix_info_t of_job = named(PMIX_NSPACE);
  pmix_query_t query{};
  std::vector<PmixProcess> rows;
  std::promise<Processes> answer;
};

void ProcessQuestion::add(const pmix_proc_info_t& row) {
  if (row.proc.nspace == name_space)
    rows.push_back({static_cast<int>(row.proc.rank), row.pid, row.state});
}

void ProcessQuestion::add_all(const pmix_info_t& result) {
  if (result.value.type != PMIX_DATA_ARRAY) return;
  const pmix_data_array_t& table = *result.value.data.darray;
  for (size_t i = 0; i < table.size; i++) {
    if (table.type == PMIX_PROC_INFO) add(static_cast<const pmix_proc_info_t*>(table.array)[i]);
    if (table.type != PMIX_INFO) continue;  // Open MPI 4.1 wraps each row once more
    const auto& value = static_cast<const pmix_info_t*>(table.array)[i].value;
    if (value.type == PMIX_PROC_INFO) add(*value.data.pinfo);
  }
}

// On PMIx's thread.
void hear_processes(pmix_status_t status, pmix_info_t* results, size_t n, void* asked,
                    pmix_release_cbfunc_t release, void* token) {
  const std::unique_ptr<ProcessQuestion> question(static_cast<ProcessQuestion*>(asked));
  if (status == PMIX_SUCCESS)
    for (size_t i = 0; i < n; i++) question->add_all(results[i]);
  if (release) release(token);
  question->answer.set_value(status == PMIX_SUCCESS ? Processes(std::move(question->rows))
                                                    : std::nullopt);
}

}  // namespace

PmixLibrary PmixLibrary::load() {
  void* library = dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
  if (!library)
    throw BootstrapError(
        std::string("a PMIx launcher started this process, but its library cannot be loaded: ") +
        dlerror() + " (Debian: package libpmix2; or set LD_LIBRARY_PATH)");
  PmixLibrary pmix;
  find(library, "PMIx_Init", pmix.init);
  find(library, "PMIx_Finalize", pmix.finalize);
  find(library, "PMIx_Abort", pmix.abort);
  find(library, "PMIx_Put", pmix.put);
  find(library, "PMIx_Commit", pmix.commit);
  find(library, "PMIx_Get", pmix.get);
  find(library, "PMIx_Get_nb", pmix.get_nb);
  find(library, "PMIx_Resolve_peers", pmix.resolve_peers);
  find(library, "PMIx_Query_info_nb", pmix.query_info_nb);
  find(library, "PMIx_Register_event_handler", pmix.register_event_handler);
  find(library, "PMIx_Error_string", pmix.error_string);
  find(library, "PMIx_Get_version", pmix.get_version);
  return pmix;
}

pmix_proc_t pmix_proc(const char* name_space, pmix_rank_t rank) {
  pmix_proc_t proc{};
  std::strncpy(proc.nspace, name_space, PMIX_MAX_NSLEN);
  proc.rank = rank;
  return proc;
}

pmix_info_t pmix_flag(const char* key) {
  auto info = named(key);
  info.value.type = PMIX_BOOL;
  info.value.data.flag = true;
  return info;
}

pmix_info_t pmix_seconds(const char* key, int seconds) {
  auto info = named(key);
  info.value.type = PMIX_INT;
  info.value.data.integer = seconds;
  return info;
}

PmixValue::~PmixValue() {
  if (!value_) return;
  if (value_->type == PMIX_STRING) std::free(value_->data.string);
  if (value_->type == PMIX_BYTE_OBJECT) std::free(value_->data.bo.bytes);
  std::free(value_);
}

long long PmixValue::as_number() const {
  switch (value_->type) {
    case PMIX_INT:
      return value_->data.integer;
    case PMIX_INT32:
      return value_->data.int32;
    case PMIX_INT64:
      return value_->data.int64;
    case PMIX_UINT:
      return value_->data.uint;
    case PMIX_UINT16:
      return value_->data.uint16;
    case PMIX_UINT32:
      return value_->data.uint32;
    case PMIX_UINT64:
      return static_cast<long long>(value_->data.uint64);
    case PMIX_SIZE:
      return static_cast<long long>(value_->data.size);
    case PMIX_PROC_RANK:
      return value_->data.rank;
    default:
      return -1;
  }
}

std::string PmixValue::as_text() const {
  return value_->type == PMIX_STRING && value_->data.string ? value_->data.string : "";
}

std::shared_future<Processes> ask_for_processes(const PmixLibrary& library,
                                                const std::string& name_space) {
  auto question = std::make_unique<ProcessQuestion>(name_space);
  std::shared_future<Processes> answer = question->answer.get_future();
  if (library.query_info_nb(&question->query, 1, hear_processes, question.get()) == PMIX_SUCCESS)
    question.release();  // hear_processes takes it
  else
    question->answer.set_value(std::nullopt);
  return answer;
}

}  // namespace chime::bootstrap

#endif  // CHIME_HAVE_PMIX
