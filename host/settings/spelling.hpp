// Which library's names messages use: those that the program joined by.
#pragma once

#include <string>
#include <string_view>

namespace chime::host {

// Sets the names for all messages of this process. The last call that joins decides.
void speak_nvshmem(bool is_nvshmems);

// A program that calls nvshmem_ functions before it joins gets NVSHMEM's names until then.
void expect_nvshmem();

// The call by which the program becomes a PE; both, where it has made no call that tells.
std::string spoken_init();

// A function as the program has it: chime_put is nvshmem_put in a program by NVSHMEM's names. A
// function that NVSHMEM does not have keeps its name.
std::string spoken(std::string_view function);

// A constant, by its name behind CHIME_ or, of an extended one, CHIMEX_.
std::string spoken_constant(std::string_view name);
std::string spoken_extended_constant(std::string_view name);

}  // namespace chime::host
