/** The filters of a server whose tests control it: they log requests, and let faults happen. */
import { setTimeout as delay } from 'node:timers/promises'
import { after } from '../../lib/flow/after.ts'
import { expired } from '../../machinery/status-error.ts'
import type { Handler, Request, Response } from '../http/exchange.ts'
import { maxBodyBytes } from '../request-options/body.ts'
import { type FaultRule, faultError } from './fault.ts'
import type { Faults } from './faults.ts'
import { expireWatch, type LiveWatches } from './live-watches.ts'
import type { RecordedBodies } from './recorded-bodies.ts'
import type { RequestLog } from './request-log.ts'
import type { RequestRecorder } from './traces/request-recorder.ts'

/** Logs requests; the first filter that sees the parsed target. */
export const logged = (log: RequestLog, bodies: RecordedBodies, recorder: RequestRecorder) => ({
  begin: (request: Request): void => bodies.record(request),
  answered(request: Request, response: Response): Response {
    log.end(request, response)
    return recorder.answered(request, response)
  },
})

export interface FaultParts {
  readonly faults: Faults
  readonly watches: LiveWatches
  readonly log: RequestLog
  readonly bodies: RecordedBodies
}

/** Lets faults happen. Comes when the user is known, and before limits and authorization. */
export const faulty =
  ({ faults, watches, log, bodies }: FaultParts) =>
  (request: Request, next: Handler): ReturnType<Handler> => {
    const pass: Handler = (passed) =>
      request.info.verb === 'watch' ? after(next(passed), (response) => watches.track(request, response)) : next(passed)
    if (!faults.mayHit(request)) return pass(request)
    const { verb, isResourceRequest, name: named } = request.info
    const needsBody = verb === 'create' && isResourceRequest && !named
    return after(needsBody ? request.body(maxBodyBytes) : undefined, () => {
      const name = bodies.nameOf(request)
      const fault = faults.hit(request, name)
      if (!fault) return pass(request)
      log.hit(request, fault.id)
      const { latencyMs = 0 } = fault.rule
      if (latencyMs === 0) return takeEffect(fault.rule, name, request, pass)
      return wait(latencyMs, request).then(() => takeEffect(fault.rule, name, request, pass))
    })
  }

/** Resolves earlier if the client disconnects. */
const wait = (ms: number, { signal }: Request): Promise<void> => delay(ms, undefined, { signal }).catch(() => {})

function takeEffect(rule: FaultRule, name: string, request: Request, next: Handler): ReturnType<Handler> {
  const { code, lose, expire } = rule
  if (code !== undefined) throw faultError({ ...rule, code }, request, name)
  if (lose === 'request') return lost()
  if (lose === 'response') return after(next(request), lost)
  if (!expire) return next(request)
  if (request.info.verb !== 'watch') throw expired()
  return { status: 200, headers: { 'content-type': 'application/json' }, body: expireWatch }
}

/** A response that breaks off. */
const lost = (): Response => ({
  status: 200,
  headers: { 'content-type': 'application/json' },
  body: (sink) => sink.destroy(),
})
