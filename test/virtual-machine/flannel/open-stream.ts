/**
 * A connection of TCP between two nodes that stays open while a test changes their network: two small programs carry
 * it, and this process sends and checks numbered bytes.
 */
import assert from 'node:assert/strict'
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'

const port = '8081'
/** The interval of blocks, in ms, and their size in bytes. */
const [everyMs, blockSize] = [50, 400]
const [pollMs, longestMs] = [50, 30_000]

/** The byte at a position of the stream. */
const byteAt = (position: number): number => (position >>> ((position & 3) * 8)) & 0xff

/** Packets of TCP in a network namespace, by the kernel's counters. */
interface Repairs {
  /** Packets that were sent again. */
  readonly repeated: number
  /** Packets that arrived although their bytes had arrived before (RFC 2883): the other end repeated them in vain. */
  readonly duplicate: number
}

function repairsOf(namespace: string): Repairs {
  const files = ['/proc/net/snmp', '/proc/net/netstat']
  const text = execFileSync('nsenter', [`--net=${namespace}`, 'busybox', 'cat', ...files], { encoding: 'utf8' })
  const lines = text.split('\n').map((line) => line.split(' '))
  const count = (table: string, name: string): number => {
    const [names = [], values = []] = lines.filter(([first]) => first === table)
    return Number(values[names.indexOf(name)])
  }
  const duplicate = count('TcpExt:', 'TCPDSACKOldSent') + count('TcpExt:', 'TCPDSACKOfoSent')
  return { repeated: count('Tcp:', 'RetransSegs'), duplicate }
}

/** One end: its process, and the numbers of its bytes. */
class End {
  readonly child: ChildProcess
  sent = 0
  received = 0
  #problem: string | undefined
  readonly #timer: NodeJS.Timeout

  constructor(namespace: string, ...args: readonly string[]) {
    const child = spawn('nsenter', [`--net=${namespace}`, 'busybox', 'nc', ...args], {
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    this.child = child
    child.stdout.on('data', (bytes: Buffer) => {
      for (const byte of bytes) if (byte !== byteAt(this.received++)) this.#problem ??= `byte ${this.received} is wrong`
    })
    child.stdin.on('error', ({ message }) => {
      this.#problem ??= message
    })
    this.#timer = setInterval(() => {
      child.stdin.write(Uint8Array.from({ length: blockSize }, (_, i) => byteAt(this.sent + i)))
      this.sent += blockSize
    }, everyMs)
  }

  /** Sends no more bytes. */
  finish(): void {
    clearInterval(this.#timer)
  }

  check(): void {
    assert.equal(this.#problem, undefined)
    assert.equal(this.child.exitCode ?? this.child.signalCode, null, 'the connection has ended')
  }
}

export class OpenStream {
  readonly #namespaces: readonly [string, string]
  readonly #ends: readonly [End, End]
  #before: readonly Repairs[] = []

  private constructor(client: string, server: string, address: string) {
    this.#namespaces = [client, server]
    const listener = new End(server, '-l', '-p', port)
    const isListening = (): boolean =>
      execFileSync('nsenter', [`--net=${server}`, 'busybox', 'netstat', '-ltn'], { encoding: 'utf8' }).includes(
        `:${port} `,
      )
    for (let tries = 0; !isListening(); tries++) assert.ok(tries < 100, 'the server does not listen')
    this.#ends = [new End(client, address, port), listener]
  }

  /** Connects two nodes. Resolves when bytes have arrived at both. */
  static async open(client: string, server: string, address: string): Promise<OpenStream> {
    const stream = new OpenStream(client, server, address)
    await stream.flow()
    stream.#before = stream.#namespaces.map(repairsOf)
    return stream
  }

  /** Resolves when both ends have received more. Rejects after 30 s. */
  async flow(): Promise<void> {
    const before = this.#ends.map(({ received }) => received)
    await this.#until('more bytes', () => this.#ends.every(({ received }, i) => received > before[i]!))
  }

  /** Ends the connection, which has lost no byte and no packet: none was sent again with success. */
  async close(): Promise<void> {
    const [client, server] = this.#ends
    for (const end of this.#ends) end.finish()
    const all = (): boolean => client.received === server.sent && server.received === client.sent
    await this.#until('the last bytes', all)
    client.child.stdin!.end()
    await Promise.all(this.#ends.map(({ child }) => child.exitCode === null && once(child, 'exit')))
    const [one, other] = this.#namespaces.map((namespace, i) => {
      const [now, before] = [repairsOf(namespace), this.#before[i]!]
      return { repeated: now.repeated - before.repeated, duplicate: now.duplicate - before.duplicate }
    }) as [Repairs, Repairs]
    const lost = [one.repeated - other.duplicate, other.repeated - one.duplicate]
    assert.ok(
      lost.every((count) => count <= 0),
      `packets were lost: ${JSON.stringify([one, other])}`,
    )
  }

  async #until(what: string, isDone: () => boolean): Promise<void> {
    const deadline = performance.now() + longestMs
    for (; !isDone(); await delay(pollMs)) {
      for (const end of this.#ends) end.check()
      const counts = this.#ends.map(({ sent, received }) => ({ sent, received }))
      assert.ok(performance.now() < deadline, `no ${what} within ${longestMs} ms: ${JSON.stringify(counts)}`)
    }
  }
}
