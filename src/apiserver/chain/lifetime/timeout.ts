/** Answers 504 if a short request takes too long. Watches, streams and proxied requests have other limits. */
import { goDurationMs } from '../../../lib/go/go-duration.ts'
import { badRequest, requestTimeout } from '../../../machinery/status-error.ts'
import type { Request, Response } from '../../http/exchange.ts'
import type { WrappingFilter } from '../filter.ts'
import type { RequestMetrics } from '../metrics/request-metrics.ts'
import { Deadlines } from './deadlines.ts'
import { isLongRunning } from './long-running.ts'

/** The time limit from the client, in ms; undefined if there is none. Throws 400. */
function clientLimitMs({ query }: Request): number | undefined {
  const timeout = query.get('timeout')
  if (!timeout) return undefined
  try {
    return goDurationMs(timeout)
  } catch (error) {
    throw badRequest(`invalid timeout specified in the request URL - ${(error as Error).message}`)
  }
}

/** Returns true if a response is complete: it cannot time out then. */
const isComplete = (answer: Response | Promise<Response>): answer is Response =>
  !(answer instanceof Promise) && typeof answer.body !== 'function'

export function timeout(limitMs: number, metrics: Pick<RequestMetrics, 'terminated'>): WrappingFilter {
  /** Counts a time-out and returns its error. */
  const timedOut = (request: Request): Error => {
    metrics.terminated(request, 504)
    return requestTimeout()
  }
  const running = new Deadlines(limitMs)
  return (request, next) => {
    if (isLongRunning(request.info)) return next(request)
    const clientMs = request.rawQuery === '' ? undefined : clientLimitMs(request)
    if (clientMs !== undefined && clientMs > 0 && clientMs < limitMs) {
      request.deadline = performance.now() + clientMs
      return within(clientMs, next(request), () => timedOut(request))
    }
    const answer = next(request)
    if (isComplete(answer)) return answer
    return new Promise((resolve, reject) => {
      const entry = running.add(() => reject(timedOut(request)))
      const done = (): void => running.remove(entry)
      Promise.resolve(answer).then(
        (response) => {
          if (typeof response.body === 'function') {
            resolve(cutOff(response, done, (expire) => (entry.expire = expire)))
            return
          }
          done()
          resolve(response)
        },
        (error) => {
          done()
          reject(error)
        },
      )
    })
  }
}

/** Applies a time limit from the client, which seldom differs from the default. */
function within(ms: number, answer: Response | Promise<Response>, timedOut: () => Error): Response | Promise<Response> {
  if (isComplete(answer)) return answer
  return new Promise((resolve, reject) => {
    let expire = (): void => reject(timedOut())
    const timer = setTimeout(() => expire(), ms)
    timer.unref()
    const done = (): void => clearTimeout(timer)
    Promise.resolve(answer).then(
      (response) => {
        if (typeof response.body !== 'function') done()
        resolve(cutOff(response, done, (cut) => (expire = cut)))
      },
      (error) => {
        done()
        reject(error)
      },
    )
  })
}

/**
 * Applies the limit to a streamed response, such as one from another server: as its head has been sent, it is cut off.
 */
function cutOff(response: Response, done: () => void, onExpiry: (expire: () => void) => void): Response {
  const { body } = response
  if (typeof body !== 'function') return response
  return {
    ...response,
    body(sink) {
      onExpiry(() => sink.destroy())
      sink.onClose(done)
      body(sink)
    },
  }
}
