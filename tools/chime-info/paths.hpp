// The paths by which the PEs of a job would reach each other, for chime-info --paths.
#pragma once

namespace chime::info {

// Joins the job that a launcher has started, lets its PEs print in turn which path their puts and
// atomics to each PE take and why, and leaves. Returns main's exit code.
int print_paths();

}  // namespace chime::info
