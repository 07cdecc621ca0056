/** The running watches, which a test can end: by a broken connection, or as if their revision were compacted. */
import { expired } from '../../machinery/status-error.ts'
import type { Request, Response, Sink } from '../http/exchange.ts'
import { isOfTestKit, matches, type RequestMatch } from './request-match.ts'

/** `drop` breaks the connection; `expire` sends an ERROR event 410 first, and ends the watch in order. */
export type WatchEnd = 'drop' | 'expire'

export class LiveWatches {
  readonly #sinks = new Map<Sink, Request>()

  /** Returns the response of a watch, which can be ended from then on. */
  track(request: Request, response: Response): Response {
    const { body } = response
    if (typeof body !== 'function' || isOfTestKit(request)) return response
    return {
      ...response,
      body: (sink) => {
        this.#sinks.set(sink, request)
        sink.onClose(() => this.#sinks.delete(sink))
        body(sink)
      },
    }
  }

  /** Ends the watches that match, and returns their number. */
  end(match: RequestMatch, how: WatchEnd): number {
    const found = [...this.#sinks].filter(([, request]) => matches(match, request))
    for (const [sink] of found) {
      this.#sinks.delete(sink)
      if (how === 'drop') sink.destroy()
      else expireWatch(sink)
    }
    return found.length
  }
}

/** Sends the ERROR event of a compacted revision, and ends the watch. */
export function expireWatch(sink: Sink): void {
  const { status } = expired('too old resource version: the history was compacted by the test')
  sink.write(Buffer.from(`${JSON.stringify({ type: 'ERROR', object: status })}\n`))
  sink.end()
}
