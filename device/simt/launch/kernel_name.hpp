// What a kernel is called, as far as the dynamic linker knows.
#pragma once

namespace chime::simt {

// The name of the function at `kernel`, where it is exported; else where it lies, as addr2line -e
// takes it: "particles+0x4a10". Valid for ever. Looked up once for each kernel.
const char* kernel_name(const void* kernel);

}  // namespace chime::simt
