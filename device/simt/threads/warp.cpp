#include "chime/device/simt/threads/warp.hpp"

#include <bit>

namespace chime::simt {

namespace {

// Calls f(lane) for each lane of a mask, lowest first.
template <class F>
void for_each_lane(unsigned mask, F f) {
  for (; mask; mask &= mask - 1) f(static_cast<unsigned>(std::countr_zero(mask)));
}

bool equal(LaneValue a, LaneValue b) { return a.low == b.low && a.high == b.high; }

}  // namespace

const char* name_of(WarpOp op) {
  switch (op) {
    case WarpOp::kNone:
      break;
    case WarpOp::kSync:
      return "sync_warp";
    case WarpOp::kShuffle:
      return "shfl";
    case WarpOp::kBallot:
      return "ballot/any/all";
    case WarpOp::kMatch:
      return "match_any";
    case WarpOp::kReduce:
      return "reduce_add";
    case WarpOp::kElect:
      return "elect_one";
  }
  return "nothing";
}

void Warp::set_up(unsigned members) {
  members_ = live_ = members;
  arrived_ = at_sites_ = 0;
  masks_differ_ = false;
  odd_lane_ = -1;
}

unsigned Warp::arrive(unsigned lane, const LaneRequest& request, Random* random) {
  if (arrived_ == 0) {
    masks_differ_ = false;
  } else if (requests_[std::countr_zero(arrived_)].mask != request.mask) {
    masks_differ_ = true;
  }
  requests_[lane] = request;
  arrived_ |= 1u << lane;
  return is_complete(request.mask) ? finish(request.mask, random) : 0;
}

bool Warp::is_complete(unsigned mask) const {
  if (mask & live_ & ~arrived_) return false;
  if (!masks_differ_) return true;
  bool same = true;
  for_each_lane(mask & live_, [&](unsigned lane) { same &= requests_[lane].mask == mask; });
  return same;
}

unsigned Warp::finish(unsigned mask, Random* random) {
  const unsigned lanes = mask & arrived_;
  const WarpOp op = requests_[std::countr_zero(lanes)].op;
  for_each_lane(lanes, [&](unsigned lane) {
    if (requests_[lane].op != op) odd_lane_ = static_cast<int>(lane);
  });
  arrived_ &= ~lanes;
  compute(op, lanes, random);
  return lanes;
}

unsigned Warp::count_out(unsigned lane, Random* random) {
  live_ &= ~(1u << lane);
  unsigned released = 0;
  for_each_lane(arrived_, [&](unsigned waiting) {
    const unsigned mask = requests_[waiting].mask;
    if ((arrived_ >> waiting & 1) && is_complete(mask)) released |= finish(mask, random);
  });
  return released;
}

void Warp::compute(WarpOp op, unsigned lanes, Random* random) {
  switch (op) {
    case WarpOp::kNone:
    case WarpOp::kSync:
      return;
    case WarpOp::kShuffle:
      for_each_lane(lanes, [&](unsigned lane) {
        const unsigned source = requests_[lane].argument;
        results_[lane] = requests_[lanes >> source & 1 ? source : lane].value;
      });
      return;
    case WarpOp::kBallot: {
      LaneValue votes{0, lanes};
      for_each_lane(lanes, [&](unsigned lane) {
        votes.low |= std::uint64_t{requests_[lane].value.low != 0} << lane;
      });
      for_each_lane(lanes, [&](unsigned lane) { results_[lane] = votes; });
      return;
    }
    case WarpOp::kMatch:
      for_each_lane(lanes, [&](unsigned lane) {
        LaneValue same;
        for_each_lane(lanes, [&](unsigned other) {
          const bool match = equal(requests_[lane].value, requests_[other].value);
          same.low |= std::uint64_t{match} << other;
        });
        results_[lane] = same;
      });
      return;
    case WarpOp::kReduce: {
      const unsigned first = static_cast<unsigned>(std::countr_zero(lanes));
      LaneValue sum = requests_[first].value;
      for_each_lane(lanes & (lanes - 1), [&](unsigned lane) {
        sum = requests_[first].combine(sum, requests_[lane].value);
      });
      for_each_lane(lanes, [&](unsigned lane) { results_[lane] = sum; });
      return;
    }
    case WarpOp::kElect: {
      unsigned others = random ? random->below(static_cast<unsigned>(std::popcount(lanes))) : 0;
      for_each_lane(lanes, [&](unsigned lane) { results_[lane] = {others-- == 0, 0}; });
      return;
    }
  }
}

void Warp::wait_at_site(unsigned lane, const void* site) {
  sites_[lane] = site;
  at_sites_ |= 1u << lane;
}

unsigned Warp::lanes_at_site(const void* site) const {
  unsigned lanes = 0;
  for_each_lane(at_sites_, [&](unsigned lane) { lanes |= unsigned{sites_[lane] == site} << lane; });
  return lanes;
}

}  // namespace chime::simt
