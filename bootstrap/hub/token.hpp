// The token of a job that no PMIx launcher started, and what follows from it.
#pragma once

#include <string>

#include "bootstrap/bootstrap.hpp"
#include "net/secure/key_schedule.hpp"
#include "net/secure/secret.hpp"

namespace chime::bootstrap {

using net::Token;

// The secret that PEs of the token's job share. It never travels.
Bytes job_secret_of(const Token& token);
// A public name of the token's job.
std::string job_id_of(const Token& token);
// With them PEs and their hub know each other.
net::Credentials hub_credentials(const Token& token);

}  // namespace chime::bootstrap
