/** Streams of the runtime that clients reach by a redirection to the kubelet (`/cri/exec/TOKEN`). */
import { HttpError } from '../../../node/http-error.ts'
import type { Pod } from '../../pod-types.ts'

/** The runtime forgets a URL that is not used for this time. In ms. */
const lifeMs = 60_000
const maxUrls = 1_000

/** A stream as its client has requested it, and the runtime's URL for it. */
export interface RuntimeStream {
  /** `exec`, `attach` or `portForward`. */
  readonly kind: string
  readonly pod: Pod
  readonly query: URLSearchParams
  readonly url: string
}

export class RedirectedStreams {
  readonly #streams = new Map<string, { readonly stream: RuntimeStream; readonly until: number }>()

  /** Returns the path of the kubelet for a stream. Throws 429 if too many are waiting for their clients. */
  add(stream: RuntimeStream): string {
    const now = performance.now()
    for (const [path, { until }] of this.#streams) if (until <= now) this.#streams.delete(path)
    if (this.#streams.size >= maxUrls)
      throw new HttpError(429, 'maximum number of in-flight requests exceeded', { 'Retry-After': '60' })
    const path = `/cri${new URL(stream.url).pathname}`
    this.#streams.set(path, { stream, until: now + lifeMs })
    return path
  }

  /** Returns the stream for a path, once. Throws 404 for an unknown one. */
  take(path: string): RuntimeStream {
    const found = this.#streams.get(path)
    this.#streams.delete(path)
    if (!found || found.until <= performance.now()) throw new HttpError(404, '404 page not found\n')
    return found.stream
  }
}
