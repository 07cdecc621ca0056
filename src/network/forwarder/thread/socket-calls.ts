/**
 * System calls of the forwarder's thread. They do not block, and return -1 instead of throwing: EAGAIN is the usual end
 * of each loop. `errno` then has the reason.
 */
import { constants } from 'node:os'
import { cLibrary, SystemCallError } from '../../../lib/linux/c-library.ts'

/** Flags and options of the kernel's headers. */
export const linux = {
  stream: 1,
  datagram: 2,
  nonBlocking: 0o4000,
  closeOnExec: 0o2000000,
  socketLevel: 1,
  reuseAddress: 2,
  error: 4,
  keepAlive: 9,
  linger: 13,
  attachFilter: 26,
  detachFilter: 27,
  tcpLevel: 6,
  noDelay: 1,
  keepIdle: 4,
  synCount: 7,
  ipv6Level: 41,
  ipv6Only: 26,
  ipv6FreeBind: 78,
  setPipeSize: 1031,
  /** SPLICE_F_MOVE and SPLICE_F_NONBLOCK. */
  spliceFlags: 3,
} as const

export const { EAGAIN, EINPROGRESS, EINTR, EMFILE, ENFILE, ENOBUFS, ENOMEM } = constants.errno

const enabled = Buffer.from([1, 0, 0, 0])

export type SocketCalls = ReturnType<typeof load>

let loaded: SocketCalls | undefined

/** Loads the calls once for the thread. @throws if koffi is not installed. */
export function socketCalls(): SocketCalls {
  loaded ??= load()
  return loaded
}

function load() {
  const { declare, struct, errno } = cLibrary()
  struct('t8s_filter', { length: 'uint16_t', program: 'const uint8_t *' })
  const setOption = declare<[number, number, number, Uint8Array, number]>(
    'int setsockopt(int fd, int level, int option, const uint8_t *value, uint32_t length)',
  )
  const setFilter = declare<[number, number, number, Readonly<Record<string, unknown>>, number]>(
    'int setsockopt(int fd, int level, int option, const t8s_filter *value, uint32_t length)',
  )
  const calls = {
    errno,
    socket: declare<[family: number, type: number, protocol: number]>('int socket(int a, int b, int c)'),
    bind: declare<[number, Uint8Array, number]>('int bind(int fd, const uint8_t *address, uint32_t length)'),
    listen: declare<[fd: number, backlog: number]>('int listen(int fd, int backlog)'),
    connect: declare<[number, Uint8Array, number]>('int connect(int fd, const uint8_t *address, uint32_t length)'),
    accept: declare<[fd: number, address: Uint8Array, length: Int32Array, flags: number]>(
      'int accept4(int fd, _Out_ uint8_t *address, _Inout_ int32_t *length, int flags)',
    ),
    /** Without the address of the client. */
    acceptAny: declare<[fd: number, address: null, length: null, flags: number]>(
      'int accept4(int fd, void *address, void *length, int flags)',
    ),
    shutdown: declare<[fd: number, how: number]>('int shutdown(int fd, int how)'),
    close: declare<[fd: number]>('int close(int fd)'),
    getOption: declare<[number, number, number, Int32Array, Int32Array]>(
      'int getsockopt(int fd, int level, int option, _Out_ int32_t *value, _Inout_ int32_t *length)',
    ),
    pipe: declare<[ends: Int32Array, flags: number]>('int pipe2(_Out_ int32_t *ends, int flags)'),
    control: declare<[fd: number, command: number, value: number]>('int fcntl(int fd, int command, int value)'),
    splice: declare<[from: number, null, to: number, null, size: number, flags: number]>(
      'intptr_t splice(int from, void *a, int to, void *b, size_t size, unsigned int flags)',
    ),
    receiveFrom: declare<[number, Uint8Array, number, number, Uint8Array, Int32Array]>(
      'intptr_t recvfrom(int fd, _Out_ uint8_t *b, size_t size, int flags, _Out_ uint8_t *a, _Inout_ int32_t *length)',
    ),
    sendTo: declare<[number, Uint8Array, number, number, Uint8Array | null, number]>(
      'intptr_t sendto(int fd, const uint8_t *bytes, size_t size, int flags, const uint8_t *address, uint32_t length)',
    ),
    receive: declare<[number, Uint8Array, number, number]>(
      'intptr_t recv(int fd, _Out_ uint8_t *buffer, size_t size, int flags)',
    ),
    read: declare<[fd: number, buffer: Uint8Array, size: number]>(
      'intptr_t read(int fd, _Out_ uint8_t *b, size_t size)',
    ),
  }
  return {
    ...calls,
    ...epollCalls(),
    setOption: (fd: number, level: number, option: number, value = enabled): number =>
      setOption(fd, level, option, value, value.length),
    /** Sets a filter of packets of classic BPF, of instructions of eight bytes. */
    setFilter: (fd: number, program: Buffer): number =>
      setFilter(fd, linux.socketLevel, linux.attachFilter, { length: program.length / 8, program }, 16),
    /** Returns the result of a call; throws a `SystemCallError` for -1. */
    check(call: string, result: number): number {
      if (result < 0) throw new SystemCallError(call, errno())
      return result
    },
  }
}

function epollCalls() {
  const { declare } = cLibrary()
  return {
    epollCreate: declare<[flags: number]>('int epoll_create1(int flags)'),
    epollControl: declare<[epoll: number, operation: number, fd: number, event: Uint8Array]>(
      'int epoll_ctl(int epoll, int operation, int fd, const uint8_t *event)',
    ),
    epollWait: declare<[epoll: number, events: Uint8Array, most: number, ms: number]>(
      'int epoll_wait(int epoll, _Out_ uint8_t *events, int most, int ms)',
    ),
  }
}
