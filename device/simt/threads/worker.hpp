// OS threads that run blocks: each has one Block. A stream's thread is a worker of its own
// launches, and gets help from the pool.
#pragma once

#include <functional>
#include <memory>

namespace chime::simt {

class Block;
struct Launch;

// The calling OS thread's block, made at first use.
Block& this_worker_block();

// Takes blocks of `launch` until there is none left.
void run_blocks(Launch& launch);

// Makes `count` pool threads call run_blocks(launch), too. Each request has a thread of its own: it
// never waits for another launch to end.
void lend_workers(const std::shared_ptr<Launch>& launch, unsigned count);

// Calls `visit` for every running block, which does not end meanwhile: `visit` must be short.
void for_each_resident_block(const std::function<void(const Block&)>& visit);

}  // namespace chime::simt
