// Parses PTX text (module.hpp).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "softgpu/ptx/module.hpp"

namespace softgpu::ptx {

// Declarations of a whole text. Throws PtxError.
std::unique_ptr<const Module> parse_module(std::string text);

// The statements of a function's body. Throws PtxError.
std::vector<Statement> parse_body(const Module& module, const Function& function);

// Bytes of a type's word, "u32" or "pred"; 0: it is no type.
std::size_t bytes_of_type(std::string_view type);

// An integer in PTX: 12, 0x1f, 017, 0b101, with U after it. False: it is none, or has more than 64
// bits.
bool parse_integer(std::string_view text, std::uint64_t* value);

// 0f3F800000 and 0d...: the bits. False: it is neither.
bool parse_float_bits(std::string_view text, std::uint64_t* bits, std::size_t* bytes);

}  // namespace softgpu::ptx
