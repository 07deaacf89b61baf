// Which launcher started this process: the one place that decides.
#include "bootstrap/bootstrap.hpp"
#include "bootstrap/local.hpp"
#include "bootstrap/pmix/pmix.hpp"
#include "bootstrap/singleton.hpp"

namespace chime::bootstrap {

std::unique_ptr<Bootstrap> make_bootstrap(const Settings& settings) {
  const auto& kind = settings.kind;
  if (kind == "pmix") return join_pmix_job(settings);
  if (kind == "local") return join_local_job(settings);
  if (kind == "none") return make_singleton();
  if (kind != "auto")
    throw BootstrapError("CHIME_BOOTSTRAP=" + kind + ": it may be auto, pmix, local or none");
  if (is_started_by_pmix()) return join_pmix_job(settings);
  if (is_started_by_chime_run()) return join_local_job(settings);
  return make_singleton();
}

}  // namespace chime::bootstrap
