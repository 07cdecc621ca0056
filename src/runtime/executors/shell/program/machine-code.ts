/**
 * The machine code of the programs that set up containers: it makes the system calls of a table one after another. An
 * entry of the table has 12 words of 64 bits:
 *
 *     0     number of the call; -2 ends the program with the exit status at the address in word 1
 *     1-6   arguments
 *     7     errors that are ignored: bit 2 is that of ENOENT
 *     8     address of the next entry if the result is positive; 0: the following one
 *     9     address of the next entry after another error; 0: ends the program
 *     10    address of the message of an error, which is written to file 3, followed by a byte with the error's number
 *     11    length of the message, and exit code after the error, of 32 bits each
 *
 * The address of the table follows the code.
 */

export interface MachineCode {
  /** The machine in the ELF header. */
  readonly machine: number
  readonly code: Buffer
}

const x64: readonly number[] = [
  ...[0x48, 0x8b, 0x1d, 0xb1, 0x00, 0x00, 0x00], //       mov rbx, [table]
  ...[0x48, 0x8b, 0x03], //                         next: mov rax, [rbx]
  ...[0x48, 0x8b, 0x7b, 0x08], //                         mov rdi, [rbx + 8]
  ...[0x48, 0x83, 0xf8, 0xfe], //                         cmp rax, -2
  ...[0x0f, 0x84, 0x80, 0x00, 0x00, 0x00], //             je finish
  ...[0x48, 0x8b, 0x73, 0x10], //                         mov rsi, [rbx + 16]
  ...[0x48, 0x8b, 0x53, 0x18], //                         mov rdx, [rbx + 24]
  ...[0x4c, 0x8b, 0x53, 0x20], //                         mov r10, [rbx + 32]
  ...[0x4c, 0x8b, 0x43, 0x28], //                         mov r8, [rbx + 40]
  ...[0x4c, 0x8b, 0x4b, 0x30], //                         mov r9, [rbx + 48]
  ...[0x0f, 0x05], //                                     syscall
  ...[0x48, 0x3d, 0x01, 0xf0, 0xff, 0xff], //             cmp rax, -4095
  ...[0x73, 0x19], //                                     jae failed
  ...[0x48, 0x8b, 0x4b, 0x40], //                         mov rcx, [rbx + 64]
  ...[0x48, 0x85, 0xc9], //                               test rcx, rcx
  ...[0x74, 0x0a], //                                     jz forward
  ...[0x48, 0x85, 0xc0], //                               test rax, rax
  ...[0x74, 0x05], //                                     jz forward
  ...[0x48, 0x89, 0xcb], //                         jump: mov rbx, rcx
  ...[0xeb, 0xbe], //                                     jmp next
  ...[0x48, 0x83, 0xc3, 0x60], //                forward: add rbx, 96
  ...[0xeb, 0xb8], //                                     jmp next
  ...[0x48, 0xf7, 0xd8], //                       failed: neg rax
  ...[0x48, 0x83, 0xf8, 0x3f], //                         cmp rax, 63
  ...[0x77, 0x0a], //                                     ja bad
  ...[0x48, 0x8b, 0x4b, 0x38], //                         mov rcx, [rbx + 56]
  ...[0x48, 0x0f, 0xa3, 0xc1], //                         bt rcx, rax
  ...[0x72, 0xe7], //                                     jc forward
  ...[0x48, 0x8b, 0x4b, 0x48], //                    bad: mov rcx, [rbx + 72]
  ...[0x48, 0x85, 0xc9], //                               test rcx, rcx
  ...[0x75, 0xd9], //                                     jnz jump
  ...[0x50], //                                           push rax
  ...[0xb8, 0x01, 0x00, 0x00, 0x00], //                   mov eax, write
  ...[0xbf, 0x03, 0x00, 0x00, 0x00], //                   mov edi, 3
  ...[0x48, 0x8b, 0x73, 0x50], //                         mov rsi, [rbx + 80]
  ...[0x8b, 0x53, 0x58], //                               mov edx, [rbx + 88]
  ...[0x0f, 0x05], //                                     syscall
  ...[0xb8, 0x01, 0x00, 0x00, 0x00], //                   mov eax, write
  ...[0x48, 0x89, 0xe6], //                               mov rsi, rsp
  ...[0xba, 0x01, 0x00, 0x00, 0x00], //                   mov edx, 1
  ...[0x0f, 0x05], //                                     syscall
  ...[0x8b, 0x7b, 0x5c], //                               mov edi, [rbx + 92]
  ...[0xb8, 0xe7, 0x00, 0x00, 0x00], //             exit: mov eax, exit_group
  ...[0x0f, 0x05], //                                     syscall
  ...[0x8b, 0x07], //                             finish: mov eax, [rdi]
  ...[0x89, 0xc7], //                                     mov edi, eax
  ...[0x83, 0xe7, 0x7f], //                               and edi, 127
  ...[0x75, 0x08], //                                     jnz signal
  ...[0xc1, 0xe8, 0x08], //                               shr eax, 8
  ...[0x0f, 0xb6, 0xf8], //                               movzx edi, al
  ...[0xeb, 0xe8], //                                     jmp exit
  ...[0x81, 0xc7, 0x80, 0x00, 0x00, 0x00], //     signal: add edi, 128
  ...[0xeb, 0xe0], //                                     jmp exit
  ...[0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90], //       nop
]

const arm64: readonly number[] = [
  0x5800_05d3, //          ldr x19, table
  0xf940_0268, //    next: ldr x8, [x19]
  0xf940_0660, //          ldr x0, [x19, 8]
  0xb100_091f, //          cmn x8, 2
  0x5400_0460, //          b.eq finish
  0xa941_0a61, //          ldp x1, x2, [x19, 16]
  0xa942_1263, //          ldp x3, x4, [x19, 32]
  0xf940_1a65, //          ldr x5, [x19, 48]
  0xd400_0001, //          svc 0
  0xb13f_fc1f, //          cmn x0, 4095
  0x5400_0102, //          b.hs failed
  0xf940_2269, //          ldr x9, [x19, 64]
  0xb400_0089, //          cbz x9, forward
  0xb400_0060, //          cbz x0, forward
  0xaa09_03f3, //    jump: mov x19, x9
  0x17ff_fff2, //          b next
  0x9101_8273, // forward: add x19, x19, 96
  0x17ff_fff0, //          b next
  0xcb00_03e0, //  failed: neg x0, x0
  0xf100_fc1f, //          cmp x0, 63
  0x5400_0088, //          b.hi bad
  0xf940_1e69, //          ldr x9, [x19, 56]
  0x9ac0_2529, //          lsr x9, x9, x0
  0x3707_ff29, //          tbnz x9, 0, forward
  0xf940_2669, //     bad: ldr x9, [x19, 72]
  0xb5ff_fea9, //          cbnz x9, jump
  0xf81f_0fe0, //          str x0, [sp, -16]!
  0xd280_0808, //          mov x8, write
  0xd280_0060, //          mov x0, 3
  0xf940_2a61, //          ldr x1, [x19, 80]
  0xb940_5a62, //          ldr w2, [x19, 88]
  0xd400_0001, //          svc 0
  0xd280_0060, //          mov x0, 3
  0x9100_03e1, //          mov x1, sp
  0xd280_0022, //          mov x2, 1
  0xd400_0001, //          svc 0
  0xb940_5e60, //          ldr w0, [x19, 92]
  0xd280_0bc8, //    exit: mov x8, exit_group
  0xd400_0001, //          svc 0
  0xb940_0001, //  finish: ldr w1, [x0]
  0x7200_1820, //          ands w0, w1, 127
  0x5400_0061, //          b.ne signal
  0x5308_3c20, //          ubfx w0, w1, 8, 8
  0x17ff_fffa, //          b exit
  0x1102_0000, //  signal: add w0, w0, 128
  0x17ff_fff8, //          b exit
]

const instructions = (words: readonly number[]): Buffer => Buffer.from(new Uint32Array(words).buffer)

/** By Node's names of architectures. */
export const machineCodes: Readonly<Record<string, MachineCode>> = {
  x64: { machine: 62, code: Buffer.from(x64) },
  arm64: { machine: 183, code: instructions(arm64) },
}
