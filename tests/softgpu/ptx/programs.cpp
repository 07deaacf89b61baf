// Kernels of more than one instruction: collectives, control, calls, copies.
#include <stdexcept>

#include "form_case.hpp"

namespace softgpu::tests {

namespace {

constexpr const char* kHeader = ".version 8.3\n.target sm_90\n.address_size 64\n";

// 32 lanes; each has `value` and writes 8 words of results.
constexpr const char* kShuffles = R"(
.visible .entry shuffles(.param .u64 out) {
  .reg .pred %p;
  .reg .b32 %t, %v, %r;
  .reg .b64 %o;
  mov.u32 %t, %laneid;
  ld.param.u64 %o, [out];
  mad.wide.u32 %o, %t, 64, %o;
  mul.lo.u32 %v, %t, 10;
  shfl.sync.idx.b32 %r|%p, %v, 5, 31, -1;
  st.global.u32 [%o], %r;
  shfl.sync.idx.b32 %r, %v, 37, 31, -1;
  st.global.u32 [%o+4], %r;
  shfl.sync.up.b32 %r|%p, %v, 3, 0, -1;
  selp.u32 %t, 1, 0, %p;
  st.global.v2.u32 [%o+8], {%r, %t};
  shfl.sync.down.b32 %r|%p, %v, 3, 31, -1;
  selp.u32 %t, 1, 0, %p;
  st.global.v2.u32 [%o+16], {%r, %t};
  shfl.sync.bfly.b32 %r|%p, %v, 1, 31, -1;
  selp.u32 %t, 1, 0, %p;
  st.global.v2.u32 [%o+24], {%r, %t};
  // Segments of 8 lanes: the mask in bits 8 to 12 is 0x18.
  shfl.sync.down.b32 %r|%p, %v, 3, 0x181f, -1;
  selp.u32 %t, 1, 0, %p;
  st.global.v2.u32 [%o+32], {%r, %t};
  shfl.sync.up.b32 %r|%p, %v, 3, 0x1800, -1;
  selp.u32 %t, 1, 0, %p;
  st.global.v2.u32 [%o+40], {%r, %t};
  shfl.sync.idx.b32 %r|%p, %v, 2, 0x181f, -1;
  selp.u32 %t, 1, 0, %p;
  st.global.v2.u32 [%o+48], {%r, %t};
  // A clamp of 15 with the butterfly of 16: out of range for the lower half.
  shfl.sync.bfly.b32 %r|%p, %v, 16, 15, -1;
  selp.u32 %t, 1, 0, %p;
  st.global.v2.u32 [%o+56], {%r, %t};
  ret;
})";

constexpr const char* kVotes = R"(
.visible .entry votes(.param .u64 out) {
  .reg .pred %odd, %low, %none, %r, %e;
  .reg .b32 %t, %v, %w, %mask;
  .reg .b64 %o, %d;
  mov.u32 %t, %tid.x;
  ld.param.u64 %o, [out];
  mad.wide.u32 %o, %t, 128, %o;
  and.b32 %v, %t, 1;
  setp.eq.u32 %odd, %v, 1;
  setp.lt.u32 %low, %t, 32;
  vote.sync.ballot.b32 %w, %odd, -1;
  st.global.u32 [%o], %w;
  vote.sync.ballot.b32 %w, !%odd, -1;
  st.global.u32 [%o+4], %w;
  vote.sync.any.pred %r, %odd, -1;
  selp.u32 %w, 1, 0, %r;
  st.global.u32 [%o+8], %w;
  vote.sync.all.pred %r, %odd, -1;
  selp.u32 %w, 1, 0, %r;
  st.global.u32 [%o+12], %w;
  vote.sync.uni.pred %r, %low, -1;
  selp.u32 %w, 1, 0, %r;
  st.global.u32 [%o+16], %w;
  vote.sync.uni.pred %r, %odd, -1;
  selp.u32 %w, 1, 0, %r;
  st.global.u32 [%o+20], %w;
  // Each half of the warp by itself.
  mov.u32 %mask, 0x0000ffff;
  setp.ge.u32 %r, %t, 16;
  @%r mov.u32 %mask, 0xffff0000;
  vote.sync.ballot.b32 %w, %odd, %mask;
  st.global.u32 [%o+24], %w;
  vote.sync.all.pred %r, %low, %mask;
  selp.u32 %w, 1, 0, %r;
  st.global.u32 [%o+28], %w;
  shr.u32 %v, %t, 3;
  match.any.sync.b32 %w, %v, -1;
  st.global.u32 [%o+32], %w;
  cvt.u64.u32 %d, %v;
  shl.b64 %d, %d, 40;
  match.any.sync.b64 %w, %d, -1;
  st.global.u32 [%o+36], %w;
  match.all.sync.b32 %w|%r, %v, -1;
  selp.u32 %v, 1, 0, %r;
  st.global.v2.u32 [%o+40], {%w, %v};
  mov.u64 %d, 7;
  match.all.sync.b64 %w|%r, %d, %mask;
  selp.u32 %v, 1, 0, %r;
  st.global.v2.u32 [%o+48], {%w, %v};
  sub.s32 %v, %t, 5;
  redux.sync.add.s32 %w, %v, -1;
  st.global.u32 [%o+56], %w;
  redux.sync.min.s32 %w, %v, -1;
  st.global.u32 [%o+60], %w;
  redux.sync.max.s32 %w, %v, -1;
  st.global.u32 [%o+64], %w;
  redux.sync.min.u32 %w, %v, -1;
  st.global.u32 [%o+68], %w;
  redux.sync.max.u32 %w, %v, -1;
  st.global.u32 [%o+72], %w;
  redux.sync.add.u32 %w, %t, %mask;
  st.global.u32 [%o+76], %w;
  redux.sync.and.b32 %w, %t, %mask;
  st.global.u32 [%o+80], %w;
  redux.sync.or.b32 %w, %t, -1;
  st.global.u32 [%o+84], %w;
  redux.sync.xor.b32 %w, %t, -1;
  st.global.u32 [%o+88], %w;
  activemask.b32 %w;
  st.global.u32 [%o+92], %w;
  elect.sync %w|%e, -1;
  selp.u32 %v, 1, 0, %e;
  st.global.v2.u32 [%o+96], {%w, %v};
  elect.sync _|%e, %mask;
  selp.u32 %v, 1, 0, %e;
  st.global.u32 [%o+104], %v;
  bar.warp.sync -1;
  ret;
})";

// 64 threads pass values on through shared memory, and count.
constexpr const char* kBarriers = R"(
.shared .align 4 .b8 words[256];
.extern .shared .align 128 .b8 more[];
.visible .entry barriers(.param .u64 out) .maxntid 64, 1, 1 {
  .reg .pred %p, %q, %r;
  .reg .b32 %t, %v, %a, %b, %id;
  .reg .b64 %o, %m;
  mov.u32 %t, %tid.x;
  ld.param.u64 %o, [out];
  mad.wide.u32 %o, %t, 32, %o;
  mov.u32 %a, words;
  mad.lo.u32 %b, %t, 4, %a;
  st.shared.u32 [%b], %t;
  bar.sync 0;
  xor.b32 %v, %t, 63;
  mad.lo.u32 %b, %v, 4, %a;
  ld.shared.u32 %v, [%b];
  st.global.u32 [%o], %v;
  setp.lt.u32 %p, %t, 10;
  bar.red.popc.u32 %v, 0, %p;
  st.global.u32 [%o+4], %v;
  bar.red.or.pred %q, 0, %p;
  selp.u32 %v, 1, 0, %q;
  st.global.u32 [%o+8], %v;
  bar.red.and.pred %q, 0, %p;
  selp.u32 %v, 1, 0, %q;
  st.global.u32 [%o+12], %v;
  barrier.cta.red.popc.aligned.u32 %v, 0, 64, !%p;
  st.global.u32 [%o+16], %v;
  // Half of the block at a separate barrier, by literals and by registers.
  mov.u32 %id, 3;
  mov.u32 %v, 32;
  setp.lt.u32 %p, %t, 32;
  @%p barrier.sync %id, %v;
  @%p bar.sync 4, 32;
  // The other half counts and votes at another barrier.
  setp.eq.u32 %q, %t, 40;
  @!%p barrier.red.popc.u32 %id, 6, 32, %q;
  @!%p st.global.u32 [%o+16], %id;
  @!%p barrier.red.or.pred %r, %id, %v, %q;
  @!%p barrier.cta.red.or.pred %q, 7, %v, %q;
  @!%p and.pred %q, %q, %r;
  selp.u32 %id, 1, 0, %q;
  @!%p st.global.u32 [%o+12], %id;
  barrier.cta.sync.aligned 0;
  barrier.sync 5;
  bar.sync 0, 64;
  // Dynamic shared memory, behind the static variables.
  mov.u64 %m, more;
  cvt.u32.u64 %a, %m;
  mad.wide.u32 %m, %t, 4, %m;
  st.shared.u32 [%m], %v;
  st.global.u32 [%o+20], %a;
  mov.u32 %v, %dynamic_smem_size;
  st.global.u32 [%o+24], %v;
  mov.u32 %v, %total_smem_size;
  st.global.u32 [%o+28], %v;
  ret;
})";

constexpr const char* kControl = R"(
.global .align 8 .u64 counter = 5;
.global .align 8 .b8 letters[6] = {104, 101, 108, 108, 111, 0};
.global .align 8 .u64 pointers[3] = {letters, generic(letters)+1, counter};
.const .align 8 .f64 half = 0d3FE0000000000000;
.const .align 4 .s32 table[4] = {-1, 2, 0x10};
.weak .func (.param .b32 result) twice(.param .b32 x);
.func (.param .b32 result) factorial(.param .b32 n)
{
  .reg .pred %p;
  .reg .b32 %n, %r;
  ld.param.b32 %n, [n];
  setp.le.u32 %p, %n, 1;
  @%p bra $ONE;
  sub.u32 %r, %n, 1;
  { .param .b32 argument;
    st.param.b32 [argument], %r;
    .param .b32 back;
    call.uni (back), factorial, (argument);
    ld.param.b32 %r, [back]; }
  mul.lo.u32 %r, %r, %n;
  st.param.b32 [result], %r;
  ret;
$ONE:
  st.param.b32 [result], 1;
  ret.uni;
}
.weak .func (.param .b32 result) twice(.param .b32 x)
{
  .reg .b32 %x;
  ld.param.u32 %x, [x];
  shl.b32 %x, %x, 1;
  st.param.b32 [result], %x;
  ret;
}
.func store_pair(.param .b64 to, .param .align 8 .b8 pair[16])
{
  .reg .b64 %to, %a, %b;
  ld.param.u64 %to, [to];
  ld.param.v2.u64 {%a, %b}, [pair];
  st.v2.u64 [%to], {%a, %b};
  ld.param.b64 %a, [pair+8];
  st.u64 [%to], %a;
}
.visible .entry control(.param .u64 out, .param .u8 small, .param .align 8 .b8 struct[12], .param .u64 last)
{
  .local .align 8 .b8 depot[24];
  .reg .pred %p;
  .reg .b16 %h;
  .reg .b32 %i, %r<4>, %s;
  .reg .b64 %o, %d, %q;
  ld.param.u64 %o, [out];
  mov.u32 %r0, %tid.x;
  setp.ne.u32 %p, %r0, 0;
  @%p bra DONE;
  // A call in a loop.
  mov.u32 %i, 0;
  mov.u32 %s, 0;
LOOP:
  { .param .b32 x; .param .b32 y;
    st.param.b32 [x+0], %i;
    call (y), twice, (x);
    ld.param.b32 %r1, [y+0]; }
  add.u32 %s, %s, %r1;
  add.u32 %i, %i, 1;
  setp.lt.u32 %p, %i, 10;
  @%p bra.uni LOOP;
  st.global.u32 [%o], %s;
  { .param .b32 n; .param .b32 y;
    st.param.u32 [n], 6;
    call.uni (y), factorial, (n);
    ld.param.u32 %r1, [y]; }
  st.global.u32 [%o+4], %r1;
  // A table of labels.
  mov.u32 %i, 0;
NEXT:
  ts: .branchtargets A, B, C;
  brx.idx %i, ts;
A: mov.u32 %r2, 100; bra JOIN;
B: mov.u32 %r2, 200; bra.uni JOIN;
C: mov.u32 %r2, 300;
JOIN:
  mad.wide.u32 %d, %i, 4, %o;
  st.global.u32 [%d+8], %r2;
  add.u32 %i, %i, 1;
  setp.lt.u32 %p, %i, 3;
  @%p bra NEXT;
  // Labels are local to their blocks.
  { mov.u32 %r3, 1; bra IN; mov.u32 %r3, 9; IN: }
  { add.u32 %r3, %r3, 1; bra IN; mov.u32 %r3, 9; IN: }
  st.global.u32 [%o+20], %r3;
  // Parameters of all sizes, at the launch's offsets.
  ld.param.u8 %h, [small];
  cvt.u32.u16 %r0, %h;
  st.global.u32 [%o+24], %r0;
  ld.param.u32 %r0, [struct+8];
  st.global.u32 [%o+28], %r0;
  ld.param.u64 %d, [last];
  st.global.u64 [%o+32], %d;
  mov.u64 %q, struct;
  cvta.param.u64 %q, %q;
  ld.u32 %r0, [%q+4];
  st.global.u32 [%o+40], %r0;
  // Variables of the module, their first values, and addresses in them.
  ld.global.u64 %d, [counter];
  st.global.u64 [%o+48], %d;
  ld.global.u64 %d, [pointers+8];
  ld.u8 %r0, [%d];
  st.global.u32 [%o+56], %r0;
  ld.global.u64 %d, [pointers+16];
  mov.u64 %q, counter;
  sub.u64 %d, %d, %q;
  st.global.u64 [%o+64], %d;
  ld.const.f64 %d, [half];
  st.global.f64 [%o+72], %d;
  ld.const.s32 %r0, [table];
  ld.const.u32 %r1, [table+8];
  ld.const.u32 %r2, [table+12];
  st.global.v4.u32 [%o+80], {%r0, %r1, %r2, 7};
  ld.const.u8 %h, [table+8];
  cvt.u32.u16 %r0, %h;
  st.global.u32 [%o+44], %r0;
  ld.const.v2.u32 {%r0, %r1}, [table];
  ld.const.u64 %d, [half];
  mov.u64 %q, half;
  cvta.const.u64 %q, %q;
  cvta.to.const.u64 %q, %q;
  ld.const.u64 %d, [%q];
  st.global.u64 [%o+96], %d;
  // An argument of two words, through the thread's own memory.
  mov.u64 %q, depot;
  cvta.local.u64 %q, %q;
  { .param .b64 to; .param .align 8 .b8 pair[16];
    st.param.b64 [to], %q;
    st.param.v2.b64 [pair], {11, 22};
    call.uni store_pair, (to, pair); }
  ld.local.u64 %d, [depot];
  st.global.u64 [%o+104], %d;
  ld.local.u64 %d, [depot+8];
  st.global.u64 [%o+112], %d;
DONE:
  ret;
})";

// Threads 0 and 1 end in a function and in the kernel; the other threads meet without them.
constexpr const char* kExits = R"(
.func leave() { exit; }
.visible .entry exits(.param .u64 out)
{
  .reg .pred %p;
  .reg .b32 %t, %v;
  .reg .b64 %o;
  mov.u32 %t, %tid.x;
  ld.param.u64 %o, [out];
  mad.wide.u32 %o, %t, 4, %o;
  setp.eq.u32 %p, %t, 0;
  @%p call.uni leave, ();
  setp.eq.u32 %p, %t, 1;
  @%p exit;
  setp.ne.u32 %p, %t, 99;
  bar.red.popc.u32 %v, 0, %p;
  st.global.u32 [%o], %v;
  nanosleep.u32 10;
  vote.sync.ballot.b32 %v, %p, -4;
  st.global.u32 [%o], %v;
})";

// 16 bytes there and back: `out` is the copy, the memory before the wait, and the parity.
constexpr const char* kAsync = R"(
.shared .align 16 .b8 stage[64];
.shared .align 8 .b64 barrier;
.visible .entry async(.param .u64 in, .param .u64 out)
{
  .reg .pred %p;
  .reg .b32 %a, %b, %v;
  .reg .b64 %i, %o, %s;
  ld.param.u64 %i, [in];
  ld.param.u64 %o, [out];
  mov.u32 %a, stage;
  mov.u32 %b, barrier;
  st.shared.u32 [%a], 77;
  mbarrier.init.shared::cta.b64 [%b], 1;
  fence.proxy.async.shared::cta;
  mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 _, [%b], 16;
  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%a], [%i], 16, [%b];
  ld.shared.u32 %v, [%a];
  st.global.u32 [%o+16], %v;
WAIT:
  mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 %p, [%b], 0;
  @!%p bra WAIT;
  mbarrier.test_wait.parity.shared.b64 %p, [%b], 1;
  selp.u32 %v, 1, 0, %p;
  st.global.u32 [%o+20], %v;
  mbarrier.arrive.shared.b64 %s, [%b];
  mbarrier.test_wait.shared.b64 %p, [%b], %s;
  selp.u32 %v, 1, 0, %p;
  st.global.u32 [%o+24], %v;
  st.shared.u32 [%a+4], 88;
  fence.proxy.async.shared::cta;
  cp.async.bulk.global.shared::cta.bulk_group [%o], [%a], 16;
  cp.async.bulk.commit_group;
  ld.global.u32 %v, [%o];
  st.global.u32 [%o+28], %v;
  cp.async.bulk.wait_group 0;
  mbarrier.inval.shared.b64 [%b];
})";

constexpr const char* kSpecial = R"(
.visible .entry special(.param .u64 out)
{
  .reg .b32 %r;
  .reg .b64 %o, %d, %t;
  mov.u32 %r, %ctaid.x;
  mad.lo.u32 %r, %r, 48, 0;
  { .reg .b32 %x; mov.u32 %x, %tid.x; add.u32 %r, %r, %x; }
  ld.param.u64 %o, [out];
  mad.wide.u32 %o, %r, 64, %o;
  mov.u32 %r, %tid.x;       st.global.u32 [%o], %r;
  mov.u32 %r, %ntid.x;      st.global.u32 [%o+4], %r;
  mov.u32 %r, %ctaid.x;     st.global.u32 [%o+8], %r;
  mov.u32 %r, %nctaid.x;    st.global.u32 [%o+12], %r;
  mov.u32 %r, %laneid;      st.global.u32 [%o+16], %r;
  mov.u32 %r, %warpid;      st.global.u32 [%o+20], %r;
  mov.u32 %r, %nwarpid;     st.global.u32 [%o+24], %r;
  mov.u32 %r, %lanemask_eq; st.global.u32 [%o+28], %r;
  mov.u32 %r, %lanemask_lt; st.global.u32 [%o+32], %r;
  mov.u32 %r, %lanemask_le; st.global.u32 [%o+36], %r;
  mov.u32 %r, %lanemask_gt; st.global.u32 [%o+40], %r;
  mov.u32 %r, %lanemask_ge; st.global.u32 [%o+44], %r;
  mov.u32 %r, %envreg1;     st.global.u32 [%o+48], %r;
  mov.u32 %r, %ntid.y;      st.global.u32 [%o+52], %r;
  mov.u64 %d, %globaltimer;
  mov.u64 %t, %globaltimer;
  sub.u64 %d, %t, %d;
  shr.u64 %d, %d, 63;
  cvt.u32.u64 %r, %d;       st.global.u32 [%o+56], %r;
  mov.u64 %d, %clock64;
  mov.u32 %r, %tid.z;       st.global.u32 [%o+60], %r;
})";

// `kind`: 0 a trap, 1 an assertion, 2 a message of the kernel, 3 a store to null, 4 lanes of one
// mask in different collectives, 5 a barrier that half of the block never reaches, 6 a lane outside
// its mask, 7 shared memory beyond the block's.
constexpr const char* kFaults = R"(
.global .align 1 .b8 message[6] = {119, 111, 114, 100, 115, 0};
.global .align 1 .b8 file[5] = {102, 46, 99, 117, 0};
.global .align 1 .b8 name[2] = {103, 0};
.shared .align 4 .b8 word[4];
.extern .func __assertfail
(
  .param .b64 a, .param .b64 b, .param .b32 c, .param .b64 d, .param .b64 e
)
.noreturn;
.visible .entry faults(.param .u32 kind)
{
  .reg .pred %p;
  .reg .b32 %k, %t, %line, %v;
  .reg .b64 %m, %f, %n;
  ld.param.u32 %k, [kind];
  mov.u32 %t, %tid.x;
  setp.eq.u32 %p, %k, 0;
  @%p bra TRAP;
  setp.eq.u32 %p, %k, 3;
  @%p bra NULL;
  setp.eq.u32 %p, %k, 4;
  @%p bra MIXED;
  setp.eq.u32 %p, %k, 5;
  @%p bra BARRIER;
  setp.eq.u32 %p, %k, 6;
  @%p bra OUTSIDE;
  setp.eq.u32 %p, %k, 7;
  @%p bra BEYOND;
  mov.u32 %line, 0;
  setp.eq.u32 %p, %k, 1;
  @%p mov.u32 %line, 42;
  mov.u64 %m, message;
  mov.u64 %f, file;
  mov.u64 %n, name;
  { .param .b64 a; .param .b64 b; .param .b32 c; .param .b64 d; .param .b64 e;
    st.param.b64 [a], %m;
    st.param.b64 [b], %f;
    st.param.b32 [c], %line;
    st.param.b64 [d], %n;
    st.param.b64 [e], 1;
    call.uni __assertfail, (a, b, c, d, e); }
TRAP:
  trap;
NULL:
  mov.u64 %m, 0;
  st.u32 [%m], 1;
  ret;
MIXED:
  setp.lt.u32 %p, %t, 3;
  @%p bra FEW;
  shfl.sync.idx.b32 %v, %t, 0, 31, -1;
  ret;
FEW:
  bar.warp.sync -1;
  ret;
BARRIER:
  setp.lt.u32 %p, %t, 16;
  @%p bar.sync 1, 32;
  ret;
OUTSIDE:
  vote.sync.ballot.b32 %v, %p, 0xffff;
  ret;
BEYOND:
  mov.u32 %v, word;
  st.shared.u32 [%v+16], 1;
})";

// Message passing between two blocks: `how` 0 stores the flag relaxed, 1 releases it. Block 1 waits
// for the flag and reports the data that it then sees.
constexpr const char* kMessages = R"(
.visible .entry messages(.param .u64 data, .param .u64 flag, .param .u64 seen, .param .u32 how)
{
  .reg .pred %p;
  .reg .b32 %b, %v, %how;
  .reg .b64 %data, %flag, %seen;
  ld.param.u64 %data, [data];
  ld.param.u64 %flag, [flag];
  ld.param.u64 %seen, [seen];
  ld.param.u32 %how, [how];
  mov.u32 %b, %ctaid.x;
  setp.eq.u32 %p, %b, 1;
  @%p bra READER;
  st.relaxed.gpu.global.u32 [%data], 1;
  setp.eq.u32 %p, %how, 1;
  @%p bra RELEASE;
  setp.eq.u32 %p, %how, 2;
  @%p bra FENCE;
  st.relaxed.gpu.global.u32 [%flag], 1;
  ret;
FENCE:
  fence.acq_rel.gpu;
  st.relaxed.gpu.global.u32 [%flag], 1;
  ret;
RELEASE:
  st.release.gpu.global.u32 [%flag], 1;
  ret;
READER:
  ld.acquire.gpu.global.u32 %v, [%flag];
  setp.eq.u32 %p, %v, 0;
  @%p bra READER;
  ld.relaxed.gpu.global.u32 %v, [%data];
  st.global.u32 [%seen], %v;
})";

// Waits for a word by `how`: 0 weak loads, 1 relaxed ones, 2 atomics. Thread 32 writes it when all
// others wait.
constexpr const char* kSpins = R"(
.visible .entry spins(.param .u64 word, .param .u32 how)
{
  .reg .pred %p;
  .reg .b32 %t, %v, %how;
  .reg .b64 %w;
  ld.param.u64 %w, [word];
  ld.param.u32 %how, [how];
  mov.u32 %t, %tid.x;
  setp.eq.u32 %p, %t, 32;
  @%p bra WRITER;
  setp.eq.u32 %p, %how, 1;
  @%p bra RELAXED;
  setp.eq.u32 %p, %how, 2;
  @%p bra ATOMIC;
WEAK:
  ld.global.u32 %v, [%w];
  setp.eq.u32 %p, %v, 0;
  @%p bra WEAK;
  ret;
RELAXED:
  ld.relaxed.gpu.global.u32 %v, [%w];
  setp.eq.u32 %p, %v, 0;
  @%p bra RELAXED;
  ret;
ATOMIC:
  atom.global.or.b32 %v, [%w], 0;
  setp.eq.u32 %p, %v, 0;
  @%p bra ATOMIC;
  ret;
WRITER:
  st.release.gpu.global.u32 [%w], 1;
})";

constexpr const char* kPrints = R"(
.global .align 1 .b8 format[8] = {37, 100, 32, 37, 115, 10, 0};
.global .align 1 .b8 text[3] = {111, 107, 0};
.extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);
.extern .func (.param .b64 r) malloc(.param .b64 n);
.extern .func free(.param .b64 p);
.visible .entry prints(.param .u64 out)
{
  .local .align 8 .b8 packed[16];
  .reg .b32 %r;
  .reg .b64 %d, %o, %m;
  ld.param.u64 %o, [out];
  mov.u64 %d, packed;
  cvta.local.u64 %d, %d;
  st.local.u32 [packed], 42;
  mov.u64 %m, text;
  st.local.u64 [packed+8], %m;
  mov.u64 %m, format;
  { .param .b64 f; .param .b64 a; .param .b32 r;
    st.param.b64 [f], %m; st.param.b64 [a], %d;
    call.uni (r), vprintf, (f, a);
    ld.param.b32 %r, [r]; }
  st.global.u32 [%o], %r;
  { .param .b64 n; .param .b64 r;
    st.param.b64 [n], 64;
    call.uni (r), malloc, (n);
    ld.param.b64 %m, [r]; }
  st.u64 [%m], 7;
  ld.u32 %r, [%m];
  st.global.u32 [%o+4], %r;
  { .param .b64 p;
    st.param.b64 [p], %m;
    call.uni free, (p); }
})";

}  // namespace

const std::vector<Program>& programs() {
  static const std::vector<Program> all{
      {"shuffles", kShuffles}, {"votes", kVotes}, {"barriers", kBarriers}, {"control", kControl},
      {"exits", kExits},       {"async", kAsync}, {"special", kSpecial},   {"faults", kFaults},
      {"messages", kMessages}, {"spins", kSpins}, {"prints", kPrints}};
  return all;
}

std::string program(const std::string& name) {
  for (const Program& p : programs()) {
    if (name == p.name) return std::string(kHeader) + p.text;
  }
  throw std::runtime_error("no program " + name);
}

}  // namespace softgpu::tests
