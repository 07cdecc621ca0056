/** The paths by which a test controls its server, below `/debug/testing/`. Only administrators have access. */
import { badRequest, methodNotAllowed, success } from '../../machinery/status-error.ts'
import { json, pageNotFound, type Request, type Response } from '../http/exchange.ts'
import { decodeBody } from '../request/bodies/decode-fields.ts'
import { type FaultRule, faultFields } from './fault.ts'
import type { Faults } from './faults.ts'
import type { LiveWatches, WatchEnd } from './live-watches.ts'
import type { RequestLog } from './request-log.ts'
import { matchFields, type RequestMatch, testControlPath } from './request-match.ts'
import type { Snapshots } from './snapshots.ts'
import { tracesOf } from './traces/trace-endpoints.ts'
import type { Traces } from './traces/traces.ts'

export interface TestControlParts {
  readonly log: RequestLog
  readonly faults: Faults
  readonly watches: LiveWatches
  readonly snapshots: Snapshots
  readonly traces: Traces
}

const watchFields = {
  ...Object.fromEntries(matchFields.map((name) => [name, 'string' as const])),
  end: 'string',
} as const

/** Answers the paths of the control; undefined for other paths. */
export function testControlEndpoints(parts: TestControlParts): (request: Request) => Promise<Response> | undefined {
  return (request) =>
    request.path === testControlPath || request.path.startsWith(`${testControlPath}/`)
      ? respond(parts, request)
      : undefined
}

async function respond(parts: TestControlParts, request: Request): Promise<Response> {
  const [thing = '', name, action] = request.path.slice(testControlPath.length + 1).split('/')
  switch (thing) {
    case 'requests':
      return name === undefined ? requests(parts.log, request) : pageNotFound()
    case 'faults':
      return action === undefined ? faultsOf(parts.faults, request, name) : pageNotFound()
    case 'watches':
      return name === undefined ? watches(parts.watches, request) : pageNotFound()
    case 'snapshots':
      return snapshotsOf(parts.snapshots, request, name, action)
    case 'traces':
      return tracesOf(parts.traces, request, name, action)
    default:
      return pageNotFound()
  }
}

const done = (): Response => json(200, success())

function requests(log: RequestLog, { method, query }: Request): Response {
  if (method === 'DELETE') {
    log.clear()
    return done()
  }
  if (method !== 'GET') throw methodNotAllowed()
  const after = Number(query.get('after') ?? 0)
  if (!Number.isInteger(after)) throw badRequest('after must be the number of a request.')
  return json(200, log.list(after, query.get('bodies') === 'true'))
}

async function faultsOf(faults: Faults, request: Request, id: string | undefined): Promise<Response> {
  switch (request.method) {
    case 'GET':
      return json(200, id === undefined ? { faults: faults.list() } : faults.get(id))
    case 'DELETE':
      faults.remove(id)
      return done()
    case 'POST':
      if (id !== undefined) throw methodNotAllowed()
      return json(201, faults.add(await decodeBody<FaultRule>(request, faultFields)))
    default:
      throw methodNotAllowed()
  }
}

async function watches(live: LiveWatches, request: Request): Promise<Response> {
  if (request.method !== 'DELETE') throw methodNotAllowed()
  const { end = 'drop', ...match } = await decodeBody<RequestMatch & { readonly end?: WatchEnd }>(request, watchFields)
  if (end !== 'drop' && end !== 'expire') throw badRequest(`end must be drop or expire, not ${JSON.stringify(end)}.`)
  return json(200, { ended: live.end(match, end) })
}

async function snapshotsOf(
  snapshots: Snapshots,
  { method }: Request,
  name: string | undefined,
  action: string | undefined,
): Promise<Response> {
  if (method === 'POST' && name === undefined) return json(201, await snapshots.take())
  if (method === 'POST' && name !== undefined && action === 'restore') return json(200, await snapshots.restore(name))
  if (method !== 'DELETE' || name === undefined || action !== undefined) throw methodNotAllowed()
  snapshots.remove(name)
  return done()
}
