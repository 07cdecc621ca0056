/** A connection of TCP between two pods that stays open while a test changes their network. */
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { StreamReport } from './stream-peer.ts'

const port = '8081'
/** The program of an end: Node with the options of the test, and the file. */
const streamPeer = [process.execPath, ...process.execArgv, join(import.meta.dirname, 'stream-peer.ts')]

/** A place with a network of its own. */
interface Place {
  /** The file of the network namespace. */
  readonly namespace: string
}

/** One end: its process, and the lines that it prints. */
interface End {
  readonly child: ChildProcess
  readonly lines: AsyncIterator<string>
}

export class OpenConnection {
  readonly #ends: readonly [End, End]

  private constructor(ends: readonly [End, End]) {
    this.#ends = ends
  }

  /** Connects the first place with an address of the second one. Resolves when both send numbered bytes. */
  static async open(client: Place, server: Place, address: string, program = streamPeer): Promise<OpenConnection> {
    const listener = startEnd(server, program, 'server', port)
    assert.equal((await listener.lines.next()).value, 'listening')
    const caller = startEnd(client, program, 'client', port, address)
    assert.equal((await caller.lines.next()).value, 'connected')
    return new OpenConnection([caller, listener])
  }

  /**
   * Ends the connection. No byte is missing or wrong, and no end was reset; resolves with the longest time in which an
   * end got nothing, in ms, and the number of lost packets that TCP sent again.
   */
  async close(): Promise<Pick<StreamReport, 'longestStallMs' | 'repaired'>> {
    for (const { child } of this.#ends) child.stdin?.end()
    const [client, server] = (await Promise.all(this.#ends.map(reportOf))) as [StreamReport, StreamReport]
    const reports = JSON.stringify({ client, server })
    for (const { problem } of [client, server]) assert.equal(problem, undefined, reports)
    assert.deepEqual([client.received, server.received], [server.sent, client.sent], reports)
    assert.ok(client.sent > 0 && server.sent > 0, reports)
    return {
      longestStallMs: Math.max(client.longestStallMs, server.longestStallMs),
      repaired: client.repaired + server.repaired,
    }
  }
}

/**
 * The connection has lost no packet. A single loss would pause it for 200 ms, the shortest time-out of Linux; a process
 * may wait as long on a busy machine, so the kernel's counters show losses, and the time shows an interrupted network.
 */
export async function closeWithoutLoss(connection: OpenConnection): Promise<void> {
  const { repaired, longestStallMs } = await connection.close()
  assert.equal(repaired, 0, 'packets that were lost')
  assert.ok(longestStallMs < 1000, `nothing arrived for ${longestStallMs} ms`)
}

function startEnd({ namespace }: Place, program: readonly string[], ...args: readonly string[]): End {
  const child = spawn('nsenter', [`--net=${namespace}`, ...program, ...args], { stdio: ['pipe', 'pipe', 'inherit'] })
  return { child, lines: createInterface({ input: child.stdout })[Symbol.asyncIterator]() }
}

async function reportOf({ child, lines }: End): Promise<StreamReport> {
  const timer = setTimeout(() => void child.kill('SIGKILL'), 60_000)
  try {
    const { value, done } = await lines.next()
    assert.ok(!done, 'the end of the connection printed no report within a minute')
    const report = JSON.parse(value) as StreamReport
    if (child.exitCode === null) await once(child, 'exit')
    return report
  } finally {
    clearTimeout(timer)
  }
}
