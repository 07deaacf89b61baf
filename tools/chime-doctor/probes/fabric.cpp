#include "tools/chime-doctor/probes/network.hpp"

#ifdef CHIME_HAVE_LIBFABRIC

#include <algorithm>

#include "host/errors/error.hpp"
#include "host/transport/ofi/fabric/library.hpp"

namespace chime::doctor {

FabricAnswers ask_fabric() {
  FabricAnswers answers;
  try {
    fi_info* all = nullptr;
    const auto& library = host::ofi::libfabric();
    if (library.fi_getinfo(FI_VERSION(1, 17), nullptr, nullptr, 0, nullptr, &all) < 0)
      return answers;
    const host::ofi::Info owner(all);
    for (const fi_info* info = all; info != nullptr; info = info->next)
      if (std::ranges::find(answers.providers, info->fabric_attr->prov_name) ==
          answers.providers.end())
        answers.providers.push_back(info->fabric_attr->prov_name);
  } catch (const host::Error& error) {
    answers.why_not = error.message();
  }
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
