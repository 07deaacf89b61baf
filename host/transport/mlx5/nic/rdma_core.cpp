#include "host/transport/mlx5/nic/rdma_core.hpp"

#include <dlfcn.h>

#include "host/errors/error.hpp"

namespace chime::host::mlx5 {
namespace {

constexpr char kAdvice[] = " (Debian: packages libibverbs1 and ibverbs-providers)";

void* open_library(const char* name) {
  void* library = ::dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr)
    throw Error("NIC", CHIMEX_ERR_UNSUPPORTED,
                std::string("rdma-core cannot be loaded: ") + ::dlerror() + kAdvice);
  return library;
}

template <class Function>
void find(void* library, const char* file, const char* name, Function& function) {
  function = reinterpret_cast<Function>(::dlsym(library, name));
  if (function == nullptr)
    throw Error(
        "NIC", CHIMEX_ERR_UNSUPPORTED,
        std::string(file) + " has no " + name + "; install rdma-core 34 or newer" + kAdvice);
}

template <class Function>
void find(void* library, const char* file, const char* name,
          device_activity::Allocating<Function>& function) {
  function.name = name;
  find(library, file, name, function.function);
}

// Never closed: the libraries keep threads' and other users' state.
RdmaCore load() {
  RdmaCore core;
  void* verbs = open_library("libibverbs.so.1");
#define CHIME_RDMA_CORE_FIND(name, does) find(verbs, "libibverbs.so.1", #name, core.name);
  CHIME_VERBS_FUNCTIONS(CHIME_RDMA_CORE_FIND)
#undef CHIME_RDMA_CORE_FIND
  core.ibv_query_qp_data_in_order = reinterpret_cast<decltype(core.ibv_query_qp_data_in_order)>(
      ::dlsym(verbs, "ibv_query_qp_data_in_order"));
  void* mlx5 = open_library("libmlx5.so.1");
#define CHIME_RDMA_CORE_FIND(name, does) find(mlx5, "libmlx5.so.1", #name, core.name);
  CHIME_MLX5DV_FUNCTIONS(CHIME_RDMA_CORE_FIND)
#undef CHIME_RDMA_CORE_FIND
  core.mlx5dv_devx_umem_reg_ex = reinterpret_cast<decltype(core.mlx5dv_devx_umem_reg_ex)>(
      ::dlsym(mlx5, "mlx5dv_devx_umem_reg_ex"));
  return core;
}

}  // namespace

int RdmaCore::query_port(ibv_context* context, std::uint8_t port, ibv_port_attr& attributes) const {
  attributes = {};
  verbs_context* table = verbs_get_ctx_op(context, query_port);
  if (table == nullptr) return EOPNOTSUPP;
  return table->query_port(context, port, &attributes, sizeof attributes);
}

int RdmaCore::query_gid(ibv_context* context, std::uint8_t port, unsigned index,
                        ibv_gid_entry& entry) const {
  entry = {};
  return _ibv_query_gid_ex(context, port, index, &entry, 0, sizeof entry);
}

const RdmaCore& rdma_core() {
  // An initialiser that throws is run again at the next call.
  static const RdmaCore the_core = load();
  return the_core;
}

void fail_nic(const std::string& what, int error_number, const std::string& advice) {
  const chimex_status code = error_number == ENOMEM ? CHIMEX_ERR_OUT_OF_MEMORY : CHIMEX_ERR_SYSTEM;
  throw Error("NIC", code,
              what + ": " + std::generic_category().message(error_number) +
                  (advice.empty() ? "" : "; " + advice));
}

}  // namespace chime::host::mlx5
