/** Notifies systemd, or another service manager with its protocol, that a program is ready (sd_notify(3)). */
import type { SystemCalls } from './system-calls.ts'

const unixFamily = 1
/** SOCK_DGRAM and SOCK_CLOEXEC. */
const datagrams = 2 | 0o2000000

type Calls = Pick<SystemCalls, 'socket' | 'connect' | 'send' | 'close'>

/**
 * Sends `READY=1` to the socket of `NOTIFY_SOCKET`; does nothing without one.
 * @throws a `SystemCallError` if nothing listens there.
 */
export function notifyReady(calls: Calls, environment: Readonly<Record<string, string | undefined>>): void {
  const path = environment.NOTIFY_SOCKET ?? ''
  // A path, or the name of an abstract socket.
  if (!/^[/@]/.test(path)) return
  const fd = calls.socket(unixFamily, datagrams, 0)
  try {
    calls.connect(fd, socketAddress(path))
    calls.send(fd, Buffer.from('READY=1'))
  } finally {
    calls.close(fd)
  }
}

/** `struct sockaddr_un`. The name of an abstract socket begins with a zero in place of `@`. */
function socketAddress(path: string): Buffer {
  const bytes = Buffer.from(`\0\0${path.startsWith('@') ? `\0${path.slice(1)}` : `${path}\0`}`)
  bytes.writeUInt16LE(unixFamily)
  return bytes
}
