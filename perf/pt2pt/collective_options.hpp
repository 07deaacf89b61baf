// The command line of coll_lat and coll_bw.
#pragma once

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "collective_calls.cuh"
#include "options.hpp"

namespace chime::perf {

struct CollectiveOptions : Options {
  Form form = Form::kThread;
  std::string format = "chime";
};

// `most`: the largest size that may be asked for, in bytes.
inline void parse(CollectiveOptions& options, int argc, char** argv, const std::string& what,
                  std::size_t most) {
  std::string form = "thread";
  parse(options, argc, argv, what, true,
        {{"--form", "what calls: the host, a stream, or so much of a kernel", kForms, &form},
         {"--format",
          "chime: a table of all; osu, nccl: one of each call, as OSU's benchmarks and nccl-tests "
          "print them",
          {"chime", "osu", "nccl"},
          &options.format}});
  options.form = form_of(form);
  if (options.max_bytes <= most && options.min_bytes >= sizeof(float)) return;
  std::fprintf(stderr, "%s: sizes are from %zu to %zu\n", options.program.c_str(), sizeof(float),
               most);
  std::exit(1);
}

}  // namespace chime::perf
