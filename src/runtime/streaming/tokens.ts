/** Tokens of URLs: each stands for a request, is good once, and expires. */
import { randomBytes } from 'node:crypto'
import { RpcError } from '../../lib/grpc/grpc-error.ts'

const lifeMs = 60_000
const maxTokens = 1_000
const attempts = 10
/** Eight characters of base64url. */
const tokenBytes = 6

export class Tokens<Request> {
  readonly #requests = new Map<string, { readonly request: Request; readonly until: number }>()
  readonly #now: () => number

  /** `now` returns a time in ms. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now
  }

  /** Throws ResourceExhausted if too many are unused. */
  add(request: Request): string {
    this.#removeExpired()
    if (this.#requests.size >= maxTokens)
      throw new RpcError('ResourceExhausted', 'maximum number of in-flight requests exceeded')
    for (let attempt = 0; attempt < attempts; attempt++) {
      const token = randomBytes(tokenBytes).toString('base64url')
      if (this.#requests.has(token)) continue
      this.#requests.set(token, { request, until: this.#now() + lifeMs })
      return token
    }
    throw new RpcError('Unknown', 'failed to generate unique token')
  }

  /** Undefined for a token that is unknown, used or expired. */
  take(token: string): Request | undefined {
    const entry = this.#requests.get(token)
    this.#requests.delete(token)
    return entry && entry.until > this.#now() ? entry.request : undefined
  }

  #removeExpired(): void {
    // They are in the order of their expiry.
    for (const [token, { until }] of this.#requests) {
      if (until > this.#now()) return
      this.#requests.delete(token)
    }
  }
}
