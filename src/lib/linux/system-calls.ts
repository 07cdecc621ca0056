/**
 * System calls that Node lacks, through koffi. They run on the calling thread and block: use them for calls that the
 * kernel answers at once. Linux on x64 and arm64.
 */
import { getSystemErrorMap } from 'node:util'

/** The calls; each returns what the C function returns, and throws a `SystemCallError` for -1. */
export interface SystemCalls {
  readonly socket: (domain: number, type: number, protocol: number) => number
  readonly bind: (fd: number, address: Uint8Array) => number
  readonly send: (fd: number, message: Uint8Array) => number
  /** Fills `buffer`; returns the bytes received. */
  readonly receive: (fd: number, buffer: Uint8Array) => number
  readonly setSocketOption: (fd: number, level: number, option: number, value: Uint8Array) => number
  readonly close: (fd: number) => number
  /** Moves the calling thread to another namespace. */
  readonly setNamespace: (fd: number, type: number) => number
  /** Locks the open file, or fails with EWOULDBLOCK; closing the file unlocks it. */
  readonly tryLock: (fd: number) => number
}

/** CLONE_NEWNET of sched.h. */
export const newNetwork = 0x40000000

/** LOCK_EX and LOCK_NB of sys/file.h. */
const exclusiveLock = 2 | 4

/** A failed system call; `code` is the name of the error, for example `EPERM`. */
export class SystemCallError extends Error {
  readonly code: string

  constructor(call: string, errno: number) {
    const [code = `error ${errno}`, text = 'unknown error'] = getSystemErrorMap().get(-errno) ?? []
    super(`${call}: ${text} (${code})`)
    this.name = 'SystemCallError'
    this.code = code
  }
}

/** Throws if the error is not a `SystemCallError` with one of the codes. */
export function ignoreErrors(error: unknown, ...codes: readonly string[]): void {
  if (!(error instanceof SystemCallError) || !codes.includes(error.code)) throw error
}

let loading: Promise<SystemCalls> | undefined

/**
 * Loads the calls once for the thread.
 * @throws if the optional package koffi is not installed, or the system is not Linux.
 * @example const calls = await systemCalls(); const fd = calls.socket(16, 3, 0)
 */
export function systemCalls(): Promise<SystemCalls> {
  loading ??= load()
  return loading
}

async function load(): Promise<SystemCalls> {
  if (process.platform !== 'linux') throw new Error('networks of pods need Linux')
  const { default: koffi } = await import('koffi').catch(() => {
    throw new Error('networks of pods need the package koffi, which is not installed: run npm install without --omit')
  })
  const libc = koffi.load(null)
  const define = (prototype: string, name: string): ((...args: readonly unknown[]) => number) => {
    const call = libc.func(prototype) as unknown as (...args: readonly unknown[]) => number
    return (...args) => {
      const result = call(...args)
      if (result < 0) throw new SystemCallError(name, koffi.errno())
      return result
    }
  }
  const bind = define('int bind(int fd, const uint8_t *address, uint32_t length)', 'bind')
  const send = define('intptr_t send(int fd, const uint8_t *message, size_t length, int flags)', 'send')
  const receive = define('intptr_t recv(int fd, _Out_ uint8_t *buffer, size_t length, int flags)', 'recv')
  const setOption = define(
    'int setsockopt(int fd, int level, int option, const uint8_t *value, uint32_t length)',
    'setsockopt',
  )
  const lock = define('int flock(int fd, int operation)', 'flock')
  return {
    socket: define('int socket(int domain, int type, int protocol)', 'socket'),
    bind: (fd, address) => bind(fd, address, address.length),
    send: (fd, message) => send(fd, message, message.length, 0),
    receive: (fd, buffer) => receive(fd, buffer, buffer.length, 0),
    setSocketOption: (fd, level, option, value) => setOption(fd, level, option, value, value.length),
    close: define('int close(int fd)', 'close'),
    setNamespace: define('int setns(int fd, int type)', 'setns'),
    tryLock: (fd) => lock(fd, exclusiveLock),
  }
}
