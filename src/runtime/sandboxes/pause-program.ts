/**
 * The first process of a PID namespace that containers share: it reaps the processes that lose their parents, and
 * waits. A static program of less than 250 bytes, as nothing else is needed and images may lack a shell.
 */
import { staticProgram } from '../host/static-program.ts'

interface MachineCode {
  /** The machine in the ELF header. */
  readonly machine: number
  /** Ignores SIGCHLD, so that the kernel reaps children; then waits for signals in a loop. */
  readonly code: readonly number[]
}

const x64: MachineCode = {
  machine: 62,
  code: [
    ...[0xb8, 13, 0, 0, 0], // mov eax, rt_sigaction
    ...[0xbf, 17, 0, 0, 0], // mov edi, SIGCHLD
    ...[0x48, 0x8d, 0x35, 23, 0, 0, 0], // lea rsi, [action]
    ...[0x31, 0xd2], // xor edx, edx
    ...[0x41, 0xba, 8, 0, 0, 0], // mov r10d, 8
    ...[0x0f, 0x05], // syscall
    ...[0xb8, 34, 0, 0, 0], // mov eax, pause
    ...[0x0f, 0x05], // syscall
    ...[0xeb, 0xf7], // jmp to the previous mov
    ...[0x90, 0x90, 0x90, 0x90], // nop
  ],
}

const word = (instruction: number): number[] => [0, 8, 16, 24].map((shift) => (instruction >>> shift) & 0xff)

const arm64: MachineCode = {
  machine: 183,
  code: [
    0xd280_10c8, // mov x8, rt_sigaction
    0xd280_0220, // mov x0, SIGCHLD
    0x1000_0181, // adr x1, action
    0xd280_0002, // mov x2, 0
    0xd280_0103, // mov x3, 8
    0xd400_0001, // svc
    0xd280_0000, // mov x0, 0
    0xd280_0001, // mov x1, 0
    0xd280_0002, // mov x2, 0
    0xd280_0003, // mov x3, 0
    0xd280_0928, // mov x8, ppoll
    0xd400_0001, // svc
    0x17ff_fffa, // b to the first mov of ppoll
    0xd503_201f, // nop
  ].flatMap(word),
}

const programs: Readonly<Record<string, MachineCode>> = { x64, arm64 }

/** A `sigaction` of the kernel whose handler is SIG_IGN. */
const ignore = [1, ...Array.from({ length: 31 }, () => 0)]

/** The bytes of the program. Throws an Error for an architecture without one. */
export function pauseProgram(architecture: string): Buffer {
  const program = Object.hasOwn(programs, architecture) ? programs[architecture] : undefined
  if (!program) throw new Error(`pods cannot share processes on ${architecture}`)
  const content = Buffer.from([...program.code, ...ignore])
  return staticProgram({ machine: program.machine, content, isWritable: false })
}
