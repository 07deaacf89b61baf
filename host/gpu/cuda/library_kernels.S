// host/ops/library.cu as nvcc or clang made it: CHIME_LIBRARY_KERNELS names the file.
    .section .rodata
    .balign 64
    .globl chime_library_kernels
    .hidden chime_library_kernels
    .type chime_library_kernels, %object
chime_library_kernels:
    .incbin CHIME_LIBRARY_KERNELS
    .size chime_library_kernels, . - chime_library_kernels
    .section .note.GNU-stack, "", %progbits
