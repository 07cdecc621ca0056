/** Rates of CPU time, from readings of its sum. */

interface Reading {
  readonly time: number
  readonly usage: number
  readonly rate: number
}

const nsPerMs = 1_000_000

export class CpuRates {
  readonly #last = new Map<string, Reading>()

  /** Takes a reading: a time in ms, and the CPU time until then in ns. Returns ns a second; 0 for a first reading. */
  add(id: string, time: number, usage: number): number {
    const last = this.#last.get(id)
    const elapsedMs = last ? time - last.time : 0
    const rate = last && elapsedMs > 0 ? ((usage - last.usage) / (elapsedMs * nsPerMs)) * 1e9 : (last?.rate ?? 0)
    if (!last || elapsedMs > 0) this.#last.set(id, { time, usage, rate })
    return Math.max(0, rate)
  }

  /** Forgets the readings of a container or sandbox that was removed. */
  forget(id: string): void {
    this.#last.delete(id)
  }
}
