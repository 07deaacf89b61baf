#include "support/world.hpp"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <thread>

#include "support/board.hpp"
#include "support/environment.hpp"
#include "support/world_path.hpp"

namespace chime::tests {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

// How long the other PEs may run after one has failed: long enough for their own messages.
constexpr milliseconds kGraceAfterFailure{2000};

[[noreturn]] void reject(std::string_view text, const std::string& why) {
  throw std::invalid_argument("'" + std::string(text) + "' names no World: " + why +
                              " (like cpu-p2p-4threads)");
}

}  // namespace

WorldName WorldName::parse(std::string_view text) {
  const std::size_t first = text.find('-'), last = text.rfind('-');
  if (first == last || first == std::string_view::npos) reject(text, "want device-path-PEs");
  const std::string_view device = text.substr(0, first), pes = text.substr(last + 1);

  WorldName name;
  const auto known = std::ranges::find(kWorldDevices, device, &WorldDevice::name);
  if (known == std::end(kWorldDevices)) reject(text, "device is cpu, cuda or softgpu");
  name.device = *known;
  name.path = text.substr(first + 1, last - first - 1);
  if (!WorldPath::parse(name.path)) reject(text, WorldPath::names());
  auto [end, error] = std::from_chars(pes.data(), pes.data() + pes.size(), name.pes);
  const std::string_view kind(end, static_cast<std::size_t>(pes.data() + pes.size() - end));
  if (error != std::errc{} || name.pes < 1 || name.pes > kMaxPes) reject(text, "number of PEs");
  if (kind == "processes") {
    name.kind = WorldPes::kProcesses;
  } else if (kind != "threads") {
    reject(text, "PEs are threads or processes");
  }
  if (name.hosts() > 1 && (name.kind == WorldPes::kThreads || name.pes % name.hosts() != 0))
    reject(text, WorldPath::names());
  return name;
}

int WorldName::hosts() const { return WorldPath::parse(path)->hosts; }

std::string WorldName::text() const {
  return std::string(device.name) + "-" + path + "-" + std::to_string(pes) +
         (kind == WorldPes::kThreads ? "threads" : "processes");
}

Pe::~Pe() {
  if (stream_ != exec::Stream{}) exec::stream_destroy(stream_);
}

exec::Stream Pe::stream() const {
  if (!World::current().has_a_gpu()) return {};  // each thread has a default stream of its own
  if (stream_ == exec::Stream{}) {
    if (const exec::Status status = exec::stream_create(&stream_); status != CHIMEX_OK)
      stop_with_launch_error(status);
  }
  return stream_;
}

void Pe::stop_with_launch_error(int status) {
  throw PeStopped(std::string("the kernel did not run: ") + chimex_status_string(status) + ": " +
                  chimex_last_error());
}

namespace {

// Ends this process when a fact hangs, or when a PE has failed and the others do not end by
// themselves. Runs beside the bodies; reads the board only.
class Watch {
 public:
  explicit Watch(Board& board) : board_(board), thread_([this] { run(); }) {}
  ~Watch() {
    {
      std::lock_guard lock(mutex_);
      done_ = true;
    }
    wake_.notify_one();
    thread_.join();
  }

  // The activity of this process from now on, within the limit of one fact.
  void begin(std::string activity) {
    std::lock_guard lock(mutex_);
    activity_ = std::move(activity);
    begun_ = steady_clock::now();
  }
  // The wait within that.
  void waits_for(std::string what) {
    std::lock_guard lock(mutex_);
    waits_for_ = std::move(what);
  }

 private:
  void run() {
    std::unique_lock lock(mutex_);
    while (!wake_.wait_for(lock, milliseconds(50), [this] { return done_; })) look();
  }

  void look() {
    const auto now = steady_clock::now();
    if (board_.failed_pe() < 0)
      failure_seen_.reset();
    else if (!failure_seen_)
      failure_seen_ = now;
    if (failure_seen_ && now - *failure_seen_ > kGraceAfterFailure)
      end("PE " + std::to_string(board_.failed_pe()) + " failed");
    if (now - begun_ > fact_limit())
      end("still waits for " + waits_for_ + " after " +
          std::to_string(fact_limit().count() / 1000) + " s");
  }

  [[noreturn]] void end(const std::string& why) {
    std::fprintf(stderr, "%s: %s: %s; this World stops\n", World::current().name().c_str(),
                 activity_.c_str(), why.c_str());
    std::fflush(nullptr);
    _exit(1);
  }

  Board& board_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool done_ = false;
  std::string activity_ = "set-up", waits_for_ = "the PEs to initialise";
  steady_clock::time_point begun_ = steady_clock::now();
  std::optional<steady_clock::time_point> failure_seen_;
  std::thread thread_;
};

// The PE of the calling thread, for failure messages: -1 outside of bodies.
thread_local int this_pe = -1;

// Records on the board which PE failed, as soon as it does.
class FailureListener : public testing::EmptyTestEventListener {
 public:
  FailureListener(Board& board, Watch& watch, int process_pe)
      : board_(board), watch_(watch), process_pe_(process_pe) {}

  void OnTestStart(const testing::TestInfo& fact) override {
    watch_.begin(std::string(fact.test_suite_name()) + "." + fact.name());
  }

  void OnTestPartResult(const testing::TestPartResult& part) override {
    if (!part.failed()) return;
    const int pe = this_pe >= 0 ? this_pe : process_pe_;
    board_.fail(pe);
    if (process_pe_ > 0)  // PE 0 has GoogleTest's own printer
      std::fprintf(stderr, "PE %d: %s:%d: %s\n", pe, part.file_name() ? part.file_name() : "?",
                   part.line_number(), part.message());
  }

 private:
  Board& board_;
  Watch& watch_;
  int process_pe_;
};

// Runs `body` as PE `pe` of the current fact.
void run_body(Pe& pe, const std::function<void(Pe&)>& body) {
  testing::ScopedTrace trace(__FILE__, __LINE__, "PE " + std::to_string(pe.rank()));
  this_pe = pe.rank();
  try {
    body(pe);
  } catch (const std::exception& error) {
    ADD_FAILURE() << error.what();
  }
}

}  // namespace

// The PEs of a World, ready to run bodies.
class World::Crew {
 public:
  virtual ~Crew() = default;
  virtual void run(const std::function<void(Pe&)>& body) = 0;
  virtual int printing_pe() const { return 0; }
};

// PEs as threads of this process. Each becomes a PE by a unique id, once, and then waits for
// bodies.
class World::ThreadCrew : public World::Crew {
 public:
  explicit ThreadCrew(int pes) : board_(Board::create(pes)), watch_(board_) {
    testing::UnitTest::GetInstance()->listeners().Append(new FailureListener(board_, watch_, 0));
    chimex_uniqueid_t id;
    if (int status = chimex_get_uniqueid(&id))
      throw std::runtime_error(std::string("chimex_get_uniqueid: ") + chimex_status_string(status));
    for (int pe = 0; pe < pes; ++pe) threads_.emplace_back([=, this] { live(pe, pes, id); });
    await_all("the PEs to initialise");
    if (init_error_.empty()) return;
    end_threads();
    throw std::runtime_error(init_error_);
  }

  ~ThreadCrew() override {
    watch_.begin("finalize");
    end_threads();
  }

  void run(const std::function<void(Pe&)>& body) override {
    hand_out(&body);
    await_all("its PEs to end the body");
  }

 private:
  void end_threads() {
    hand_out(nullptr);
    for (std::thread& thread : threads_) thread.join();
  }

  void live(int rank, int pes, const chimex_uniqueid_t& id) {
    chimex_init_attr_t attributes;
    chimex_set_attr_uniqueid_args(rank, pes, &id, &attributes);
    if (int status = chimex_init_attr(CHIMEX_INIT_WITH_UNIQUEID, &attributes))
      report_init_error(rank, status);
    Pe pe(rank, pes);
    for (int round = 0;; ++round) {
      arrived(rank);
      const std::function<void(Pe&)>* body = await_body(round);
      if (!body) break;
      run_body(pe, *body);
    }
    if (init_error_.empty()) chime_finalize();
  }

  void report_init_error(int rank, int status) {
    std::lock_guard lock(mutex_);
    init_error_ = "PE " + std::to_string(rank) +
                  " cannot initialise: " + chimex_status_string(status) + ": " +
                  chimex_last_error();
  }

  void hand_out(const std::function<void(Pe&)>* body) {
    std::lock_guard lock(mutex_);
    body_ = body;
    ++round_;
    wake_pes_.notify_all();
  }

  const std::function<void(Pe&)>* await_body(int round) {
    std::unique_lock lock(mutex_);
    wake_pes_.wait(lock, [&] { return round_ > round; });
    return body_;
  }

  void arrived(int rank) {
    std::lock_guard lock(mutex_);
    idle_.push_back(rank);
    wake_main_.notify_one();
  }

  void await_all(const char* what) {
    std::unique_lock lock(mutex_);
    watch_.waits_for(what);
    wake_main_.wait(lock, [&] { return idle_.size() == threads_.size(); });
    idle_.clear();
  }

  Board board_;
  Watch watch_;
  std::mutex mutex_;
  std::condition_variable wake_pes_, wake_main_;
  const std::function<void(Pe&)>* body_ = nullptr;
  int round_ = 0;
  std::vector<int> idle_;
  std::string init_error_;
  std::vector<std::thread> threads_;
};

// PEs as processes: this process is one of them. The runner has started it under chime-run with the
// board's file descriptor (see main.cpp).
class World::ProcessCrew : public World::Crew {
 public:
  explicit ProcessCrew(int pes) : board_(Board::attach(inherited_board())), watch_(board_) {
    int provided = 0;
    if (int status = chime_init_thread(CHIME_THREAD_MULTIPLE, &provided))
      throw std::runtime_error(std::string("chime_init: ") + chimex_status_string(status) + ": " +
                               chimex_last_error());
    if (chimex_host_n_pes() != pes)
      throw std::runtime_error("the job has " + std::to_string(chimex_host_n_pes()) + " PEs");
    testing::UnitTest::GetInstance()->listeners().Append(
        new FailureListener(board_, watch_, chimex_host_my_pe()));
  }

  ~ProcessCrew() override {
    watch_.begin("finalize");
    chime_finalize();
  }

  void run(const std::function<void(Pe&)>& body) override {
    watch_.waits_for("the other PEs to begin");
    meet();
    watch_.waits_for("its body");
    Pe pe(chimex_host_my_pe(), chimex_host_n_pes());
    run_body(pe, body);
    watch_.waits_for("the other PEs to end the body");
    meet();
    if (board_.failed_pe() >= 0 && !testing::Test::HasFailure())
      ADD_FAILURE() << "PE " << board_.failed_pe() << " failed";
  }

  int printing_pe() const override { return chimex_host_my_pe(); }

 private:
  // The watch ends the process before the barrier's own limit.
  void meet() { board_.barrier(2 * fact_limit()); }

  Board board_;
  Watch watch_;
};

namespace {
std::unique_ptr<World> the_world;
}

World::World(const WorldName& name) : name_(name), text_(name.text()) {}
World::~World() = default;

World& World::current() { return *the_world; }

bool World::start(const WorldName& name, std::string* why_not) {
  if (name.device.is_gpu && exec::device_count() == 0) {
    *why_not = "no CUDA device on this machine";
    return false;
  }
  if (name.device.is_gpu && name.kind == WorldPes::kThreads && pes_want_a_gpu_each() &&
      exec::device_count() < name.pes) {
    *why_not = "its kernels name no Context, and threads that are PEs have no GPU each";
    return false;
  }
  if (!WorldPath::parse(name.path)->set_environment(why_not)) return false;
  the_world.reset(new World(name));
  if (name.kind == WorldPes::kThreads)
    the_world->crew_ = std::make_unique<ThreadCrew>(name.pes);
  else
    the_world->crew_ = std::make_unique<ProcessCrew>(name.pes);
  return true;
}

void World::stop() { the_world->crew_.reset(); }

int World::mapped_pes() const {
  const int mapped = WorldPath::parse(name_.path)->mapped;
  return mapped == 0 ? pes_of_a_host() : std::min(mapped, name_.pes);
}

int World::printing_pe() const { return crew_->printing_pe(); }

void World::spawn(int pes, const std::function<void(Pe&)>& body) {
  if (pes > name_.pes) GTEST_SKIP() << "needs " << pes << " PEs; " << text_ << " has " << name_.pes;
  crew_->run(body);
}

}  // namespace chime::tests
