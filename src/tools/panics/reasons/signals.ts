/** Names and descriptions of signals, their codes (those of Linux) and addresses. */
import type { SignalFacts } from '../dump/crash.ts'
import type { Reason } from './reason.ts'

const descriptions: Readonly<Record<string, string>> = {
  SIGQUIT: 'quit',
  SIGABRT: 'abort',
  SIGSEGV: 'segmentation violation',
  SIGBUS: 'bus error',
  SIGFPE: 'floating-point exception',
  SIGILL: 'illegal instruction',
  SIGTRAP: 'trace trap',
  SIGSYS: 'bad system call',
}

/** Linux' name of a code (sigaction(2)), and its description. */
type Code = readonly [name: string, meaning: string]

const codes: Readonly<Record<string, Readonly<Record<number, Code>>>> = {
  SIGSEGV: {
    1: ['SEGV_MAPERR', 'nothing is mapped at the address'],
    2: ['SEGV_ACCERR', 'the access is not permitted (such as a write to read-only memory)'],
    128: ['SI_KERNEL', 'the address is unknown: it is not in canonical form'],
  },
  SIGBUS: {
    1: ['BUS_ADRALN', 'the address is not aligned'],
    2: ['BUS_ADRERR', 'there is no memory at the address, such as in a truncated mapped file'],
    3: ['BUS_OBJERR', 'a hardware error'],
    4: ['BUS_MCEERR_AR', 'a memory error'],
    5: ['BUS_MCEERR_AO', 'a memory error'],
  },
  SIGFPE: {
    1: ['FPE_INTDIV', 'integer division by zero'],
    2: ['FPE_INTOVF', 'integer overflow'],
    3: ['FPE_FLTDIV', 'division of a floating point number by zero'],
    4: ['FPE_FLTOVF', 'floating point overflow'],
    5: ['FPE_FLTUND', 'floating point underflow'],
    6: ['FPE_FLTRES', 'inexact result'],
    7: ['FPE_FLTINV', 'invalid operation'],
    8: ['FPE_FLTSUB', 'subscript out of range'],
  },
  SIGILL: {
    1: ['ILL_ILLOPC', 'unknown instruction'],
    2: ['ILL_ILLOPN', 'illegal operand'],
    3: ['ILL_ILLADR', 'illegal addressing'],
    4: ['ILL_ILLTRP', 'illegal trap'],
    5: ['ILL_PRVOPC', 'privileged instruction'],
  },
  SIGTRAP: { 1: ['TRAP_BRKPT', 'breakpoint'], 2: ['TRAP_TRACE', 'single step'] },
  SIGSYS: { 1: ['SYS_SECCOMP', 'a seccomp profile forbids the system call'] },
}

const senders: Readonly<Record<number, Code>> = {
  0: ['SI_USER', 'a process sent it'],
  [-1]: ['SI_QUEUE', 'a process sent it, with a value'],
  [-6]: ['SI_TKILL', 'a thread of the process sent it (raise, abort, or the runtime itself)'],
}

export function signalName({ name, description }: SignalFacts): string {
  const text = description || descriptions[name]
  return text ? `${name} (${text})` : name
}

/** Returns Linux' name and description of a signal's code; undefined without a code, or for an unknown one. */
export function codeOf({ name, code }: SignalFacts): { readonly name: string; readonly meaning: string } | undefined {
  const known = code === undefined ? undefined : (codes[name]?.[code] ?? senders[code])
  return known && { name: known[0], meaning: known[1] }
}

/** The runtime treats faults below this address as nil dereferences. */
const firstPage = 4096

/** Returns the offset of the field that a nil dereference accessed. */
export function nilOffset({ name, address, code }: SignalFacts): number | undefined {
  if (address === undefined || (name !== 'SIGSEGV' && name !== 'SIGBUS') || code === 128) return undefined
  const offset = Number(BigInt(address))
  return offset < firstPage ? offset : undefined
}

/** Explains a signal that ended the program without a panic or fatal error. */
export const signalReason = (signal: SignalFacts): Reason =>
  reasons.get(signal.name)?.(signal) ?? {
    kind: 'signal',
    explanation: `The program ended by ${signalName(signal)}.`,
    advice: 'Find out what sent it.',
  }

const reasons: ReadonlyMap<string, (signal: SignalFacts) => Reason> = new Map([
  ['SIGQUIT', quitReason],
  ['SIGABRT', abortReason],
  ['SIGSEGV', addressReason],
  ['SIGBUS', addressReason],
  [
    'SIGSYS',
    () => ({
      kind: 'forbidden system call',
      explanation: 'The kernel ended the program for a forbidden system call.',
      advice: "Look at the container's seccomp profile.",
    }),
  ],
  [
    'SIGILL',
    () => ({
      kind: 'illegal instruction',
      explanation: 'The processor does not know an instruction of the program.',
      advice: 'Check what it was built for (GOAMD64, GOARM, C libraries with -march) and the machine it runs on.',
    }),
  ],
  [
    'SIGTRAP',
    () => ({
      kind: 'breakpoint',
      explanation: 'The program reached a breakpoint of its own or of a debugger.',
      advice: 'Look for runtime.Breakpoint, and for __builtin_trap in C code.',
    }),
  ],
])

function quitReason({ code }: SignalFacts): Reason {
  return {
    kind: 'goroutines on request',
    explanation:
      `The program received SIGQUIT${code === 0 ? ' (kill -QUIT, or Ctrl-\\)' : ''}, printed its ` +
      'goroutines and ended. It did not fail by itself.',
    advice:
      'Look at the goroutines that wait longest; a supervisor may have sent the signal after a timeout (a ' +
      'liveness probe, go test -timeout).',
  }
}

function abortReason({ code, duringCgo }: SignalFacts): Reason {
  return {
    kind: 'abort',
    explanation:
      (code !== undefined && code <= 0 ? 'abort() was called, or SIGABRT was sent' : 'The program was aborted') +
      (duringCgo ? ', while C code ran: a failed assertion, or corrupt memory detected by C.' : '.'),
    advice: 'Look at what the program printed before it: C libraries print why they abort.',
  }
}

function addressReason(signal: SignalFacts): Reason {
  const offset = nilOffset(signal)
  const place = offset === 0 ? 'at its start' : `${offset} bytes after it`
  const pointer = offset === undefined ? '.' : `: a nil pointer, ${place}.`
  return signal.duringCgo
    ? {
        kind: 'crash in C code',
        explanation: `C code, called by Go, accessed memory that it must not${pointer}`,
        advice: 'Check what was passed to C in the frame above runtime.cgocall, and how long C may use it.',
      }
    : {
        kind: 'bad address',
        explanation: `The program accessed memory that it must not${pointer}`,
        advice: 'Look at unsafe, cgo and mapped files; run it with -race.',
      }
}
