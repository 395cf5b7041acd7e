/* SPDX-License-Identifier: MIT
 *
 * The stub: makes a dispatched syscall in its caller's own context, and stamps it.
 *
 * A syscall made inside a signal handler would run under the handler's mask and on its frame; so the handler only
 * points the interrupted thread here. The stub is entered like the kernel is: rax = number, arguments in rdi, rsi, rdx,
 * r10, r8, r9, and rcx = where to go on, which is what a real `syscall` leaves there. A patched call site jumps here
 * by way of its trampoline, which loads rcx.
 *
 * All that the stub keeps is in a Call (call.h), at rsp: of a patched site below the red zone of the caller's stack; of
 * a trapped one on a stack of ours (arming.h), because the caller's may be too small, or none at all. The code that
 * counts the call runs on a stack of ours in either case. Nothing is kept in one place of the thread's record: a
 * handler that interrupts a blocked call comes through here again. Every register but rax, rcx and r11 is given back,
 * the flags too; no vector register is touched. The unwind tables say where the caller is, so that pthread_cancel and
 * debuggers see through.
 *
 * Everything between syscost_undispatched_begin and _end may enter the kernel undispatched; the kernel looks at the
 * byte after the instruction.
 */

#define CALL_SIZE 256
#define FRAME (128 + CALL_SIZE)

/* struct Call */
#define USED 0
#define RESULT 128
#define NUMBER 136
#define CONTROL 144
#define START 152
#define RETURN_ADDRESS 160
#define FLAGS 168
#define THREAD 176
#define GIVEN 184
#define ABI 232
#define STACK 240

/* struct Thread, and trap stacks (arming.h) */
#define SIGNAL_STACK 400
#define SIGNAL_STACK_BYTES 416
#define RUNS_ON_AT 504
#define TRAP_STACKS 4
#define TRAP_STACK_SIZE 2048
#define CALL_ON_TRAP_STACK 1792

/* Registers of a frame, in the order of <sys/ucontext.h>. */
#define REGISTER_R8 0
#define REGISTER_R9 8
#define REGISTER_R10 16
#define REGISTER_R11 24
#define REGISTER_R12 32
#define REGISTER_R13 40
#define REGISTER_R14 48
#define REGISTER_R15 56
#define REGISTER_RDI 64
#define REGISTER_RSI 72
#define REGISTER_RBP 80
#define REGISTER_RBX 88
#define REGISTER_RDX 96
#define REGISTER_RAX 104
#define REGISTER_RCX 112
#define REGISTER_RSP 120
#define REGISTER_RIP 128
#define REGISTER_FLAGS 136
#define ARITHMETIC 0x8d5
#define DIRECTION 0x400

#define SIZEOF_THREAD 512
#define THREADS 16384

        .text
        .p2align 6
        .globl syscost_undispatched_begin
        .hidden syscost_undispatched_begin
syscost_undispatched_begin:

/* A place that cancel.cc knows. */
        .macro place name
        .globl \name
        .hidden \name
\name:
        .endm

/* rcx = this thread's record, the foreign one when gs is not ours. Clobbers rax, r11, flags. */
        .macro find_thread
        rdgsbase %rcx
        lea syscost_threads(%rip), %r11
        mov %rcx, %rax
        sub %r11, %rax
        cmp $(SIZEOF_THREAD * THREADS), %rax
        jb 7f
        call syscost_other_thread
7:
        .endm

/* On every way back: a `syscall` that the kernel has undone is known by an r11 that is the flags (is_undone_call in
   signals.cc), of which one bit is always set. Touches no flag. */
        .macro not_undone
        mov $0, %r11d
        .endm

        .macro save_arguments
        mov %rdi, GIVEN(%rsp)
        mov %rsi, GIVEN+8(%rsp)
        mov %rdx, GIVEN+16(%rsp)
        mov %r10, GIVEN+24(%rsp)
        mov %r8, GIVEN+32(%rsp)
        mov %r9, GIVEN+40(%rsp)
        .endm

        .macro load_arguments from
        mov \from(%rsp), %rdi
        mov \from+8(%rsp), %rsi
        mov \from+16(%rsp), %rdx
        mov \from+24(%rsp), %r10
        mov \from+32(%rsp), %r8
        mov \from+40(%rsp), %r9
        .endm

/* rsi = the time; for a C function's second argument. Clobbers rax, rdx. */
        .macro stamp_rsi
        rdtsc
        shl $32, %rdx
        lea (%rdx, %rax), %rsi
        .endm

/* START = the time. Clobbers rax, r11. */
        .macro stamp_start begin=, end=
        mov %rdx, %r11
        .ifnb \begin
        place \begin
        .endif
        rdtsc
        shl $32, %rdx
        or %rdx, %rax
        mov %rax, START(%rsp)
        mov %r11, %rdx
        .ifnb \end
        place \end
        .endif
        .endm

/* The same where armed or not: the common call stamps only while armed, which nothing is when ticks are denied. */
        .macro stamp_rsi_if_allowed
        xor %esi, %esi
        cmpb $0, syscost_denies_ticks(%rip)
        jne 9f
        stamp_rsi
9:
        .endm

        .macro stamp_start_if_allowed
        cmpb $0, syscost_denies_ticks(%rip)
        jne 9f
        stamp_start
9:
        .endm

/* While rsp points to a Call: the caller's stack pointer and the way back are in it. For unwinders:
   DW_CFA_def_cfa_expression {rsp + STACK, dereferenced}; DW_CFA_expression for rip {rsp + RETURN_ADDRESS}. */
        .macro cfa_in_call
        .cfi_escape 0x0f, 4, 0x77, (STACK & 0x7f) | 0x80, STACK >> 7, 0x06
        .cfi_escape 0x10, 16, 3, 0x77, (RETURN_ADDRESS & 0x7f) | 0x80, RETURN_ADDRESS >> 7
        .endm

/* While rsp points to a Call on a trap stack, in which STACK says where the Call is. The same expressions, one step
   further: DW_OP_deref, DW_OP_plus_uconst. */
        .macro cfa_beyond_call
        .cfi_escape 0x0f, 8, 0x77, (STACK & 0x7f) | 0x80, STACK >> 7, 0x06, 0x23, (STACK & 0x7f) | 0x80, STACK >> 7, 0x06
        .cfi_escape 0x10, 16, 7, 0x77, (STACK & 0x7f) | 0x80, STACK >> 7, 0x06, 0x23, (RETURN_ADDRESS & 0x7f) | 0x80, RETURN_ADDRESS >> 7
        .endm

/* The frame of a call that came with rcx = where it returns to: THREAD, NUMBER and FLAGS are known, rcx = the thread. */
        .macro enter_call name
        lea -FRAME(%rsp), %rsp
        place \name\()_framed
        .cfi_def_cfa_offset FRAME
        mov %rcx, RETURN_ADDRESS(%rsp)
        .cfi_offset %rip, -FRAME+RETURN_ADDRESS
        mov %rax, NUMBER(%rsp)
        place \name\()_kept
        lahf
        seto %al
        mov %rax, FLAGS(%rsp)
        lea FRAME(%rsp), %rax
        mov %rax, STACK(%rsp)
        place \name\()_flags_kept
        cfa_in_call
        find_thread
        mov %rcx, THREAD(%rsp)
        .endm

/* Gives flags and stack back and goes on after the call, with rax = the result. Once a trap stack is free a handler's
   call may take it: nothing is read from it any more. */
        .macro leave_call frees, leaving=, left=
        mov %rax, %r11
        mov FLAGS(%rsp), %rax
        add $0x7f, %al          /* overflows if the flag was set */
        sahf
        mov %r11, %rax
        mov RETURN_ADDRESS(%rsp), %rcx
        .ifnb \leaving
        place \leaving
        .endif
        mov STACK(%rsp), %r11
        .cfi_remember_state
        .cfi_def_cfa %r11, 0
        .cfi_register %rip, %rcx
        .if \frees
        movq $0, THREAD(%rsp)
        .endif
        mov %r11, %rsp
        .cfi_def_cfa %rsp, 0
        not_undone
        jmp *%rcx
        .cfi_restore_state
        .ifnb \left
        place \left
        .endif
        .endm

/* ---- the common call ---------------------------------------------------------------------------------------------- */

        .p2align 6
        .globl syscost_stub
        .hidden syscost_stub
        .type syscost_stub, @function
syscost_stub:
        .cfi_startproc
        .cfi_def_cfa %rsp, 0
        .cfi_register %rip, %rcx
        enter_call syscost_stub
.Ltrapped:
        place syscost_stub_known
        mov NUMBER(%rsp), %eax  /* all that the kernel looks at */
        cmp $512, %rax
        jae .Lcommon
        lea syscost_is_special(%rip), %r11
        cmpb $0, (%r11, %rax)
        jne .Lspecial
.Lcommon:
        mov (%rcx), %r11
        mov (%r11), %r11
        mov %r11, CONTROL(%rsp)
        test %r11, %r11
        jz 2f
        stamp_start syscost_stub_stamping, syscost_stub_stamped
2:      mov NUMBER(%rsp), %rax
        place syscost_stub_calls
        syscall
.Lreturned:
        place syscost_stub_returned
        mov THREAD(%rsp), %rcx
        mov (%rcx), %rcx
        cmpq $0, (%rcx)
        je .Lreturn
        mov %rax, RESULT(%rsp)
        save_arguments
        stamp_rsi
        mov %rsp, %rdi
        movq $0, ABI(%rsp)
        /* record() may take more room than the caller's stack has: it runs on a trap stack, where one is free. */
        lea FRAME(%rsp), %rax
        cmp %rax, STACK(%rsp)
        jne 4f                  /* on one already */
        mov THREAD(%rsp), %rcx
        mov SIGNAL_STACK_BYTES(%rcx), %r8
        test %r8, %r8
        jz 4f
        add SIGNAL_STACK(%rcx), %r8
        add $CALL_ON_TRAP_STACK, %r8
        mov $TRAP_STACKS, %r9d
3:      xor %eax, %eax
        cmpxchg %rcx, THREAD(%r8)       /* not locked: only handlers of this thread take its stacks */
        je 5f
        add $TRAP_STACK_SIZE, %r8
        dec %r9d
        jnz 3b
4:      call syscost_record
        place syscost_stub_counted
        jmp .Lreturn_all
        /* A handler's frame goes below the Call. */
5:      mov %rdi, STACK(%r8)
        mov %r8, %rsp
        .cfi_remember_state
        cfa_beyond_call
        place syscost_stub_moved
        call syscost_record
        place syscost_stub_moved_counted
        mov %rsp, %rax
        mov STACK(%rsp), %rsp
        .cfi_restore_state
        place syscost_stub_moved_back
        movq $0, THREAD(%rax)

/* The call is over: gives everything back and goes on after it. */
.Lreturn_all:
        load_arguments GIVEN
        mov RESULT(%rsp), %rax
.Lreturn:
        leave_call frees=1, leaving=syscost_stub_leaving, left=syscost_stub_left
        .cfi_endproc
        .size syscost_stub, . - syscost_stub

/* A trapped call: rsp = its Call on a trap stack, in which handle_sigsys has put all that enter_call keeps. */
        .p2align 4
        .globl syscost_stub_trapped
        .hidden syscost_stub_trapped
        .type syscost_stub_trapped, @function
syscost_stub_trapped:
        .cfi_startproc
        .cfi_def_cfa %rsp, 0
        cfa_in_call
        mov THREAD(%rsp), %rcx
        jmp .Ltrapped
        place syscost_stub_trapped_end
        .cfi_endproc
        .size syscost_stub_trapped, . - syscost_stub_trapped

/* While nothing is armed: no flag is touched, so none need be kept. */
#define PLAIN_FRAME (128 + 16)
        .p2align 4
        .globl syscost_stub_plain
        .hidden syscost_stub_plain
        .type syscost_stub_plain, @function
syscost_stub_plain:
        .cfi_startproc
        .cfi_def_cfa %rsp, 0
        .cfi_register %rip, %r11
        movzbl syscost_any_armed(%rip), %ecx
        jrcxz 1f
        mov %r11, %rcx
        .cfi_remember_state
        .cfi_register %rip, %rcx
        enter_call syscost_plain
        testb $2, syscost_any_armed(%rip)
        jnz .Ltrapped           /* its number may be marked (call.h) */
        jmp .Lcommon
        .cfi_restore_state
        place syscost_plain_quiet
1:      lea -PLAIN_FRAME(%rsp), %rsp
        place syscost_plain_quiet_framed
        .cfi_def_cfa_offset PLAIN_FRAME
        mov %r11, (%rsp)
        .cfi_offset %rip, -PLAIN_FRAME
        mov %rax, 8(%rsp)
        place syscost_plain_quiet_kept
        syscall
        place syscost_plain_quiet_returned
        movzbl syscost_any_armed(%rip), %ecx
        jrcxz 2f
        jmp 3f
        .cfi_remember_state
2:      mov (%rsp), %rcx
        not_undone
        lea PLAIN_FRAME(%rsp), %rsp
        .cfi_def_cfa_offset 0
        .cfi_register %rip, %rcx
        jmp *%rcx
        .cfi_restore_state
        /* Armed meanwhile: the call is carried in. */
3:      lea -(FRAME-PLAIN_FRAME)(%rsp), %rsp
        .cfi_def_cfa_offset FRAME
        .cfi_offset %rip, -PLAIN_FRAME
        mov %rax, RESULT(%rsp)
        lahf
        seto %al
        mov %rax, FLAGS(%rsp)
        mov FRAME-PLAIN_FRAME(%rsp), %rcx
        mov %rcx, RETURN_ADDRESS(%rsp)
        .cfi_offset %rip, -FRAME+RETURN_ADDRESS
        mov FRAME-PLAIN_FRAME+8(%rsp), %rcx
        mov %rcx, NUMBER(%rsp)
        movq $0, CONTROL(%rsp)
        lea FRAME(%rsp), %rcx
        mov %rcx, STACK(%rsp)
        find_thread
        mov %rcx, THREAD(%rsp)
        mov RESULT(%rsp), %rax
        jmp .Lreturned
        .cfi_endproc
        .size syscost_stub_plain, . - syscost_stub_plain

/* ---- calls that need care ----------------------------------------------------------------------------------------- */

        .type syscost_special, @function
syscost_special:
        .cfi_startproc
        .cfi_def_cfa %rsp, 0
        cfa_in_call
.Lspecial:
        place syscost_special_begin
        save_arguments
        place syscost_special_saved
        movq $0, ABI(%rsp)
        mov %rsp, %rdi
        call syscost_prepare
        cmp $1, %rax
        je .Lsigreturn
        cmp $2, %rax
        je .Lown_stack
        cmp $3, %rax
        je .Lshared_stack
        cmp $4, %rax
        je .Lanswered
        cmp $5, %rax
        jne 1f
        load_arguments GIVEN
        mov THREAD(%rsp), %rcx
        jmp .Lcommon
1:      load_arguments USED
        stamp_start_if_allowed
        mov NUMBER(%rsp), %rax
        syscall
        place syscost_special_returned
        mov %rax, RESULT(%rsp)
        stamp_rsi_if_allowed
        mov %rsp, %rdi
        call syscost_finish
        test %al, %al
        jz .Lreturn_all
        /* A child on the trap stack of its maker, who waits for it and comes back here. */
        load_arguments GIVEN
        mov RESULT(%rsp), %rax
        leave_call frees=0

/* prepare() has put the result in place: no call is made. */
.Lanswered:
        stamp_start_if_allowed
        stamp_rsi_if_allowed
        mov %rsp, %rdi
        call syscost_finish_answered
        jmp .Lreturn_all

/* The kernel finds its frame at rsp. */
.Lsigreturn:
        mov STACK(%rsp), %rsp
        place syscost_sigreturn
        mov $15, %eax
        syscall
        ud2

/* prepare() has put what the child needs right below its stack pointer. */
.Lown_stack:
        load_arguments GIVEN
        stamp_start_if_allowed
        mov NUMBER(%rsp), %rax
        syscall
        test %rax, %rax
        jz .Lchild
        mov %rax, RESULT(%rsp)
        stamp_rsi_if_allowed
        mov %rsp, %rdi
        call syscost_finish
        jmp .Lreturn_all
.Lchild:
        lea -FRAME(%rsp), %rsp
        lea FRAME(%rsp), %rcx
        mov %rcx, STACK(%rsp)
        mov FRAME-8(%rsp), %rcx
        mov %rcx, RETURN_ADDRESS(%rsp)
        mov FRAME-16(%rsp), %rcx
        mov %rcx, FLAGS(%rsp)
        mov FRAME-24(%rsp), %rsi
        movq $0, RESULT(%rsp)
        mov %rdi, GIVEN(%rsp)
        mov %rdx, GIVEN+16(%rsp)
        mov %r10, GIVEN+24(%rsp)
        mov %r8, GIVEN+32(%rsp)
        mov %r9, GIVEN+40(%rsp)
        mov FRAME-32(%rsp), %rcx
        mov %rcx, GIVEN+8(%rsp)
        mov %rsp, %rdi
        call syscost_child
        jmp .Lreturn_all

/* From a patched site: the child runs on below our rsp, so nothing of ours may be there: it is in the thread's record. */
.Lshared_stack:
        load_arguments GIVEN
        mov NUMBER(%rsp), %rax
        lea FRAME(%rsp), %rsp
        .cfi_remember_state
        .cfi_def_cfa %rsp, 0
        .cfi_undefined %rip
        syscall
        mov %rsp, %rcx
        lea -FRAME(%rsp), %rsp
        mov %rcx, STACK(%rsp)   /* the child has written over it */
        .cfi_restore_state
        mov %rax, RESULT(%rsp)
        save_arguments
        find_thread
        mov %rcx, THREAD(%rsp)
        stamp_rsi_if_allowed
        mov %rsp, %rdi
        call syscost_return_from_shared
        jmp .Lreturn_all
        .cfi_endproc
        .size syscost_special, . - syscost_special

/* ---- int $0x80 ---------------------------------------------------------------------------------------------------- */

/* The return address is on the stack, below the red zone; every register is an argument or kept. */
        .p2align 4
        .globl syscost_stub_int80
        .hidden syscost_stub_int80
        .type syscost_stub_int80, @function
syscost_stub_int80:
        .cfi_startproc
        .cfi_def_cfa %rsp, 136
        .cfi_offset %rip, -136
        pushfq
        .cfi_def_cfa_offset 144
        push %rcx
        .cfi_def_cfa_offset 152
        push %r11
        .cfi_def_cfa_offset 160
        lea -CALL_SIZE(%rsp), %rsp
        .cfi_def_cfa_offset 160 + CALL_SIZE
        mov %eax, %eax
        mov %rax, NUMBER(%rsp)
        movq $1, ABI(%rsp)
        lea CALL_SIZE+160(%rsp), %rax
        mov %rax, STACK(%rsp)
        find_thread
        mov %rcx, THREAD(%rsp)
        mov (%rcx), %r11
        mov (%r11), %r11
        mov %r11, CONTROL(%rsp)
        stamp_start_if_allowed
        save_arguments
        mov CALL_SIZE+8(%rsp), %rcx
        mov NUMBER(%rsp), %rax
        int $0x80
        mov %rax, RESULT(%rsp)
        save_arguments
        stamp_rsi_if_allowed
        mov %rsp, %rdi
        call syscost_record
        load_arguments GIVEN
        mov RESULT(%rsp), %rax
        lea CALL_SIZE(%rsp), %rsp
        .cfi_def_cfa_offset 160
        pop %r11
        .cfi_def_cfa_offset 152
        pop %rcx
        .cfi_def_cfa_offset 144
        popfq
        .cfi_def_cfa_offset 136
        ret $128
        .cfi_endproc
        .size syscost_stub_int80, . - syscost_stub_int80

/* ---- syscalls of our own ------------------------------------------------------------------------------------------ */

        .p2align 4
        .globl syscost_raw_syscall
        .hidden syscost_raw_syscall
        .type syscost_raw_syscall, @function
syscost_raw_syscall:
        .cfi_startproc
        mov %rdi, %rax
        mov %rsi, %rdi
        mov %rdx, %rsi
        mov %rcx, %rdx
        mov %r8, %r10
        mov %r9, %r8
        mov 8(%rsp), %r9
        syscall
        ret
        .cfi_endproc
        .size syscost_raw_syscall, . - syscost_raw_syscall

/* rdi = a function, rsi = its argument, rdx = a stack, rcx = where our stack pointer is stored (unwind.cc). */
        .p2align 4
        .globl syscost_call_on_stack
        .hidden syscost_call_on_stack
        .type syscost_call_on_stack, @function
syscost_call_on_stack:
        .cfi_startproc
        push %rbp
        .cfi_def_cfa_offset 16
        .cfi_offset %rbp, -16
        mov %rsp, %rbp
        .cfi_def_cfa_register %rbp
        mov %rdi, %rax
        mov %rsi, %rdi
        mov %rsp, (%rcx)
        mov %rdx, %rsp
        call *%rax
        mov %rbp, %rsp
        pop %rbp
        .cfi_def_cfa %rsp, 8
        ret
        .cfi_endproc
        .size syscost_call_on_stack, . - syscost_call_on_stack

/* What a trapped exit continues in, on the caller's stack, of which it needs nothing: r11 = what says that this thread's
   record is in use. From the first instruction on another thread may take the record, with the stacks that belong to it.
   A kernel that refuses is asked again, as by libc. */
        .p2align 4
        .globl syscost_end_thread
        .hidden syscost_end_thread
        .type syscost_end_thread, @function
syscost_end_thread:
        .cfi_startproc
        .cfi_def_cfa %rsp, 0
        .cfi_undefined %rip
        movl $0, (%r11)
1:      syscall
        mov $60, %eax
        jmp 1b
        .cfi_endproc
        .size syscost_end_thread, . - syscost_end_thread

/* For a handler of ours: lets the code that it interrupted run on until the call that is being counted is over. rdi = the
   registers of that code, which become those after the call; the way back that the stub will read is
   syscost_call_is_over. All signals wait meanwhile. At the start of our signal stack is kept where we come back. */
        .p2align 4
        .globl syscost_run_on
        .hidden syscost_run_on
        .type syscost_run_on, @function
syscost_run_on:
        .cfi_startproc
        push %rbx
        .cfi_adjust_cfa_offset 8
        push %rbp
        .cfi_adjust_cfa_offset 8
        push %r12
        .cfi_adjust_cfa_offset 8
        push %r13
        .cfi_adjust_cfa_offset 8
        push %r14
        .cfi_adjust_cfa_offset 8
        push %r15
        .cfi_adjust_cfa_offset 8
        push %rdi
        .cfi_adjust_cfa_offset 8
        mov %gs:SIGNAL_STACK, %rax
        mov %rsp, 8(%rax)
        mov REGISTER_RIP(%rdi), %rax
        mov %rax, %gs:RUNS_ON_AT
        mov REGISTER_FLAGS(%rdi), %rax
        and $(ARITHMETIC | DIRECTION), %eax
        push %rax
        popfq
        mov REGISTER_R8(%rdi), %r8
        mov REGISTER_R9(%rdi), %r9
        mov REGISTER_R10(%rdi), %r10
        mov REGISTER_R11(%rdi), %r11
        mov REGISTER_R12(%rdi), %r12
        mov REGISTER_R13(%rdi), %r13
        mov REGISTER_R14(%rdi), %r14
        mov REGISTER_R15(%rdi), %r15
        mov REGISTER_RSI(%rdi), %rsi
        mov REGISTER_RBP(%rdi), %rbp
        mov REGISTER_RBX(%rdi), %rbx
        mov REGISTER_RDX(%rdi), %rdx
        mov REGISTER_RAX(%rdi), %rax
        mov REGISTER_RCX(%rdi), %rcx
        .cfi_undefined %rip
        mov REGISTER_RSP(%rdi), %rsp
        mov REGISTER_RDI(%rdi), %rdi
        jmp *%gs:RUNS_ON_AT
        place syscost_call_is_over
        mov %rsp, %r11
        mov %gs:SIGNAL_STACK, %rcx
        mov 8(%rcx), %rsp
        pop %rcx
        mov %r8, REGISTER_R8(%rcx)
        mov %r9, REGISTER_R9(%rcx)
        mov %r10, REGISTER_R10(%rcx)
        movq $0, REGISTER_R11(%rcx)
        mov %r12, REGISTER_R12(%rcx)
        mov %r13, REGISTER_R13(%rcx)
        mov %r14, REGISTER_R14(%rcx)
        mov %r15, REGISTER_R15(%rcx)
        mov %rdi, REGISTER_RDI(%rcx)
        mov %rsi, REGISTER_RSI(%rcx)
        mov %rbp, REGISTER_RBP(%rcx)
        mov %rbx, REGISTER_RBX(%rcx)
        mov %rdx, REGISTER_RDX(%rcx)
        mov %rax, REGISTER_RAX(%rcx)
        mov %r11, REGISTER_RSP(%rcx)
        pushfq
        pop %rdx
        cld
        and $ARITHMETIC, %edx
        mov REGISTER_FLAGS(%rcx), %rax
        and $~ARITHMETIC, %rax
        or %rdx, %rax
        mov %rax, REGISTER_FLAGS(%rcx)
        pop %r15
        pop %r14
        pop %r13
        pop %r12
        pop %rbp
        pop %rbx
        ret
        .cfi_endproc
        .size syscost_run_on, . - syscost_run_on

/* rdi = a frame; its restorer's address has been taken off, as by a handler's return. */
        .p2align 4
        .globl syscost_sigreturn_from
        .hidden syscost_sigreturn_from
        .type syscost_sigreturn_from, @function
syscost_sigreturn_from:
        lea 8(%rdi), %rsp
        mov $15, %eax
        syscall
        ud2
        .size syscost_sigreturn_from, . - syscost_sigreturn_from

/* The rest of find_thread: rcx = a gs base outside our records. A base that the program has set means that calls of this
   thread went by uncounted, and that nothing may be dispatched any more: the stub could not tell which thread calls. */
        .p2align 4
        .type syscost_other_thread, @function
syscost_other_thread:
        .cfi_startproc
        lea syscost_foreign_thread(%rip), %r11
        cmp %r11, %rcx
        je 1f
        lea syscost_child_thread(%rip), %rax
        cmp %rax, %rcx
        je 2f
        test %rcx, %rcx
        jnz 3f
        cmpb $0, syscost_has_older_threads(%rip)
        jne 2f
3:      movb $1, syscost_gs_was_changed(%rip)
        movb $0, syscost_selector(%rip)
2:      mov %r11, %rcx
1:      ret
        .cfi_endproc
        .size syscost_other_thread, . - syscost_other_thread

/* Unwinders know the frame of a signal by these very bytes. */
        .p2align 4
        nop
        .globl syscost_restorer
        .hidden syscost_restorer
        .type syscost_restorer, @function
syscost_restorer:
        mov $15, %rax
        syscall
        .size syscost_restorer, . - syscost_restorer
        nop

        .globl syscost_undispatched_end
        .hidden syscost_undispatched_end
syscost_undispatched_end:
        nop

/* The numbers that go through prepare(), by bit 0. Other bits are set while a client looks at calls (call.h). By nature:
   rt_sigaction, rt_sigprocmask, rt_sigreturn, clone, fork, vfork, execve, exit, brk, rt_sigpending, rt_sigtimedwait,
   rt_sigsuspend, tkill, tgkill, rt_tgsigqueueinfo, sigaltstack, prctl, arch_prctl, seccomp, pselect6, ppoll,
   epoll_pwait, signalfd, signalfd4, io_pgetevents, clone3, epoll_pwait2, execveat, mlockall. */
        .data
        .p2align 6
        .globl syscost_is_special
        .hidden syscost_is_special
        .type syscost_is_special, @object
syscost_is_special:
        .set number, 0
        .rept 512
        .if number == 12 || number == 13 || number == 14 || number == 15 || number == 131 || number == 56 || number == 58 || number == 59 || number == 60
        .byte 1
        .elseif number == 57 || number == 127 || number == 128 || number == 282 || number == 289
        .byte 1
        .elseif number == 130 || number == 157 || number == 158 || number == 270 || number == 271 || number == 281
        .byte 1
        .elseif number == 333 || number == 435 || number == 441 || number == 200 || number == 234 || number == 297 || number == 317 || number == 322 || number == 151
        .byte 1
        .else
        .byte 0
        .endif
        .set number, number + 1
        .endr
        .size syscost_is_special, . - syscost_is_special

        .section .note.GNU-stack, "", @progbits
