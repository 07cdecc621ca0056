/** Counts new TCP connections from a pod, each with a request and its answer, by blocking system calls. */
import { inNetwork } from '../../src/lib/linux/network-namespace.ts'
import { systemCalls } from '../../src/lib/linux/system-calls.ts'

const [inet, stream, closeOnExec] = [2, 1, 0o2000000]
/** SOL_SOCKET and SO_LINGER with a time of 0: a reset closes the connection, and no port waits. */
const [socketLevel, linger] = [1, 13]
const noWait = Buffer.from([1, 0, 0, 0, 0, 0, 0, 0])

/** Connections per second from a network namespace to an address. */
export function connectionsPerSecond(namespace: string, address: string, port: number, seconds: number): number {
  const calls = systemCalls()
  const to = Buffer.from([inet, 0, port >> 8, port & 255, ...address.split('.').map(Number), 0, 0, 0, 0, 0, 0, 0, 0])
  const [request, answer] = [Buffer.from('?'), Buffer.alloc(100)]
  return inNetwork(calls, namespace, () => {
    const started = performance.now()
    let count = 0
    while (performance.now() - started < seconds * 1000) {
      const fd = calls.socket(inet, stream | closeOnExec, 0)
      calls.setSocketOption(fd, socketLevel, linger, noWait)
      calls.connect(fd, to)
      calls.send(fd, request)
      calls.receive(fd, answer)
      calls.close(fd)
      count++
    }
    return (count * 1000) / (performance.now() - started)
  })
}
