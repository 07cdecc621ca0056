/** Signals, their codes (those of Linux) and addresses, in words. */
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

/** Linux' name of a code (sigaction(2)), and its meaning. */
type Code = readonly [name: string, meaning: string]

const codes: Readonly<Record<string, Readonly<Record<number, Code>>>> = {
  SIGSEGV: {
    1: ['SEGV_MAPERR', 'nothing is mapped at the address'],
    2: ['SEGV_ACCERR', 'the address may not be used so (written where it is read-only, for instance)'],
    128: ['SI_KERNEL', 'the processor does not say where: no address of that form exists'],
  },
  SIGBUS: {
    1: ['BUS_ADRALN', 'the address is not aligned'],
    2: ['BUS_ADRERR', 'there is no memory behind the address: a mapped file that was cut, for instance'],
    3: ['BUS_OBJERR', 'a fault of the hardware'],
    4: ['BUS_MCEERR_AR', 'a fault of the memory'],
    5: ['BUS_MCEERR_AO', 'a fault of the memory'],
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
  const said = description || descriptions[name]
  return said ? `${name} (${said})` : name
}

/** Linux' name of a signal's code, and its meaning; undefined where there is no code, or an unknown one. */
export function codeOf({ name, code }: SignalFacts): { readonly name: string; readonly meaning: string } | undefined {
  const known = code === undefined ? undefined : (codes[name]?.[code] ?? senders[code])
  return known && { name: known[0], meaning: known[1] }
}

/** The runtime takes addresses below for fields of a nil pointer. */
const firstPage = 4096

/** What an address of a nil dereference says about the field. */
export function nilOffset({ name, address, code }: SignalFacts): number | undefined {
  if (address === undefined || (name !== 'SIGSEGV' && name !== 'SIGBUS') || code === 128) return undefined
  const offset = Number(BigInt(address))
  return offset < firstPage ? offset : undefined
}

/** Why a signal ended the program, where nothing else is told. */
export function signalReason(signal: SignalFacts): Reason {
  const { name, duringCgo, code } = signal
  const offset = nilOffset(signal)
  const where = duringCgo ? 'C code, called by Go,' : 'code that Go does not watch over'
  switch (name) {
    case 'SIGQUIT':
      return {
        kind: 'goroutines on request',
        explanation:
          `Somebody sent SIGQUIT${code === 0 ? ' (kill -QUIT, or Ctrl-\\)' : ''}: the program printed its ` +
          'goroutines and ended. It has not failed by itself.',
        advice:
          'Look at what waits longest below; a supervisor that lost patience may have sent it (a liveness probe, ' +
          'go test -timeout).',
      }
    case 'SIGABRT':
      return {
        kind: 'abort',
        explanation: `${code !== undefined && code <= 0 ? 'abort() was called, or somebody sent SIGABRT' : 'The program was aborted'}${duringCgo ? ', while C code ran: an assertion that failed, or memory that C found broken' : ''}.`,
        advice: 'Look at what the program printed before it: C libraries say why they abort.',
      }
    case 'SIGSEGV':
    case 'SIGBUS':
      return {
        kind: duringCgo ? 'crash in C code' : 'bad address',
        explanation:
          `${duringCgo ? `${where} read or wrote` : 'Something read or wrote'} memory that it may ` +
          `not${offset === undefined ? '' : `: a nil pointer, ${offset === 0 ? 'at its beginning' : `${offset} bytes behind it`}`}.`,
        advice: duringCgo
          ? 'Look at what was passed to C in the frame above runtime.cgocall, and at how long C may use it.'
          : 'Look at unsafe, cgo and mapped files; run it with -race.',
      }
    case 'SIGSYS':
      return {
        kind: 'forbidden system call',
        explanation: 'The kernel ended the program for a system call that it may not make.',
        advice: "Look at the container's seccomp profile.",
      }
    case 'SIGILL':
      return {
        kind: 'illegal instruction',
        explanation: 'The processor does not know an instruction of the program.',
        advice:
          'Look at what it was built for (GOAMD64, GOARM, C libraries with -march) and at the machine it runs on.',
      }
    case 'SIGTRAP':
      return {
        kind: 'breakpoint',
        explanation: 'The program met a breakpoint, its own or that of a debugger.',
        advice: 'Look for runtime.Breakpoint, and for __builtin_trap in C code.',
      }
    default:
      return {
        kind: 'signal',
        explanation: `The program ended by ${signalName(signal)}.`,
        advice: 'Look at who may have sent it.',
      }
  }
}
