// The calls that make and end teams, by their names in C.
#include <fmt/format.h>

#include <exception>
#include <vector>

#define CHIME_HOST_ONLY
#include "chime/chime.h"
#include "host/errors/error.hpp"
#include "host/ops/teams/teams.hpp"
#include "host/report/guard.hpp"

namespace chime::host {
namespace {

void need(const void* argument, const char* name) {
  if (argument == nullptr)
    throw Error("", CHIMEX_ERR_INVALID, fmt::format("the argument {} is null", name));
}

int contexts_asked(const chime_team_config_t* config, long mask) {
  if ((mask & ~CHIME_TEAM_NUM_CONTEXTS) != 0)
    throw Error("", CHIMEX_ERR_INVALID,
                fmt::format("the mask {:#x} names a member of no config", mask));
  if (mask == 0) return 0;
  need(config, "config");
  if (config->num_contexts < 0)
    throw Error("", CHIMEX_ERR_INVALID, fmt::format("num_contexts is {}", config->num_contexts));
  return config->num_contexts;
}

// `place`: where the new team goes.
TeamRequest request_of(const chime_team_config_t* config, long mask, const chime_team_t* place,
                       const char* name) noexcept {
  TeamRequest request;
  try {
    need(place, name);
    request.num_contexts = contexts_asked(config, mask);
  } catch (...) {
    request.refusal = std::current_exception();
  }
  return request;
}

// Runs `make`, which returns a team; `*made` is CHIME_TEAM_INVALID if it throws.
template <class Make>
int make_one(const char* function, chime_team_t* made, Make make) {
  if (made != nullptr) *made = CHIME_TEAM_INVALID;
  return status_of(function, [&] { *made = make(); });
}

}  // namespace
}  // namespace chime::host

using namespace chime::host;  // NOLINT: the functions below only forward into it

extern "C" {

int chime_team_split_strided(chime_team_t parent, int start, int stride, int size,
                             const chime_team_config_t* config, long config_mask,
                             chime_team_t* new_team) {
  return make_one("chime_team_split_strided", new_team, [&] {
    return split_strided(parent, {start, stride, size},
                         request_of(config, config_mask, new_team, "new_team"));
  });
}

int chimex_team_split_list(chime_team_t parent, const int* ranks, int size,
                           const chime_team_config_t* config, long config_mask,
                           chime_team_t* new_team) {
  return make_one("chimex_team_split_list", new_team, [&] {
    const bool has_ranks = size > 0 && ranks != nullptr;
    return split_list(parent, {ranks, ranks + (has_ranks ? size : 0)},
                      request_of(config, config_mask, new_team, "new_team"));
  });
}

int chime_team_split_2d(chime_team_t parent, int xrange, const chime_team_config_t* xaxis_config,
                        long xaxis_mask, chime_team_t* xaxis_team,
                        const chime_team_config_t* yaxis_config, long yaxis_mask,
                        chime_team_t* yaxis_team) {
  if (xaxis_team != nullptr) *xaxis_team = CHIME_TEAM_INVALID;
  if (yaxis_team != nullptr) *yaxis_team = CHIME_TEAM_INVALID;
  return status_of("chime_team_split_2d", [&] {
    const RowAndColumn made =
        split_2d(parent, xrange, request_of(xaxis_config, xaxis_mask, xaxis_team, "xaxis_team"),
                 request_of(yaxis_config, yaxis_mask, yaxis_team, "yaxis_team"));
    *xaxis_team = made.x;
    *yaxis_team = made.y;
  });
}

int chimex_team_shrink(chime_team_t team, const chime_team_config_t* config, long config_mask,
                       chime_team_t* new_team) {
  return make_one("chimex_team_shrink", new_team, [&] {
    return shrink_team(team, request_of(config, config_mask, new_team, "new_team"));
  });
}

int chime_team_get_config(chime_team_t team, long config_mask, chime_team_config_t* config) {
  return status_of("chime_team_get_config", [=] {
    if (team == CHIME_TEAM_INVALID) return;
    const int contexts = contexts_of(team);
    if ((config_mask & CHIME_TEAM_NUM_CONTEXTS) == 0) return;
    need(config, "config");
    config->num_contexts = contexts;
  });
}

void chime_team_destroy(chime_team_t team) {
  guarded("chime_team_destroy", [=] { destroy_team(team); });
}

}  // extern "C"
