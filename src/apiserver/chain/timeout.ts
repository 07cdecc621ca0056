/** Answers 504 when a short request takes too long. Watches, streams and what is passed on to pods and services have their own ends. */
import { requestTimeout } from '../../machinery/status-error.ts'
import type { RequestInfo } from '../request/request-info.ts'
import type { Filter } from './filter.ts'

const sweepMs = 1000

const longSubresources: ReadonlySet<string> = new Set(['attach', 'exec', 'log', 'portforward', 'proxy'])

/** Whether a request lasts for as long as its client likes. */
export const isLongRunning = ({ verb, subresource }: RequestInfo): boolean => verb === 'watch' || (subresource !== '' && longSubresources.has(subresource))

/** One timer looks after all requests: a timer a request would cost more than most requests do. */
export function timeout(limitMs: number): Filter {
  interface Running {
    readonly deadline: number
    readonly expire: () => void
  }
  const running = new Set<Running>()
  let sweeping = false
  const sweep = (): void => {
    sweeping = true
    setTimeout(look, sweepMs).unref()
  }
  const look = (): void => {
    const now = performance.now()
    // Insertion order is order of deadlines.
    for (const entry of running) {
      if (entry.deadline > now) break
      running.delete(entry)
      entry.expire()
    }
    sweeping = false
    if (running.size) sweep()
  }
  return (request, next) => {
    if (isLongRunning(request.info)) return next(request)
    return new Promise((resolve, reject) => {
      const answer = next(request)
      const entry: Running = {
        deadline: performance.now() + limitMs,
        expire: () => reject(requestTimeout()),
      }
      running.add(entry)
      if (!sweeping) sweep()
      answer.then(
        (response) => {
          running.delete(entry)
          resolve(response)
        },
        (error) => {
          running.delete(entry)
          reject(error)
        },
      )
    })
  }
}
