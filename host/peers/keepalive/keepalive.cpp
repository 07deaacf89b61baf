#include "host/peers/keepalive/keepalive.hpp"

#include <utility>

#include "host/errors/error.hpp"
#include "host/errors/log.hpp"
#include "host/peers/side_channel.hpp"
#include "net/socket/error.hpp"

namespace chime::host {
namespace {

constexpr char kRecordKey[] = "chime.keepalive";

}  // namespace

Keepalive::Keepalive(bootstrap::Bootstrap& bootstrap, Options options)
    : bootstrap_(bootstrap), options_(std::move(options)) {
  const bootstrap::NodeInfo& node = bootstrap.node();
  if (options_.silence.count() == 0 || node.n_pes == bootstrap.size()) return;
  const int me = bootstrap.rank();
  try {
    links_ = std::make_unique<KeepaliveLinks>(
        KeepaliveLinks::Options{
            .secret = bootstrap.job_secret(),
            .job = bootstrap.job_id(),
            .pe = me,
            .n_pes = bootstrap.size(),
            .node_pes = node.pes,
            .addresses = addresses_of_this_host(options_.interface),
            .silence = options_.silence,
            .log = [me](const std::string& line) { log(LogLevel::kWarn, me, "{}", line); }},
        KeepaliveLinks::Events{.find = [this](int pe) { find(pe); },
                               .lost =
                                   [this](const NodeRecord& lost, const std::string& why) {
                                     for (const int pe : lost.pes) options_.lost(pe, why);
                                   },
                               .failed = options_.failed});
    links_->start();
    net::Writer record;
    links_->wait_until_ready(options_.deadline).write(record);
    bootstrap.publish(kRecordKey, record.written());
  } catch (const net::Error& error) {
    throw Error("keepalive", CHIMEX_ERR_SYSTEM, error.what());
  }
}

// First nobody asks any more, then no answer comes.
Keepalive::~Keepalive() {
  if (links_) links_->stop();
}

// One that never answers has not come as far as this: the job is not there yet.
void Keepalive::find(int pe) {
  try {
    auto question = bootstrap_.ask(pe, kRecordKey, [this](bootstrap::Answer answer) {
      if (answer.code == CHIMEX_OK) links_->found(answer.value);
    });
    const std::lock_guard lock(mutex_);
    asked_.push_back(std::move(question));
  } catch (const bootstrap::BootstrapError& error) {
    log(LogLevel::kWarn, bootstrap_.rank(), "hosts are not watched from here: {}", error.what());
  }
}

}  // namespace chime::host
