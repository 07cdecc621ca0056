/** The base of what clients of a torture need: connections to a server that may be down, and observations. */
import type { Fault, History } from '../checker/history.ts'
import type { Observation } from '../observation.ts'
import type { Connection } from './connection.ts'

export interface Tallies {
  writes: number
  acknowledged: number
  /** Time from the start of a server to the first list of the main kind, if the server lived that long. */
  slowestFirstListMs: number
}

/** `early`: the client connects when the server begins to serve; `late`: after the first requests were answered. */
export type Arrival = 'early' | 'late'

export abstract class Target {
  readonly history: History
  readonly observations: Observation[] = []
  /** Faults found immediately, without the later check. */
  readonly faults: Fault[] = []
  readonly tallies: Tallies = { writes: 0, acknowledged: 0, slowestFirstListMs: 0 }

  constructor(history: History) {
    this.history = history
  }

  /**
   * Returns a connection to a server once one is up; undefined if `signal` aborts first. An open connection is reused
   * by name.
   */
  abstract connection(name: string, signal?: AbortSignal, arrival?: Arrival): Promise<Connection | undefined>

  fault(promise: string, evidence: string): void {
    this.faults.push({ promise, evidence })
  }

  /** Reports a response with an unexpected status. */
  unexpected(what: string, status: number, text: string): void {
    this.fault('requests are answered', `${what}: ${status} ${text.slice(0, 300)}`)
  }
}
