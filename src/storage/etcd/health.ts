/** The health of etcd as this process knows it: its size, and why it does not take writes. Asks for it periodically. */
import type { StatusResponse } from '#protobuf/etcd-rpc_pb.js'
import { type Channel, statusMethod } from './client/channel.ts'
import { corruptProblem, noSpaceProblem } from './errors.ts'

/** Interval while there is a problem, in ms. */
const problemPollMs = 1_000
const timeoutMs = 5_000

export class Health {
  readonly #channel: Channel
  readonly #pollMs: number
  #timer: NodeJS.Timeout | undefined
  #alarm: string | undefined
  #isClosed = false
  /** Size of the database in bytes. */
  sizeBytes: number | undefined

  /** Asks every `pollMs`; never if that is 0. */
  constructor(channel: Channel, pollMs: number) {
    this.#channel = channel
    this.#pollMs = pollMs
    if (channel.status) this.#read(channel.status)
    this.#schedule()
  }

  /** A sentence with the remedy; undefined if etcd takes writes. */
  get problem(): string | undefined {
    return this.#channel.problem ?? this.#alarm
  }

  /** Records that a write was rejected because of an alarm. */
  reportAlarm(problem: string): void {
    if (this.#alarm !== undefined) return
    this.#alarm = problem
    this.#schedule()
  }

  close(): void {
    this.#isClosed = true
    clearTimeout(this.#timer)
  }

  #schedule(): void {
    clearTimeout(this.#timer)
    const ms = this.#alarm === undefined ? this.#pollMs : problemPollMs
    if (this.#isClosed || ms === 0) return
    this.#timer = setTimeout(() => void this.#poll(), ms).unref()
  }

  async #poll(): Promise<void> {
    try {
      this.#read(await this.#channel.call(statusMethod, {}, { timeoutMs, isSafe: true }))
    } catch {
      // The channel has recorded why etcd cannot be asked.
    }
    this.#schedule()
  }

  #read({ dbSize, errors }: StatusResponse): void {
    this.sizeBytes = Number(dbSize)
    const alarms = errors.join(' ')
    if (alarms.includes('alarm:NOSPACE')) this.#alarm = noSpaceProblem
    else this.#alarm = alarms.includes('alarm:CORRUPT') ? corruptProblem : undefined
  }
}
