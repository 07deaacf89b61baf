#include "tools/chime-doctor/probes/network.hpp"

#ifdef CHIME_HAVE_LIBFABRIC

#include <dlfcn.h>
#include <rdma/fabric.h>

#include <algorithm>

namespace chime::doctor {
namespace {

// host/transport/ofi/fabric/library.cpp loads these, too, and keeps them.
struct Fabric {
  decltype(&::fi_getinfo) get_info = nullptr;
  decltype(&::fi_freeinfo) free_info = nullptr;
};

template <class Function>
bool find_fabric(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(::dlvsym(library, name, "FABRIC_1.3"));
  return function != nullptr;
}

// Empty if all are there.
std::string load_fabric(Fabric& fabric) {
  void* const library = ::dlopen("libfabric.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return ::dlerror();
  const bool is_whole = find_fabric(library, "fi_getinfo", fabric.get_info) &&
                        find_fabric(library, "fi_freeinfo", fabric.free_info);
  return is_whole ? "" : "libfabric.so.1 is older than 1.17";
}

}  // namespace

FabricAnswers ask_fabric() {
  FabricAnswers answers;
  Fabric fabric;
  answers.why_not = load_fabric(fabric);
  fi_info* all = nullptr;
  if (!answers.why_not.empty() ||
      fabric.get_info(FI_VERSION(1, 17), nullptr, nullptr, 0, nullptr, &all) < 0)
    return answers;
  for (const fi_info* info = all; info != nullptr; info = info->next)
    if (std::ranges::find(answers.providers, info->fabric_attr->prov_name) ==
        answers.providers.end())
      answers.providers.push_back(info->fabric_attr->prov_name);
  fabric.free_info(all);
  return answers;
}

}  // namespace chime::doctor

#else

namespace chime::doctor {

FabricAnswers ask_fabric() {
  return {"this Chime is built without libfabric (needs libfabric-dev)", {}};
}

}  // namespace chime::doctor

#endif
