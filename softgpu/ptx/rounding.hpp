// The words of rounding that arithmetic and conversions share.
#pragma once

#include <string>

#include "softgpu/ptx/emit/emitter.hpp"

namespace softgpu::ptx {

// .rn, .rz, .rm, .rp as "Round::kNearest" and so on; empty: there is none.
inline std::string take_rounding(Emitter& e) {
  if (e.take("rn")) return "Round::kNearest";
  if (e.take("rz")) return "Round::kZero";
  if (e.take("rm")) return "Round::kDown";
  return e.take("rp") ? "Round::kUp" : "";
}
// To an integral value: .rni, .rzi, .rmi, .rpi.
inline std::string take_integral_rounding(Emitter& e) {
  if (e.take("rni")) return "Round::kNearest";
  if (e.take("rzi")) return "Round::kZero";
  if (e.take("rmi")) return "Round::kDown";
  return e.take("rpi") ? "Round::kUp" : "";
}

}  // namespace softgpu::ptx
