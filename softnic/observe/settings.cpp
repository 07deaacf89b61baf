#include "settings.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <list>
#include <mutex>
#include <stdexcept>
#include <string_view>

#include "log.hpp"

namespace softnic {
namespace {

// Never freed: used until the process is gone.
std::atomic<const Settings*> in_force{nullptr};

int number(const char* name, const char* text, int least, int most) {
  int value = 0;
  const char* end = text + std::strlen(text);
  const auto [stop, error] = std::from_chars(text, end, value);
  if (error != std::errc() || stop != end || value < least || value > most)
    throw std::runtime_error(std::string("softnic: ") + name + " is '" + text + "'; it may be " +
                             std::to_string(least) + " to " + std::to_string(most));
  return value;
}

constexpr std::string_view kPrefix = "SOFTNIC_";
constexpr std::string_view kVariables[] = {"FABRIC", "LINK_LAYER", "LOG",      "STRICT",
                                           "FAULTS", "TRACE",      "COUNTERS", "SPIN_US"};

bool is_variable(std::string_view name) {
  const bool is_of_tests = name.starts_with("TEST_") || name == "GUEST_KERNEL";
  return is_of_tests || std::ranges::find(kVariables, name) != std::end(kVariables);
}

const Settings* read_or_end() {
  try {
    warn_of_unknown_variables();
    return new Settings(settings_of_environment());
  } catch (const std::exception& error) {
    print("%s\n", error.what());
    std::_Exit(2);
  }
}

}  // namespace

void warn_of_unknown_variables() {
  static std::atomic<bool> warned{false};
  if (warned.exchange(true, std::memory_order_relaxed)) return;
  std::string all;
  for (const std::string_view variable : kVariables)
    all.append(" ").append(kPrefix).append(variable);
  for (char** entry = environ; entry && *entry; ++entry) {
    const std::string_view name = std::string_view(*entry).substr(0, std::strcspn(*entry, "="));
    if (name.starts_with(kPrefix) && !is_variable(name.substr(kPrefix.size())))
      print("softnic: %.*s is no variable of the softnic and is ignored; there are%s\n",
            static_cast<int>(name.size()), name.data(), all.c_str());
  }
}

bool is_ethernet(const std::string& link_layer) {
  if (link_layer == "ethernet") return true;
  if (link_layer == "infiniband") return false;
  throw std::runtime_error("softnic: SOFTNIC_LINK_LAYER is '" + link_layer +
                           "'; it may be infiniband or ethernet");
}

Settings settings_of_environment() {
  Settings s;
  if (const char* v = std::getenv("SOFTNIC_FABRIC")) s.fabric = v;
  if (const char* v = std::getenv("SOFTNIC_LINK_LAYER")) s.ethernet = is_ethernet(v);
  if (const char* v = std::getenv("SOFTNIC_LOG")) s.log = number("SOFTNIC_LOG", v, 0, 4);
  if (const char* v = std::getenv("SOFTNIC_STRICT")) s.strict = number("SOFTNIC_STRICT", v, 0, 1);
  if (const char* v = std::getenv("SOFTNIC_FAULTS")) s.faults = v;
  if (const char* v = std::getenv("SOFTNIC_TRACE")) s.trace = v;
  if (const char* v = std::getenv("SOFTNIC_COUNTERS")) s.counters = v;
  if (const char* v = std::getenv("SOFTNIC_SPIN_US"))
    s.spin_us = static_cast<unsigned>(number("SOFTNIC_SPIN_US", v, 0, 1'000'000'000));
  return s;
}

std::string with_process_id(std::string path) {
  if (const auto at = path.find("%p"); at != std::string::npos)
    path.replace(at, 2, std::to_string(::getpid()));
  return path;
}

const Settings& settings() {
  if (const Settings* s = in_force.load(std::memory_order_acquire)) return *s;
  const Settings* read = read_or_end();
  const Settings* none = nullptr;
  if (in_force.compare_exchange_strong(none, read, std::memory_order_acq_rel)) return *read;
  delete read;  // another thread was first
  return *none;
}

// Earlier settings are kept: a thread may still read them.
void use_settings(Settings settings) {
  static auto& lock = *new std::mutex;
  static auto& all = *new std::list<Settings>;
  const std::lock_guard guard(lock);
  in_force.store(&all.emplace_back(std::move(settings)), std::memory_order_release);
}

}  // namespace softnic
