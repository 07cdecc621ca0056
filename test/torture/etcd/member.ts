/** A member of an etcd cluster as a process that is killed, stopped for a while and started again. */
import { type ChildProcess, spawn } from 'node:child_process'
import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Place } from './network.ts'

/** The answer of etcd's maintenance API that is used here. */
interface Status {
  readonly header: { readonly member_id: string }
  readonly leader?: string
}

const askMs = 1000

export class Member {
  readonly place: Place
  readonly clientUrl: string
  readonly #peerUrl: string
  readonly #folder: string
  #child: ChildProcess | undefined
  #exited: Promise<void> = Promise.resolve()

  /** `folder` gets its data and its log. */
  constructor(place: Place, folder: string) {
    this.place = place
    this.clientUrl = `http://${place.address}:2379`
    this.#peerUrl = `http://${place.address}:2380`
    this.#folder = folder
  }

  get #name(): string {
    return this.place.namespace
  }

  /** The part of `--initial-cluster` about this member. */
  get introduction(): string {
    return `${this.#name}=${this.#peerUrl}`
  }

  /** Starts the process; it serves once most members of `cluster` run. */
  start(cluster: readonly Member[]): void {
    const words = [
      ['--name', this.#name],
      ['--data-dir', join(this.#folder, this.#name)],
      ['--listen-client-urls', this.clientUrl],
      ['--advertise-client-urls', this.clientUrl],
      ['--listen-peer-urls', this.#peerUrl],
      ['--initial-advertise-peer-urls', this.#peerUrl],
      ['--initial-cluster', cluster.map(({ introduction }) => introduction).join()],
    ].flat()
    const child = spawn('ip', ['netns', 'exec', this.place.namespace, 'etcd', ...words], {
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    this.#child = child
    const log = join(this.#folder, `${this.#name}.log`)
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => appendFileSync(log, text))
    this.#exited = new Promise((resolve) => child.once('close', () => resolve()))
  }

  async kill(): Promise<void> {
    this.#child?.kill('SIGKILL')
    await this.#exited
  }

  /** Stops the process as a disk does that does not answer; `resume` lets it go on. */
  pause(): void {
    this.#child?.kill('SIGSTOP')
  }

  resume(): void {
    this.#child?.kill('SIGCONT')
  }

  /** Returns true if it serves, with a leader. */
  async isWell(): Promise<boolean> {
    try {
      const answer = await fetch(`${this.clientUrl}/health`, { signal: AbortSignal.timeout(askMs) })
      return ((await answer.json()) as { health?: string }).health === 'true'
    } catch {
      return false
    }
  }

  /** Returns true if it considers itself the leader. */
  async isLeader(): Promise<boolean> {
    try {
      const answer = await fetch(`${this.clientUrl}/v3/maintenance/status`, {
        method: 'POST',
        body: '{}',
        signal: AbortSignal.timeout(askMs),
      })
      const { header, leader } = (await answer.json()) as Status
      return leader === header.member_id
    } catch {
      return false
    }
  }
}
