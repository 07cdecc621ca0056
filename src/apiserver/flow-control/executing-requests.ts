/**
 * The requests that execute, for who wants to see them: a chain, the oldest first, since a Set would keep those alive that are long gone
 * (docs/decisions/0010).
 */
import type { AdmittedRequest } from './admitted-request.ts'

export class ExecutingRequests {
  #oldest: AdmittedRequest | undefined
  #newest: AdmittedRequest | undefined

  add(request: AdmittedRequest): void {
    request.older = this.#newest
    if (this.#newest) this.#newest.newer = request
    else this.#oldest = request
    this.#newest = request
  }

  /** Each request once. */
  remove(request: AdmittedRequest): void {
    const { older, newer } = request
    if (older) older.newer = newer
    else this.#oldest = newer
    if (newer) newer.older = older
    else this.#newest = older
    request.older = undefined
    request.newer = undefined
  }

  *[Symbol.iterator](): Generator<AdmittedRequest> {
    for (let request = this.#oldest; request; request = request.newer) yield request
  }
}
