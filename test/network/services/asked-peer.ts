/** Starts `peer.ts` in a network namespace, and asks it to connect to others. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { extname, join } from 'node:path'
import { createInterface } from 'node:readline'

export interface Request {
  readonly protocol: 'tcp' | 'udp'
  readonly address: string
  readonly port: number
  /** The name of a connection that remains open, and is used again. */
  readonly keep?: string
  /** Instead of connecting, accepts TCP connections to the port, or refuses them. */
  readonly isServed?: boolean
  /** Connections one after another. Default: 1. */
  readonly count?: number
}

export interface Asked {
  readonly id: number
  /** `NAME ADDRESS` of the server and the client, as the server sees it; or the code of an error, or `timeout`. */
  readonly answers: readonly string[]
}

export class AskedPeer {
  readonly #child: ChildProcess
  readonly #waiting = new Map<number, (answers: readonly string[]) => void>()
  #hasExited = false
  #id = 0

  private constructor(child: ChildProcess) {
    this.#child = child
    createInterface({ input: child.stdout! }).on('line', (line) => {
      const { id, answers } = JSON.parse(line) as Asked
      this.#waiting.get(id)?.(answers)
      this.#waiting.delete(id)
    })
    child.once('exit', () => {
      this.#hasExited = true
      for (const resolve of this.#waiting.values()) resolve(['the peer has exited'])
    })
  }

  /** `namespace` is a file; undefined: the namespace of this process. Resolves when it serves `ports`. */
  static async start(name: string, namespace: string | undefined, ports: readonly number[]): Promise<AskedPeer> {
    const program = [
      process.execPath,
      ...process.execArgv,
      // A bundle of tests has a bundled peer beside it.
      join(import.meta.dirname, `peer${extname(import.meta.filename)}`),
      name,
      ...ports.map(String),
    ]
    const [command = '', ...args] = namespace === undefined ? program : ['nsenter', `--net=${namespace}`, ...program]
    const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] })
    const peer = new AskedPeer(child)
    // It reads commands when its ports are open.
    await peer.all({ protocol: 'tcp', address: '', port: 0, count: 0 })
    return peer
  }

  /** All answers to a request. */
  all(request: Request): Promise<readonly string[]> {
    const id = ++this.#id
    return new Promise((resolve) => {
      this.#waiting.set(id, resolve)
      this.#child.stdin!.write(`${JSON.stringify({ id, ...request })}\n`)
    })
  }

  /** The answer of a new TCP connection: `NAME ADDRESS`, the code of an error, or `timeout`. */
  async tcp(address: string, port: number, keep?: string): Promise<string> {
    const [answer = ''] = await this.all({ protocol: 'tcp', address, port, ...(keep !== undefined && { keep }) })
    return answer
  }

  async serve(port: number, isServed: boolean): Promise<void> {
    await this.all({ protocol: 'tcp', address: '', port, isServed })
  }

  async udp(address: string, port: number): Promise<string> {
    const [answer = ''] = await this.all({ protocol: 'udp', address, port })
    return answer
  }

  async stop(): Promise<void> {
    if (this.#hasExited) return
    const exit = once(this.#child, 'exit')
    this.#child.stdin!.end()
    await exit
  }
}
