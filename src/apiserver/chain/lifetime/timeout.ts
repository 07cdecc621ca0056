/**
 * Answers 504 when a short request takes too long. Watches, streams and what is passed on to pods and services have
 * their own ends.
 */
import { goDurationMs } from '../../../lib/go/go-duration.ts'
import { badRequest, requestTimeout } from '../../../machinery/status-error.ts'
import type { Request, Response } from '../../http/exchange.ts'
import type { Around } from '../filter.ts'
import type { RequestMetrics } from '../metrics/request-metrics.ts'
import { Deadlines } from './deadlines.ts'
import { isLongRunning } from './long-running.ts'

/** How long the client wants to wait, in ms; undefined if it does not say. Throws 400. */
function wantedMs({ query }: Request): number | undefined {
  const wanted = query.get('timeout')
  if (!wanted) return undefined
  try {
    return goDurationMs(wanted)
  } catch (error) {
    throw badRequest(`invalid timeout specified in the request URL - ${(error as Error).message}`)
  }
}

/** Whether an answer is known whole: then there is nothing that could take too long. */
const isThere = (answer: Response | Promise<Response>): answer is Response =>
  !(answer instanceof Promise) && typeof answer.body !== 'function'

export function timeout(limitMs: number, metrics: Pick<RequestMetrics, 'terminated'>): Around {
  /** The error of who took too long. */
  const late = (request: Request): Error => {
    metrics.terminated(request, 504)
    return requestTimeout()
  }
  const running = new Deadlines(limitMs)
  return (request, next) => {
    if (isLongRunning(request.info)) return next(request)
    const wanted = request.rawQuery === '' ? undefined : wantedMs(request)
    if (wanted !== undefined && wanted > 0 && wanted < limitMs) {
      request.deadline = performance.now() + wanted
      return within(wanted, next(request), () => late(request))
    }
    const answer = next(request)
    if (isThere(answer)) return answer
    return new Promise((resolve, reject) => {
      const entry = running.add(() => reject(late(request)))
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

/** As long as the client wants, which seldom differs from what all have. */
function within(ms: number, answer: Response | Promise<Response>, late: () => Error): Response | Promise<Response> {
  if (isThere(answer)) return answer
  return new Promise((resolve, reject) => {
    let expire = (): void => reject(late())
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
 * What is written over time, such as the answer of another server, has to end by then too: its head is out, so it is
 * cut off.
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
