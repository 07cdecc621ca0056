/** System calls of packet sockets. They do not block, and return -1 instead of throwing; `errno` has the reason. */
import { cLibrary } from '../../../lib/linux/c-library.ts'

export type PacketCalls = ReturnType<typeof load>

let loaded: PacketCalls | undefined

/** Loads the calls once for the thread. @throws if koffi is not installed. */
export function packetCalls(): PacketCalls {
  loaded ??= load()
  return loaded
}

function load() {
  const { declare, struct, errno, check } = cLibrary()
  struct('t8s_packet_filter', { length: 'uint16_t', program: 'const uint8_t *' })
  return {
    errno,
    check,
    socket: declare<[family: number, type: number, protocol: number]>('int socket(int a, int b, int c)'),
    bind: declare<[number, Uint8Array, number]>('int bind(int fd, const uint8_t *address, uint32_t length)'),
    close: declare<[fd: number]>('int close(int fd)'),
    setOption: declare<[number, number, number, Uint8Array, number]>(
      'int setsockopt(int fd, int level, int option, const uint8_t *value, uint32_t length)',
    ),
    setFilter: declare<[number, number, number, Readonly<Record<string, unknown>>, number]>(
      'int setsockopt(int fd, int level, int option, const t8s_packet_filter *value, uint32_t length)',
    ),
    getOption: declare<[number, number, number, Uint8Array, Int32Array]>(
      'int getsockopt(int fd, int level, int option, _Out_ uint8_t *value, _Inout_ int32_t *length)',
    ),
    receiveFrom: declare<[number, Uint8Array, number, number, Uint8Array, Int32Array]>(
      'intptr_t recvfrom(int fd, _Out_ uint8_t *b, size_t size, int flags, _Out_ uint8_t *a, _Inout_ int32_t *length)',
    ),
    sendTo: declare<[number, Uint8Array, number, number, Uint8Array, number]>(
      'intptr_t sendto(int fd, const uint8_t *bytes, size_t size, int flags, const uint8_t *address, uint32_t length)',
    ),
    control: declare<[fd: number, request: number, value: Uint8Array]>(
      'int ioctl(int fd, unsigned long request, _Out_ uint8_t *value)',
    ),
    /** `descriptors` is one `struct pollfd`: a descriptor, events, and events that occurred. */
    poll: declare<[descriptors: Uint8Array, count: number, ms: number]>(
      'int poll(_Inout_ uint8_t *descriptors, unsigned long count, int ms)',
    ),
  }
}
