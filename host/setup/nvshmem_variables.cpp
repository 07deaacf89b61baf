#include "host/setup/nvshmem_variables.hpp"

#include <algorithm>
#include <cctype>
#include <sstream>

#include "host/errors/error.hpp"

namespace chime::host {
namespace {

// The value of an NVSHMEM variable, as a value of its counterpart; nothing: it means nothing here.
using Meaning = std::optional<std::string>;

std::string in_small_letters(std::string_view text) {
  std::string small(text);
  std::transform(small.begin(), small.end(), small.begin(),
                 [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
  return small;
}

// A value that does not stand in the list is left out.
Meaning one_of(std::string_view text,
               std::initializer_list<std::pair<const char*, const char*>> of) {
  const std::string small = in_small_letters(text);
  for (const auto& [theirs, ours] : of)
    if (small == theirs) return ours;
  return std::nullopt;
}

Meaning as_it_is(std::string_view text) { return std::string(text); }

// A truth of NVSHMEM's: what its counterpart is where it is one.
Meaning where_true(std::string_view text, const char* yes, const char* no) {
  return one_of(text, {{"1", yes},
                       {"true", yes},
                       {"yes", yes},
                       {"y", yes},
                       {"on", yes},
                       {"0", no},
                       {"false", no},
                       {"no", no},
                       {"n", no},
                       {"off", no}});
}

Meaning off_where_true(std::string_view text) { return where_true(text, "off", "auto"); }
Meaning on_where_true(std::string_view text) { return where_true(text, "on", "off"); }
Meaning one_where_true(std::string_view text) { return where_true(text, "1", "0"); }

Meaning log_level(std::string_view text) {
  return one_of(text,
                {{"version", "warn"}, {"warn", "warn"}, {"info", "info"}, {"trace", "debug"}});
}

// One name, not a list of names, of names to leave out, or of beginnings.
Meaning one_name(std::string_view text) {
  if (text.starts_with('=')) text.remove_prefix(1);
  if (text.empty() || text.find_first_of("^=,") != text.npos) return std::nullopt;
  return std::string(text);
}

// Their others are how a host's thread, a library or the kernel reaches a NIC: found out here.
Meaning no_network(std::string_view text) { return one_of(text, {{"none", "off"}}); }

Meaning provider(std::string_view text) {
  return one_of(text, {{"cxi", "cxi"}, {"efa", "efa"}, {"verbs", "verbs;ofi_rxm"}});
}

// How PEs find each other is found out: by the launcher, or by what nvshmemx_init_attr is given.
Meaning found_out(std::string_view text) {
  return one_of(text, {{"pmi", "auto"}, {"mpi", "auto"}, {"shmem", "auto"}, {"uid", "auto"}});
}

Meaning gid_index(std::string_view text) { return text == "-1" ? "auto" : std::string(text); }

Meaning doorbell(std::string_view text) {
  return one_of(text,
                {{"auto", "auto"}, {"gpu", "direct"}, {"cpu", "cpu"}, {"cpu_host_memory", "cpu"}});
}

// The variables that are obeyed. For any other that has a counterpart a warning names the
// counterpart.
constexpr std::pair<std::string_view, Meaning (*)(std::string_view)> kMeanings[] = {
    {"NVSHMEM_SYMMETRIC_SIZE", as_it_is},
    {"NVSHMEM_DISABLE_P2P", off_where_true},
    {"NVSHMEM_HCA_LIST", one_name},
    {"NVSHMEM_REMOTE_TRANSPORT", no_network},
    {"NVSHMEM_IB_ENABLE_RELAXED_ORDERING", on_where_true},
    {"NVSHMEM_IBGDA_NIC_HANDLER", doorbell},
    {"NVSHMEM_IBGDA_NUM_RC_PER_PE", as_it_is},
    {"NVSHMEM_IB_NUM_RC_PER_DEVICE", as_it_is},
    {"NVSHMEM_QP_DEPTH", as_it_is},
    {"NVSHMEM_IB_GID_INDEX", gid_index},
    {"NVSHMEM_IB_SL", as_it_is},
    {"NVSHMEM_IB_TRAFFIC_CLASS", as_it_is},
    {"NVSHMEM_IB_TIMEOUT", as_it_is},
    {"NVSHMEM_IB_RETRY_CNT", as_it_is},
    {"NVSHMEM_PROXY_REQUEST_BATCH_MAX", as_it_is},
    {"NVSHMEM_LIBFABRIC_PROVIDER", provider},
    {"NVSHMEM_ENABLE_ERROR_CHECKS", one_where_true},
    {"NVSHMEM_DEBUG", log_level},
    {"NVSHMEM_BOOTSTRAP", found_out},
    {"NVSHMEM_BOOTSTRAP_UID_SOCK_IFNAME", one_name},
};

std::vector<std::string> words(std::string_view text) {
  std::istringstream stream{std::string(text)};
  std::vector<std::string> all;
  for (std::string word; stream >> word;) all.push_back(word);
  return all;
}

bool is_taken(const Variable& variable, const std::string& value) try {
  Settings scratch;
  if (variable.read) variable.read(variable, value, scratch);
  return true;
} catch (const Error&) {
  return false;
}

Meaning meaning_of(std::string_view name, std::string_view text, const Variable& counterpart) {
  for (const auto& [theirs, meaning] : kMeanings) {
    if (theirs != name) continue;
    const Meaning value = meaning(text);
    return value && is_taken(counterpart, *value) ? value : std::nullopt;
  }
  return std::nullopt;
}

// A variable that counts, and its value as Chime's.
struct Said {
  std::string by;
  std::string value;
};

std::optional<Said> said_of(std::string_view name, const Lookup& environment) {
  if (std::optional<std::string> own = environment(name)) return Said{std::string(name), *own};
  for (const Variable& variable : variables()) {
    if (variable.name != name) continue;
    for (const std::string& theirs : words(variable.counterparts))
      if (const auto text = environment(theirs))
        if (Meaning value = meaning_of(theirs, *text, variable)) return Said{theirs, *value};
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> by_nvshmems_variables(std::string_view name, const Lookup& environment) {
  const std::optional<Said> said = said_of(name, environment);
  return said ? std::optional(said->value) : std::nullopt;
}

std::string set_by_nvshmems_variables(std::string_view name, const Lookup& environment) {
  const std::optional<Said> said = said_of(name, environment);
  return said ? said->by : std::string(name);
}

std::vector<std::string> nvshmem_variable_warnings(std::span<const std::string> names,
                                                   const Lookup& environment) {
  std::vector<std::string> warnings, others(names.begin(), names.end());
  for (const Variable& variable : variables())
    for (const std::string& theirs : words(variable.counterparts)) {
      if (std::erase(others, theirs) == 0) continue;
      const std::string text = environment(theirs).value_or("");
      const Meaning value = meaning_of(theirs, text, variable);
      const auto own = environment(variable.name);
      if (own && own != value)
        warnings.push_back(
            fmt::format("{}={} counts, and {}={} does not", variable.name, *own, theirs, text));
      else if (!own && !value)
        warnings.push_back(fmt::format(
            "{}={} is not obeyed: this value means nothing here; Chime's variable is {} ({})",
            theirs, text, variable.name, variable.values));
    }
  std::ranges::move(counterpart_hints(others), std::back_inserter(warnings));
  return warnings;
}

Source environment_of_nvshmem() {
  return {
      [](std::string_view name) { return by_nvshmems_variables(name, process_environment); },
      [] {
        const std::vector<std::string> names = process_environment_names();
        return nvshmem_variable_warnings(names, process_environment);
      },
      [](std::string_view name) { return set_by_nvshmems_variables(name, process_environment); },
      true};
}

}  // namespace chime::host
