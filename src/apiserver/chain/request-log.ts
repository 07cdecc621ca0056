/** Logs requests: one line each, when the response is known; watches and connections at their end. */
import type { Log } from '../../lib/log/log.ts'
import type { Request, Response } from '../http/exchange.ts'
import type { Filter } from './filter.ts'
import { verbOf } from './metrics/request-labels.ts'

/** From this verbosity on, requests of users and their programs are logged. */
const userVerbosity = 1
/** From this verbosity on, those of the cluster's components are logged too, as upstream's `-v=3` logs all requests. */
const componentVerbosity = 3

/** Returns undefined if the verbosity shows no requests. `now` is in ms of `performance.now()`. */
export function requestLog(
  verbosity: number | undefined,
  log: Log,
  now: () => number = () => performance.now(),
): Filter | undefined {
  if ((verbosity ?? 0) < userVerbosity) return undefined
  const showsComponents = (verbosity ?? 0) >= componentVerbosity
  const record = (request: Request, { status, sentEvents }: Response): void => {
    if (!showsComponents && isComponent(request)) return
    const entry = { ...entryOf(request, status, now() - request.received), events: sentEvents?.() }
    log(plainLine(entry), 'info', { message: 'HTTP', fields: fieldsOf(entry) })
  }
  return {
    answered(request, response) {
      const isStream = typeof response.body === 'function' || response.takeOver !== undefined
      if (isStream) request.onClose(() => record(request, response))
      else record(request, response)
      return response
    },
  }
}

/** True for users that are parts of a cluster. Service accounts of other namespaces belong to workloads. */
function isComponent({ user, method, path }: Request): boolean {
  const name = user?.name ?? ''
  if (name.startsWith('system:serviceaccount:')) return name.startsWith('system:serviceaccount:kube-system:')
  if (name === 'system:anonymous') return method === 'GET' && /^\/(livez|readyz|healthz)/.test(path)
  return name.startsWith('system:') && name !== 'system:admin'
}

interface Entry {
  readonly verb: string
  readonly uri: string
  readonly status: number
  readonly agent: string
  readonly auditId: string
  readonly address: string
  readonly ms: number
  /** Watches: the number of events that were sent. */
  readonly events: number | undefined
}

const entryOf = (request: Request, status: number, ms: number): Omit<Entry, 'events'> => ({
  verb: verbOf(request),
  uri: printable(request.rawQuery === '' ? request.path : `${request.path}?${request.rawQuery}`),
  status,
  agent: printable(request.header('user-agent') ?? ''),
  auditId: request.auditId,
  address: request.remoteAddress,
  ms,
})

/** Clients choose these texts: control characters would change a terminal. */
const printable = (text: string): string => text.replace(/[^\x20-\x7e]/g, '?')

/** `200 LIST /api/v1/pods kubectl/v1.36.2 3 ms`; the status comes first, as it has a fixed width. */
function plainLine({ verb, uri, status, agent, ms, events }: Entry): string {
  const count = events === undefined ? '' : `, ${events} ${events === 1 ? 'event' : 'events'}`
  // The rest of a user agent names the machine and the commit.
  return `${status} ${verb} ${uri} ${agent.split(' ')[0] || '-'} ${durationText(ms)}${count}`
}

function durationText(ms: number): string {
  if (ms < 10) return `${ms.toFixed(1)} ms`
  return ms < 10_000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`
}

/** The names of upstream's httplog. */
const fieldsOf = ({ verb, uri, status, agent, auditId, address, ms, events }: Entry) => ({
  verb,
  URI: uri,
  latency: `${ms.toFixed(3)}ms`,
  userAgent: agent,
  'audit-ID': auditId,
  srcIP: address,
  resp: status,
  ...(events !== undefined && { events }),
})
