#ifdef CHIME_HAVE_PMIX

#include "bootstrap/pmix_library.hpp"

#include <dlfcn.h>

#include <cstdlib>
#include <cstring>

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
  find(library, "PMIx_Query_info", pmix.query_info);
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

pmix_status_t PmixProcessTable::ask(const PmixLibrary& library, const char* name_space) {
  char key[] = PMIX_QUERY_LOCAL_PROC_TABLE;
  char* keys[] = {key, nullptr};
  auto of_job = named(PMIX_NSPACE);
  of_job.value.type = PMIX_STRING;
  of_job.value.data.string = const_cast<char*>(name_space);  // read only
  pmix_query_t query{};
  query.keys = keys;
  query.qualifiers = &of_job;
  query.nqual = 1;
  return library.query_info(&query, 1, &results_, &n_results_);
}

std::vector<pmix_proc_info_t*> PmixProcessTable::rows() const {
  std::vector<pmix_proc_info_t*> rows;
  for (size_t r = 0; r < n_results_; r++) {
    if (results_[r].value.type != PMIX_DATA_ARRAY) continue;
    const auto* table = results_[r].value.data.darray;
    for (size_t i = 0; i < table->size; i++) {
      if (table->type == PMIX_PROC_INFO)
        rows.push_back(&static_cast<pmix_proc_info_t*>(table->array)[i]);
      if (table->type != PMIX_INFO) continue;  // Open MPI 4.1 wraps each row once more
      const auto& value = static_cast<pmix_info_t*>(table->array)[i].value;
      if (value.type == PMIX_PROC_INFO) rows.push_back(value.data.pinfo);
    }
  }
  return rows;
}

PmixProcessTable::~PmixProcessTable() {
  for (auto* row : rows()) std::free(row->hostname), std::free(row->executable_name);
  for (size_t r = 0; r < n_results_; r++) {
    if (results_[r].value.type != PMIX_DATA_ARRAY) continue;
    auto* table = results_[r].value.data.darray;
    for (size_t i = 0; table->type == PMIX_INFO && i < table->size; i++) {
      const auto& value = static_cast<pmix_info_t*>(table->array)[i].value;
      if (value.type == PMIX_PROC_INFO) std::free(value.data.pinfo);
    }
    std::free(table->array);
    std::free(table);
  }
  std::free(results_);
}

}  // namespace chime::bootstrap

#endif  // CHIME_HAVE_PMIX
