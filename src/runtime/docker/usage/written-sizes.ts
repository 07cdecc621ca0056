/** The sizes of what containers have written. The engine walks through their files, so it is asked once a minute. */
import type { Pods } from '../pods/pods.ts'

const maxAgeMs = 60_000

export class WrittenSizes {
  readonly #pods: Pods
  #sizes: Promise<ReadonlyMap<string, number>> | undefined
  #readAt = 0

  constructor(pods: Pods) {
    this.#pods = pods
  }

  /** In bytes. 0 for a container that was started after the last measurement. */
  async of(id: string): Promise<number> {
    const now = performance.now()
    if (!this.#sizes || now - this.#readAt > maxAgeMs) {
      this.#readAt = now
      this.#sizes = this.#read()
      this.#sizes.catch(() => {
        this.#sizes = undefined
      })
    }
    return (await this.#sizes).get(id) ?? 0
  }

  async #read(): Promise<ReadonlyMap<string, number>> {
    const containers = await this.#pods.containers(undefined, true)
    return new Map(containers.map(({ id, writtenBytes = 0 }) => [id, writtenBytes]))
  }
}
