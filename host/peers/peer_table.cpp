#include "host/peers/peer_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "host/errors/error.hpp"

namespace chime::host {
namespace {

std::size_t index_of(Path path) { return static_cast<std::size_t>(path); }

}  // namespace

PeerTable::PeerTable(const Job& job)
    : job_(job), pages_(static_cast<std::size_t>((job.n_pes + kPage - 1) / kPage)) {}

void PeerTable::add(const Transport& transport) {
  const std::lock_guard lock(mutex_);
  transports_.push_back(&transport);
}

void PeerTable::ask(int pe, Path path) {
  const std::lock_guard lock(mutex_);
  move(pe, path, PeerState::kUnknown, PeerState::kAsked);
}

void PeerTable::connect(int pe, Path path) {
  const std::lock_guard lock(mutex_);
  move(pe, path, PeerState::kAsked, PeerState::kConnecting);
}

void PeerTable::use(int pe, Path path, std::byte* mapped) {
  const std::lock_guard lock(mutex_);
  move(pe, path, PeerState::kConnecting, PeerState::kUsable);
  ++usable_[index_of(path)];
  Peer& peer = at(pe);
  if (mapped) peer.heap = mapped;
}

void PeerTable::refuse(int pe, Path path, std::string why) {
  const std::lock_guard lock(mutex_);
  PeerState& state = at(pe).states[index_of(path)];
  if (state == PeerState::kUsable || state == PeerState::kRefused)
    move(pe, path, PeerState::kConnecting, PeerState::kRefused);
  state = PeerState::kRefused;
  if (!why.empty()) refused_.insert_or_assign(pe, std::move(why));
}

void PeerTable::refuse_all(Path path) {
  const std::lock_guard lock(mutex_);
  none_by_[index_of(path)] = true;
}

bool PeerTable::is_on_demand(Path path) const {
  return !none_by_[index_of(path)] && std::ranges::any_of(transports_, [&](const Transport* one) {
    return one->capabilities().path == path && one->opens_on_demand();
  });
}

void PeerTable::bury(int pe, const std::string& how, const std::function<void()>& take_mapping) {
  const std::lock_guard lock(mutex_);
  take_mapping();
  at(pe).is_dead = true;
  dead_.try_emplace(pe, how);
}

PeerState PeerTable::state(int pe, Path path) const {
  const std::lock_guard lock(mutex_);
  const Peer peer = known(pe);
  return peer.is_dead ? PeerState::kDead : peer.states[index_of(path)];
}

bool PeerTable::is_dead(int pe) const {
  const std::lock_guard lock(mutex_);
  return known(pe).is_dead;
}

Path PeerTable::path(int pe) const {
  const std::lock_guard lock(mutex_);
  const Peer peer = known(pe);
  if (peer.is_dead) return Path::kNone;
  for (const Path path : {Path::kP2p, Path::kNic, Path::kProxy}) {
    const PeerState state = peer.states[index_of(path)];
    if (state == PeerState::kUsable || (state != PeerState::kRefused && is_on_demand(path)))
      return path;
  }
  return Path::kNone;
}

std::string PeerTable::why_not(int pe) const {
  const std::lock_guard lock(mutex_);
  if (const auto dead = dead_.find(pe); dead != dead_.end())
    return fmt::format("PE {} is gone: {}", pe, dead->second);
  if (const auto refused = refused_.find(pe); refused != refused_.end()) return refused->second;
  std::string why;
  bool has_nic = false, has_fabric = false;
  for (const Transport* transport : transports_) {
    why += (why.empty() ? "" : ", and ") + transport->why_not(pe);
    has_nic |= transport->capabilities().path == Path::kNic;
    has_fabric |= transport->capabilities().path == Path::kProxy;
  }
  // Where a NIC or a fabric is asked for, or a peer is not mapped and the variable says auto, one
  // is opened or says why it is not.
  if (!has_nic) why += ", and CHIME_NIC=none (auto opens one)";
  if (!has_fabric) why += ", and CHIME_FABRIC=off (auto opens one)";
  return why;
}

bool PeerTable::all_by(Path path) const {
  const std::lock_guard lock(mutex_);
  return reaches_all(path);
}

bool PeerTable::any_by(Path path) const {
  const std::lock_guard lock(mutex_);
  return usable_[index_of(path)] != 0 || is_on_demand(path);
}

bool PeerTable::some_pe_has_nic() const {
  return !none_by_[index_of(Path::kNic)] &&
         std::ranges::any_of(transports_, [](const Transport* one) {
           return one->capabilities().path == Path::kNic && one->is_used();
         });
}

bool PeerTable::reaches_all(Path path) const {
  return usable_[index_of(path)] == job_.n_pes || is_on_demand(path);
}

// As others see it, also where this PE is reached by nobody.
bool PeerTable::job_goes_by(Path path) const {
  return usable_[index_of(path)] == job_.n_pes ||
         std::ranges::any_of(transports_, [&](const Transport* one) {
           return one->capabilities().path == path && one->opens_on_demand() && one->is_used();
         });
}

bool PeerTable::owners_nics_update() const {
  const std::lock_guard lock(mutex_);
  return reaches_all(Path::kNic) || (some_pe_has_nic() && job_goes_by(Path::kProxy));
}

Path PeerTable::amo_path() const {
  const bool nic = owners_nics_update();
  switch (job_.amo) {
    case AmoChoice::kP2p:
      return Path::kP2p;
    case AmoChoice::kAuto:
      return nic && !all_by(Path::kP2p) ? Path::kNic : Path::kP2p;
    case AmoChoice::kOwner:
      break;
  }
  if (nic) return Path::kNic;
  if (all_by(Path::kProxy)) return Path::kProxy;
  throw Error("CHIME_AMO", CHIMEX_ERR_UNSUPPORTED,
              "owner takes a NIC or a fabric on every PE, and there is none; set CHIME_NIC or "
              "CHIME_FABRIC, or CHIME_AMO=auto");
}

std::byte* PeerTable::heap(int pe) const {
  const std::lock_guard lock(mutex_);
  return known(pe).heap;
}

void PeerTable::set_control(int pe, ControlBlock* control) {
  const std::lock_guard lock(mutex_);
  at(pe).control = control;
}

ControlBlock* PeerTable::control(int pe) const {
  const std::lock_guard lock(mutex_);
  return known(pe).control;
}

PeerTable::Peer& PeerTable::at(int pe) {
  std::unique_ptr<Page>& page = pages_.at(static_cast<std::size_t>(pe / kPage));
  if (!page) page = std::make_unique<Page>();
  return (*page)[static_cast<std::size_t>(pe % kPage)];
}

PeerTable::Peer PeerTable::known(int pe) const {
  const std::unique_ptr<Page>& page = pages_.at(static_cast<std::size_t>(pe / kPage));
  return page ? (*page)[static_cast<std::size_t>(pe % kPage)] : Peer{};
}

// A step that was left out is a mistake of Chime's, and no later one would be right.
void PeerTable::move(int pe, Path path, PeerState from, PeerState to) {
  PeerState& state = at(pe).states[index_of(path)];
  if (state != from) {
    std::fprintf(stderr, "chime: PE %d, path %d: state %d came where %d follows %d\n", pe,
                 static_cast<int>(path), static_cast<int>(state), static_cast<int>(to),
                 static_cast<int>(from));
    std::abort();
  }
  state = to;
}

}  // namespace chime::host
