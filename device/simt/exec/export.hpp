// What user binaries may call in libchime.so: inline code of the executor's headers lives in them.
#pragma once

#define CHIME_SIMT_EXPORT __attribute__((visibility("default")))

// 1 where this translation unit is instrumented by TSan. Executor metadata must then be read out of
// line, in code that is not: the race detector has to see the kernel, not the machine that runs it.
#if defined(__SANITIZE_THREAD__)
#define CHIME_SIMT_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define CHIME_SIMT_TSAN 1
#endif
#endif
#ifndef CHIME_SIMT_TSAN
#define CHIME_SIMT_TSAN 0
#endif
