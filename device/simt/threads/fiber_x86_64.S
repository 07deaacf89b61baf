// The switch on x86-64 (System V): see fiber.hpp for what is saved.
#if defined(__x86_64__)
        .text

// void chime_simt_switch(void** save_sp /* rdi */, void* to_sp /* rsi */)
        .globl  chime_simt_switch
        .hidden chime_simt_switch
        .type   chime_simt_switch, @function
chime_simt_switch:
        .cfi_startproc
        pushq   %rbp
        pushq   %rbx
        pushq   %r12
        pushq   %r13
        pushq   %r14
        pushq   %r15
        movq    %rsp, (%rdi)
        movq    %rsi, %rsp
        popq    %r15
        popq    %r14
        popq    %r13
        popq    %r12
        popq    %rbx
        popq    %rbp
        ret
        .cfi_endproc
        .size   chime_simt_switch, . - chime_simt_switch

// Where a new fiber starts: r12 = argument, r13 = entry, rsp 16-byte aligned. Backtraces end here.
        .globl  chime_simt_start
        .hidden chime_simt_start
        .type   chime_simt_start, @function
chime_simt_start:
        .cfi_startproc
        .cfi_undefined rip
        movq    %r12, %rdi
        call    *%r13
        ud2
        .cfi_endproc
        .size   chime_simt_start, . - chime_simt_start
#endif
        .section .note.GNU-stack, "", @progbits
