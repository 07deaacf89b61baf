// The name of a kernel, from the dynamic linker.
#pragma once

namespace chime::simt {

// The name of the function at `kernel`, if it is exported; else its position, in the form that
// addr2line -e takes: "particles+0x4a10". Valid for ever. Looked up once for each kernel.
const char* kernel_name(const void* kernel);

}  // namespace chime::simt
