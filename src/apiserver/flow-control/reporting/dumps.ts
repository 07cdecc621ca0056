/**
 * The pages `/debug/api_priority_and_fairness/…`: a row for each priority level, queue or request, in upstream's
 * columns.
 */

import type { Documents } from '../../http/documents.ts'
import { type Request, text } from '../../http/exchange.ts'
import type { AdmittedRequest } from '../admitted-request.ts'
import type { PriorityLevel } from '../priority-level.ts'
import type { Queue } from '../queuing/seat-request.ts'

const folder = '/debug/api_priority_and_fairness/'

type Rows = readonly (readonly string[])[]

/** Cells end in a comma and are as wide as the widest of their column, at least eight. */
export function tabulate(rows: Rows): string {
  const cells = rows.map((row) => row.map((cell, i) => (i < row.length - 1 ? `${cell},` : cell)))
  const widths: number[] = []
  for (const row of cells) {
    for (const [i, cell] of row.entries()) if (i < row.length - 1) widths[i] = Math.max(widths[i] ?? 8, cell.length + 1)
  }
  return cells
    .map((row) => `${row.map((cell, i) => (i < row.length - 1 ? cell.padEnd(widths[i]!) : cell)).join('')}\n`)
    .join('')
}

/** Seat-seconds. */
const work = (value: number): string => `${value.toFixed(8)}ss`

const levelColumns: readonly string[] = [
  'PriorityLevelName',
  'ActiveQueues',
  'IsIdle',
  'IsQuiescing',
  'WaitingRequests',
  'ExecutingRequests',
  'DispatchedRequests',
  'RejectedRequests',
  'TimedoutRequests',
  'CancelledRequests',
]

function priorityLevels(levels: Iterable<PriorityLevel>): Rows {
  const rows: (readonly string[])[] = [levelColumns]
  for (const { name, queues, quiescing, outcomes } of levels) {
    const { dispatched, rejected, timedOut, cancelled } = outcomes
    const active = [...queues.queues].filter(({ waiting }) => waiting.size > 0).length
    rows.push([
      name,
      ...[
        active,
        queues.idle,
        quiescing,
        queues.waiting,
        queues.executing,
        dispatched,
        rejected,
        timedOut,
        cancelled,
      ].map(String),
    ])
  }
  return rows
}

/** The maximum number of queues per level in a page. */
const maxQueues = 10_000

function queueRows(levels: Iterable<PriorityLevel>): Rows {
  const rows = [
    [
      'PriorityLevelName',
      'Index',
      'PendingRequests',
      'ExecutingRequests',
      'SeatsInUse',
      'NextDispatchR',
      'InitialSeatsSum',
      'MaxSeatsSum',
      'TotalWorkSum',
    ],
  ]
  for (const { name, queues } of levels) {
    const known = new Map([...queues.queues].map((queue) => [queue.index, queue]))
    const count = Math.min(queues.limits?.queues ?? 0, maxQueues)
    for (let index = 0; index < count; index++) rows.push([name, String(index), ...queueCells(known.get(index))])
  }
  return rows
}

function queueCells(queue: Queue | undefined): readonly string[] {
  const waiting = [...(queue?.waiting ?? [])]
  const sum = (of: (request: (typeof waiting)[number]) => number): string =>
    String(waiting.reduce((all, request) => all + of(request), 0))
  return [
    String(waiting.length),
    String(queue?.executing ?? 0),
    String(queue?.seatsInUse ?? 0),
    work(queue?.nextDispatchR ?? 0),
    sum(({ initialSeats }) => initialSeats),
    sum(({ seats }) => seats),
    work(queue?.workWaiting ?? 0),
  ]
}

const requestColumns: readonly string[] = [
  'PriorityLevelName',
  'FlowSchemaName',
  'QueueIndex',
  'RequestIndexInQueue',
  'FlowDistingsher',
  'ArriveTime',
  'InitialSeats',
  'FinalSeats',
  'AdditionalLatency',
  'StartTime',
]
const detailColumns: readonly string[] = [
  'UserName',
  'Verb',
  'APIPath',
  'Namespace',
  'Name',
  'APIVersion',
  'Resource',
  'SubResource',
]

/** Queued requests first, waiting before executing ones; then those without a queue. */
function requestRows({ levels, waiting, executing }: DumpSource, details: boolean): Rows {
  const rows: (readonly string[])[] = [details ? [...requestColumns, ...detailColumns] : requestColumns]
  const byLevel = Map.groupBy([...waiting(), ...executing()], ({ flows }) => flows.level)
  for (const level of levels()) {
    const requests = byLevel.get(level) ?? []
    const placed = requests.map((request) => ({ request, index: request.queue?.index ?? noQueue }))
    for (const { request } of placed.sort((a, b) => a.index - b.index)) {
      const cells = requestCells(request)
      rows.push(details ? [...cells, ...detailCells(request)] : cells)
    }
  }
  return rows
}

/** Sorts after all queues. */
const noQueue = Number.POSITIVE_INFINITY
/** Go's zero time. */
const never = '0001-01-01T00:00:00Z'

/** A time of the monotonic clock in Go's format (`RFC3339Nano`). */
const timeOf = (ms: number): string => new Date(performance.timeOrigin + ms).toISOString().replace(/\.?0*Z$/, 'Z')

function requestCells(request: AdmittedRequest): readonly string[] {
  const { flows, queue, distinguisher, estimate, executes } = request
  return [
    flows.level.name,
    flows.schema.name,
    String(queue?.index ?? -1),
    String(queue && !executes ? [...queue.waiting].indexOf(request) : -1),
    distinguisher,
    timeOf(request.arrivedAt),
    String(estimate.initialSeats),
    String(estimate.finalSeats),
    estimate.lingerMs === 0 ? '0s' : `${estimate.lingerMs}ms`,
    executes ? timeOf(request.startedAt) : never,
  ]
}

function detailCells({ request: { info, user } }: AdmittedRequest): readonly string[] {
  const version = info.group ? `${info.group}/${info.version}` : info.version
  return [user?.name ?? '', info.verb, info.path, info.namespace, info.name, version, info.resource, info.subresource]
}

/** The state that the pages show. */
export interface DumpSource {
  readonly levels: () => Iterable<PriorityLevel>
  readonly waiting: () => Iterable<AdmittedRequest>
  readonly executing: () => Iterable<AdmittedRequest>
}

/** Answers the three paths; undefined for any other. */
export function dumps(source: DumpSource): Documents {
  const { levels } = source
  const tables = new Map<string, (request: Request) => Rows>([
    [`${folder}dump_priority_levels`, () => priorityLevels(levels())],
    [`${folder}dump_queues`, () => queueRows(levels())],
    [`${folder}dump_requests`, ({ query }) => requestRows(source, (query.get('includeRequestDetails') ?? '') !== '')],
  ])
  return (path) => {
    const table = tables.get(path)
    return table && ((request) => text(200, tabulate(table(request))))
  }
}
