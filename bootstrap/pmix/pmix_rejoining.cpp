#ifdef CHIME_HAVE_PMIX

#include "bootstrap/pmix/pmix_rejoining.hpp"

#include <exception>
#include <string>
#include <utility>

#include "bootstrap/hub/hub_client.hpp"
#include "bootstrap/id_content.hpp"
#include "net/socket/error.hpp"

namespace chime::bootstrap {
namespace {

class PmixRejoined final : public HubClient {
 public:
  PmixRejoined(PmixClient& client, int joining, Options options, Deadline deadline)
      : HubClient(std::move(options), deadline), client_(client), joining_(joining) {
    client_.enter();
    client_.on_lost([this](int pe, const std::string& why) { note_lost(pe, why); });
  }
  ~PmixRejoined() override {
    client_.on_lost(nullptr);
    client_.leave();
  }

  void abort(int code, std::string_view why) noexcept override try {
    client_.abort(code, std::string(why));
  } catch (const std::exception&) {  // no thread can be started: the caller ends all the same
  }
  void ask_who_is_lost() const override { client_.ask_who_is_lost(); }
  std::string why_lost(int pe) const override {
    const std::string why = client_.why_lost(pe);
    return why.empty() ? HubClient::why_lost(pe) : why;
  }
  std::string describe() const override {
    return std::string(client_.library().get_version()) + ", rank " + std::to_string(rank()) +
           " of " + std::to_string(size()) + " in " + client_.name_space() + ", joining " +
           std::to_string(joining_ + 1);
  }

 private:
  PmixClient& client_;
  const int joining_;
};

}  // namespace

std::unique_ptr<Bootstrap> rejoin_pmix_job(PmixClient& client, int joining,
                                           const chimex_uniqueid_t& rendezvous,
                                           const Settings& settings, Deadline deadline) try {
  const IdContent content = content_of(rendezvous, settings.makes_ids);
  HubClient::Options options;
  options.hub = content.addresses;
  options.waits_for_hub = true;
  options.token = content.token;
  options.pe = client.rank();
  options.n_pes = client.size();
  options.timeout = settings.timeout;
  options.code_when_gone = CHIMEX_ERR_PEER_DEAD;
  options.hub_name = "the rendezvous in the process of PE 0";
  return std::make_unique<PmixRejoined>(client, joining, std::move(options), deadline);
} catch (const net::Error& error) {
  throw BootstrapError("PE " + std::to_string(client.rank()) +
                           " cannot join the job again: PEs that initialise a second time meet in "
                           "the process of PE 0, and it cannot be reached: " +
                           error.what() +
                           " (is PE 0 still alive, and CHIME_BOOTSTRAP_IF right there?)",
                       CHIMEX_ERR_TIMEOUT);
}

}  // namespace chime::bootstrap

#endif  // CHIME_HAVE_PMIX
