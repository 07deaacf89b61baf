#include "bootstrap/hub/hub_server.hpp"

#include <algorithm>

#include "net/mesh/fields.hpp"

namespace chime::bootstrap {
namespace {

constexpr std::size_t kMaxStrangers = 256;  // beside the job's PEs, which may all come at once
constexpr std::chrono::milliseconds kClockCheck{500};
constexpr int kMaxPes = 1 << 20;
constexpr std::chrono::seconds kFlushTimeout{1};  // for last answers when the hub ends

}  // namespace

HubServer::HubServer(std::vector<net::Descriptor> listeners, Hub::Options options)
    : options_(std::move(options)) {
  gate_ = std::make_unique<net::Gate>(
      reactor_, std::move(listeners),
      net::Gate::Options{.credentials = hub_credentials(options_.token),
                         .limits = kHubLimits,
                         .max_strangers = kMaxStrangers,
                         .log = options_.log},
      [this](std::shared_ptr<net::Connection> guest) { admit(std::move(guest)); });
  if (options_.n_pes) set_number_of_pes(options_.n_pes);
  if (options_.idle_limit.count()) watch_the_clock();
}

HubServer::~HubServer() {
  for (const Member& member : members_)
    if (member.connection) member.connection->close();
}

void HubServer::serve() {
  while (!must_stop_ && !has_been_idle_too_long()) reactor_.run_once();
  gate_.reset();
  flush_last_answers();
}

void HubServer::stop() {
  reactor_.post([this] { must_stop_ = true; });
}

void HubServer::tell_lost(int pe, std::string why) {
  reactor_.post([this, pe, why = std::move(why)] { lose(pe, why); });
}

void HubServer::ask_activity(std::function<void()> said) {
  reactor_.post([this, said = std::move(said)] { ask_members(said); });
}

void HubServer::admit(std::shared_ptr<net::Connection> guest) {
  const int pe = guest->client_pe();
  net::Reader introduction(guest->introduction());
  const auto n_pes = introduction.get<std::int32_t>();
  const auto node = introduction.text();
  guest->belong_to(*this);
  guest->tag = static_cast<std::uint64_t>(pe);
  if (const auto why = why_refused(pe, n_pes); !why.empty()) {
    gate_->log_refusal(guest->peer(), why);
    return guest->refuse(why);
  }
  guest->accept();
  Member& member = members_[pe];
  member.connection = std::move(guest);
  member.joinings++;
  n_connected_++;
  session(session_of(pe)).join(pe, node);
}

// Empty if `pe` may join.
std::string HubServer::why_refused(int pe, int n_pes) {
  if (n_pes < 1 || n_pes > kMaxPes) return "a job cannot have " + std::to_string(n_pes) + " PEs";
  if (members_.empty()) set_number_of_pes(n_pes);
  if (n_pes != static_cast<int>(members_.size()))
    return "it says that the job has " + std::to_string(n_pes) + " PEs, but the job has " +
           std::to_string(members_.size());
  if (pe < 0 || pe >= n_pes)
    return "there is no PE " + std::to_string(pe) + " in a job of " + std::to_string(n_pes);
  return members_[pe].connection ? "PE " + std::to_string(pe) + " is in the job already" : "";
}

void HubServer::set_number_of_pes(int n_pes) {
  members_.resize(static_cast<std::size_t>(n_pes));
  gate_->set_max_strangers(members_.size() + kMaxStrangers);
}

HubSession& HubServer::session(std::size_t number) {
  auto& session = sessions_[number];
  if (session) return *session;
  session = std::make_unique<HubSession>(
      static_cast<int>(members_.size()),
      [this, number](int pe, const Bytes& message) { send(pe, number, message); });
  for (std::size_t pe = 0; pe < members_.size(); pe++)
    if (!members_[pe].ended.empty()) session->lose(static_cast<int>(pe), members_[pe].ended);
  return *session;
}

// One that is about to end is not sent to any more.
void HubServer::send(int pe, std::size_t session, const Bytes& message) {
  const Member& member = members_[pe];
  if (!member.connection || session_of(pe) != session || !member.connection->is_open()) return;
  member.connection->send(message);
}

void HubServer::on_frame(net::Connection& connection, net::Bytes frame) {
  const int pe = pe_of(connection);
  MessageReader message(frame);
  if (message.type() == Message::kAbort) return abort(pe, message);
  if (message.type() == Message::kActivityReported) {
    members_[pe].is_asked = false;
    return note_answers();
  }
  const std::size_t number = session_of(pe);
  if (message.type() != Message::kGoodbye) return session(number).handle(pe, message);
  part_with(pe);
  session(number).leave(pe);
  free_if_over(number);
}

void HubServer::abort(int pe, MessageReader& message) {
  const auto code = message.get<std::int32_t>();
  const auto why = message.text();
  const auto notification =
      MessageWriter(Message::kAborted).put<std::int32_t>(pe).put(code).text(why).take();
  for (int other = 0; other < static_cast<int>(members_.size()); other++)
    if (other != pe) send(other, session_of(pe), notification);
  if (options_.aborted) options_.aborted(pe, code, why);
}

// No member is known for a connection that was refused.
void HubServer::on_end(net::Connection& connection, const net::Error& why) {
  const int pe = pe_of(connection);
  if (pe < 0 || pe >= static_cast<int>(members_.size()) ||
      members_[pe].connection.get() != &connection)
    return;
  const std::size_t number = session_of(pe);
  part_with(pe);
  session(number).lose(pe,
                       why.fault() == net::Fault::kClosed
                           ? "its connection to the job's hub closed before it had finalized"
                           : std::string("its connection to the job's hub ended: ") + why.what());
  free_if_over(number);
}

// Also in sessions that `pe` has not joined: nobody should wait for it there. If it said goodbye,
// it did so before its end was reported: messages that have come are read first.
void HubServer::lose(int pe, const std::string& why) {
  if (members_.empty()) return;  // nobody has joined: the number of PEs is not known
  if (const auto connection = members_[pe].connection) connection->read_now();
  members_[pe].ended = why;
  if (sessions_.empty() && !is_first_over_) session(0);
  std::vector<std::size_t> numbers;
  for (const auto& [number, session] : sessions_) numbers.push_back(number);
  for (const std::size_t number : numbers) {
    session(number).lose(pe, why);
    free_if_over(number);
  }
  if (members_[pe].connection) part_with(pe);
}

void HubServer::part_with(int pe) {
  Member& member = members_[pe];
  const auto connection = std::move(member.connection);
  member.connection = nullptr;
  member.is_asked = false;
  n_connected_--;
  connection->close();
  note_answers();
}

void HubServer::free_if_over(std::size_t number) {
  const auto found = sessions_.find(number);
  if (found == sessions_.end() || !found->second->is_over()) return;
  is_first_over_ |= number == 0;
  sessions_.erase(found);
}

void HubServer::ask_members(std::function<void()> said) {
  said_ = std::move(said);
  for (Member& member : members_) {
    if (!member.connection) continue;
    member.is_asked = true;
    if (member.connection->is_open())
      member.connection->send(MessageWriter(Message::kAskActivity).take());
  }
  note_answers();
}

void HubServer::note_answers() {
  if (!said_) return;
  const auto is_awaited = [](const Member& member) { return member.is_asked; };
  if (std::none_of(members_.begin(), members_.end(), is_awaited)) std::exchange(said_, nullptr)();
}

void HubServer::watch_the_clock() {
  reactor_.at(net::Clock::now() + kClockCheck, [this] { watch_the_clock(); });
}

bool HubServer::has_been_idle_too_long() {
  if (options_.idle_limit.count() == 0 || !is_first_over_ || n_connected_ > 0) {
    idle_since_.reset();
    return false;
  }
  if (!idle_since_) idle_since_ = net::Clock::now();
  return net::Clock::now() - *idle_since_ > options_.idle_limit;
}

void HubServer::flush_last_answers() {
  const auto all_have_gone = [this] {
    return std::none_of(members_.begin(), members_.end(), [](const Member& member) {
      return member.connection && member.connection->has_unsent();
    });
  };
  reactor_.run_until(all_have_gone, net::Clock::now() + kFlushTimeout);
}

}  // namespace chime::bootstrap
