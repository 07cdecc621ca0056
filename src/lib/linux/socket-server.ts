/** The process behind a Unix socket. */
import { cLibrary } from './c-library.ts'

const unixFamily = 1
const streamSocket = 1
const closeOnExec = 0o2000000
const socketLevel = 1
/** SO_PEERCRED of unix(7). */
const peerCredentials = 17

type Calls = ReturnType<typeof load>
let loaded: Calls | undefined

function load() {
  const { declare, check } = cLibrary()
  return {
    check,
    socket: declare<[number, number, number]>('int socket(int family, int type, int protocol)'),
    connect: declare<[number, Uint8Array, number]>('int connect(int fd, const uint8_t *address, uint32_t length)'),
    option: declare<[number, number, number, Uint8Array, Int32Array]>(
      'int getsockopt(int fd, int level, int option, _Out_ uint8_t *value, _Inout_ int32_t *length)',
    ),
    close: declare<[number]>('int close(int fd)'),
  }
}

/**
 * Returns the ID of the process that serves on a Unix socket; undefined if it is in a namespace of processes which this
 * process does not see. @throws a `SystemCallError` if nobody serves, or without the right to connect.
 */
export function socketServer(path: string): number | undefined {
  loaded ??= load()
  const { check, socket, connect, option, close } = loaded
  const fd = check('socket', socket(unixFamily, streamSocket | closeOnExec, 0))
  try {
    const address = Buffer.concat([Buffer.alloc(2), Buffer.from(`${path}\0`)])
    address.writeUInt16LE(unixFamily, 0)
    check(`connect ${path}`, connect(fd, address, address.length))
    const credentials = Buffer.alloc(12)
    check('getsockopt', option(fd, socketLevel, peerCredentials, credentials, Int32Array.of(credentials.length)))
    return credentials.readInt32LE(0) || undefined
  } finally {
    close(fd)
  }
}
