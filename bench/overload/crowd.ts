/**
 * The clients of the overload benchmark, in a separate process: each sends its next request when the last one is
 * answered, with any status. They share the cores with the server, so they are cheap: prepared bytes, a connection
 * each, and only the necessary parts of a response are parsed. Takes its options as JSON in the first argument.
 */
import { connect, type TLSSocket } from 'node:tls'
import { newTally, percentile, type Tally } from './tally.ts'

export interface Crowd {
  readonly port: number
  readonly seconds: number
  readonly clients: number
}

const collection = '/api/v1/namespaces/default/configmaps'
const readEvery = 4

/** Returns a complete HTTP/1.1 request. */
function requestText(method: string, path: string, user: string, body: string): string {
  const head = `${method} ${path} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${user}\r\n`
  return body
    ? `${head}content-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
    : `${head}\r\n`
}

/** A client that reads one response after another from its connection. */
class Client {
  readonly #socket: TLSSocket
  readonly #number: number
  readonly #until: number
  readonly #tally: Tally
  readonly #done: () => void
  #sent = 0
  #began = 0
  #head = ''
  #missing = 0

  constructor(number: number, { port, seconds }: Crowd, tally: Tally, done: () => void) {
    this.#number = number
    this.#until = performance.now() + seconds * 1000
    this.#tally = tally
    this.#done = done
    this.#socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false, ALPNProtocols: ['http/1.1'] }, () =>
      this.#next(),
    )
    this.#socket.on('data', (chunk: Buffer) => this.#read(chunk))
    this.#socket.on('error', (error) => this.#failed(String(error)))
    this.#socket.on('close', () => this.#done())
  }

  #next(): void {
    if (performance.now() > this.#until) {
      this.#socket.end()
      return
    }
    const user = `crowd-${this.#number}`
    const i = this.#sent++
    this.#began = performance.now()
    this.#socket.write(
      i % readEvery === readEvery - 1
        ? requestText('GET', `${collection}?limit=100`, user, '')
        : requestText(
            'POST',
            collection,
            user,
            JSON.stringify({ metadata: { name: `o-${this.#number}-${i}` }, data: { text: 'x'.repeat(500) } }),
          ),
    )
  }

  #read(chunk: Buffer): void {
    if (this.#missing === 0) {
      this.#head += chunk.toString('latin1')
      const end = this.#head.indexOf('\r\n\r\n')
      if (end < 0) return
      const length = /\r\ncontent-length: (\d+)/i.exec(this.#head)
      const body = this.#head.length - end - 4
      if (length) this.#missing = Number(length[1]) - body
      else if (!this.#head.endsWith('0\r\n\r\n')) return
    } else this.#missing -= chunk.length
    if (this.#missing > 0) return
    this.#answered(this.#head)
    this.#missing = 0
    this.#head = ''
    this.#next()
  }

  #answered(head: string): void {
    const status = Number(head.slice(9, 12))
    const tally = this.#tally
    tally.answers[status] = (tally.answers[status] ?? 0) + 1
    if (status < 300) tally.times.push(performance.now() - this.#began)
    else if (status === 429) tally.mute += /\r\nretry-after: \d/i.test(head) ? 0 : 1
    else tally.firstFailure ??= head.slice(0, 500)
  }

  #failed(why: string): void {
    this.#tally.answers[0] = (this.#tally.answers[0] ?? 0) + 1
    this.#tally.firstFailure ??= why
  }
}

const crowd = JSON.parse(process.argv[2] ?? '') as Crowd
const tally = newTally()
await Promise.all(
  Array.from(
    { length: crowd.clients },
    (_, number) => new Promise<void>((resolve) => new Client(number, crowd, tally, resolve)),
  ),
)
// Sends percentiles instead of hundreds of thousands of times.
process.send?.({ ...tally, times: [percentile(tally.times, 0.5), percentile(tally.times, 0.99)] }, () =>
  process.disconnect(),
)
