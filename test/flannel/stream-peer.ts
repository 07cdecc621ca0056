/**
 * One end of a connection of TCP that stays open: `server PORT`, or `client PORT ADDRESS`. Both ends send numbered
 * bytes and check those of the other end, until their input ends. Prints `listening` or `connected`, then a report.
 */
import { readFileSync } from 'node:fs'
import { connect, createServer, type Socket } from 'node:net'

/** The report of an end. */
export interface StreamReport {
  readonly sent: number
  readonly received: number
  /** The longest time without a byte of the other end, in ms. */
  readonly longestStallMs: number
  /** Packets that the kernel of this pod sent again since they were lost. */
  readonly repaired: number
  /** The reason why the connection broke, or the first byte that is wrong. */
  readonly problem?: string
}

/** The interval of blocks, in ms. */
const everyMs = 5
const blockSize = 400

/** The byte at a position of the stream. */
const byteAt = (position: number): number => (position >>> ((position & 3) * 8)) & 0xff

/** Repairs of losses. A probe whose packet had arrived after all, on a busy machine, is no loss. */
function repairs(): number {
  const [names = [], values = []] = readFileSync('/proc/net/netstat', 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('TcpExt:'))
    .map((line) => line.split(' '))
  return ['TCPTimeouts', 'TCPFastRetrans', 'TCPSlowStartRetrans', 'TCPLossProbeRecovery']
    .map((name) => Number(values[names.indexOf(name)]))
    .reduce((sum, value) => sum + value, 0)
}

function exchange(socket: Socket): void {
  let [sent, received, longestStallMs, lastAt] = [0, 0, 0, performance.now()]
  let problem: string | undefined
  const repairsBefore = repairs()
  const timer = setInterval(() => {
    const from = sent
    socket.write(Uint8Array.from({ length: blockSize }, (_, i) => byteAt(from + i)))
    sent += blockSize
  }, everyMs)
  socket.setNoDelay(true)
  socket.on('data', (bytes: Buffer) => {
    longestStallMs = Math.max(longestStallMs, performance.now() - lastAt)
    lastAt = performance.now()
    for (const byte of bytes) {
      if (byte !== byteAt(received)) problem ??= `the byte ${received} is wrong`
      received++
    }
  })
  socket.on('error', ({ message }) => {
    problem ??= message
  })
  socket.on('close', () => {
    clearInterval(timer)
    const report = { sent, received, longestStallMs, repaired: repairs() - repairsBefore, ...(problem && { problem }) }
    console.log(JSON.stringify(report satisfies StreamReport))
    process.exit()
  })
  process.stdin.once('end', () => {
    clearInterval(timer)
    socket.end()
  })
  process.stdin.resume()
}

const [role, port = '', address = ''] = process.argv.slice(2)
if (role === 'server') {
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    server.close()
    exchange(socket)
  })
  server.listen(Number(port), '::', () => console.log('listening'))
} else {
  const socket = connect({ port: Number(port), host: address, allowHalfOpen: true }, () => {
    console.log('connected')
    exchange(socket)
  })
}
