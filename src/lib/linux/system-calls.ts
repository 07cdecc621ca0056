/** System calls for sockets, namespaces and locks. They run on the calling thread. Linux on x64 and arm64. */
import { cLibrary } from './c-library.ts'

/** The calls; each returns what the C function returns, and throws a `SystemCallError` for -1. */
export interface SystemCalls {
  readonly socket: (domain: number, type: number, protocol: number) => number
  readonly connect: (fd: number, address: Uint8Array) => number
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

let loaded: SystemCalls | undefined

/**
 * Loads the calls once for the thread.
 * @throws if the optional package koffi is not installed, or the system is not Linux.
 * @example const fd = systemCalls().socket(16, 3, 0)
 */
export function systemCalls(): SystemCalls {
  loaded ??= load()
  return loaded
}

function load(): SystemCalls {
  if (process.platform !== 'linux') throw new Error('networks of pods need Linux')
  const { declare, check } = cLibrary()
  const connect = declare<[number, Uint8Array, number]>('int connect(int fd, const uint8_t *address, uint32_t length)')
  const send = declare<[number, Uint8Array, number, number]>(
    'intptr_t send(int fd, const uint8_t *message, size_t length, int flags)',
  )
  const receive = declare<[number, Uint8Array, number, number]>(
    'intptr_t recv(int fd, _Out_ uint8_t *buffer, size_t length, int flags)',
  )
  const setOption = declare<[number, number, number, Uint8Array, number]>(
    'int setsockopt(int fd, int level, int option, const uint8_t *value, uint32_t length)',
  )
  const socket = declare<[number, number, number]>('int socket(int domain, int type, int protocol)')
  const close = declare<[number]>('int close(int fd)')
  const setns = declare<[number, number]>('int setns(int fd, int type)')
  const lock = declare<[number, number]>('int flock(int fd, int operation)')
  return {
    socket: (domain, type, protocol) => check('socket', socket(domain, type, protocol)),
    connect: (fd, address) => check('connect', connect(fd, address, address.length)),
    send: (fd, message) => check('send', send(fd, message, message.length, 0)),
    receive: (fd, buffer) => check('recv', receive(fd, buffer, buffer.length, 0)),
    setSocketOption: (fd, level, option, value) =>
      check('setsockopt', setOption(fd, level, option, value, value.length)),
    close: (fd) => check('close', close(fd)),
    setNamespace: (fd, type) => check('setns', setns(fd, type)),
    tryLock: (fd) => check('flock', lock(fd, exclusiveLock)),
  }
}
