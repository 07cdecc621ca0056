/** What `/debug/api_priority_and_fairness/…` tells: a row for each priority level, queue or waiting request, in upstream's columns. */

import { type Request, text } from '../../http/exchange.ts'
import type { Documents } from '../../non-resource.ts'
import type { AdmittedRequest } from '../admitted-request.ts'
import type { PriorityLevel } from '../priority-level.ts'
import type { Queue } from '../queuing/seat-request.ts'

const folder = '/debug/api_priority_and_fairness/'

type Rows = readonly (readonly string[])[]

/** Cells end in a comma and are as wide as the widest of their column, eight at least. */
export function tabulate(rows: Rows): string {
  const cells = rows.map((row) => row.map((cell, i) => (i < row.length - 1 ? `${cell},` : cell)))
  const widths: number[] = []
  for (const row of cells) {
    for (const [i, cell] of row.entries()) if (i < row.length - 1) widths[i] = Math.max(widths[i] ?? 8, cell.length + 1)
  }
  return cells.map((row) => `${row.map((cell, i) => (i < row.length - 1 ? cell.padEnd(widths[i]!) : cell)).join('')}\n`).join('')
}

/** Seat-seconds. */
const work = (value: number): string => `${value.toFixed(8)}ss`

function priorityLevels(levels: Iterable<PriorityLevel>): Rows {
  const rows = [['PriorityLevelName', 'ActiveQueues', 'IsIdle', 'IsQuiescing', 'WaitingRequests', 'ExecutingRequests']]
  for (const { name, queues, quiescing } of levels) {
    const active = [...queues.queues].filter(({ waiting }) => waiting.size > 0).length
    rows.push([name, String(active), String(queues.idle), String(quiescing), String(queues.waiting), String(queues.executing)])
  }
  return rows
}

/** Queues that nobody has used yet have no more to tell than that. */
const most = 10_000

function queueRows(levels: Iterable<PriorityLevel>): Rows {
  const rows = [
    ['PriorityLevelName', 'Index', 'PendingRequests', 'ExecutingRequests', 'SeatsInUse', 'NextDispatchR', 'InitialSeatsSum', 'MaxSeatsSum', 'TotalWorkSum'],
  ]
  for (const { name, queues } of levels) {
    const known = new Map([...queues.queues].map((queue) => [queue.index, queue]))
    const count = Math.min(queues.limits?.queues ?? 0, most)
    for (let index = 0; index < count; index++) rows.push([name, String(index), ...queueCells(known.get(index))])
  }
  return rows
}

function queueCells(queue: Queue | undefined): readonly string[] {
  const waiting = [...(queue?.waiting ?? [])]
  const sum = (of: (request: (typeof waiting)[number]) => number): string => String(waiting.reduce((all, request) => all + of(request), 0))
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

const requestColumns = [
  'PriorityLevelName',
  'FlowSchemaName',
  'QueueIndex',
  'RequestIndexInQueue',
  'FlowDistingsher',
  'ArriveTime',
  'InitialSeats',
  'FinalSeats',
  'AdditionalLatency',
]
const detailColumns = ['UserName', 'Verb', 'APIPath', 'Namespace', 'Name', 'APIVersion', 'Resource', 'SubResource']

function requestRows(waiting: Iterable<AdmittedRequest>, details: boolean): Rows {
  const rows = [details ? [...requestColumns, ...detailColumns] : requestColumns]
  for (const request of waiting) {
    const { flows, queue, distinguisher, estimate } = request
    if (!queue) continue
    const position = [...queue.waiting].indexOf(request)
    const arrived = new Date(Date.now() - (performance.now() - request.arrivedAt)).toISOString()
    const cells = [
      flows.level.name,
      flows.schema.name,
      String(queue.index),
      String(position),
      distinguisher,
      arrived,
      String(estimate.initialSeats),
      String(estimate.finalSeats),
      estimate.lingerMs === 0 ? '0s' : `${estimate.lingerMs}ms`,
    ]
    rows.push(details ? [...cells, ...detailCells(request)] : cells)
  }
  return rows
}

function detailCells({ request: { info, user } }: AdmittedRequest): readonly string[] {
  const version = info.group ? `${info.group}/${info.version}` : info.version
  return [user?.name ?? '', info.verb, info.path, info.namespace, info.name, version, info.resource, info.subresource]
}

/** Answers the three paths; undefined for any other. */
export function dumps(levels: () => Iterable<PriorityLevel>, waiting: () => Iterable<AdmittedRequest>): Documents {
  const tables = new Map<string, (request: Request) => Rows>([
    [`${folder}dump_priority_levels`, () => priorityLevels(levels())],
    [`${folder}dump_queues`, () => queueRows(levels())],
    [`${folder}dump_requests`, ({ query }) => requestRows(waiting(), (query.get('includeRequestDetails') ?? '') !== '')],
  ])
  return (path) => {
    const table = tables.get(path)
    return table && ((request) => text(200, tabulate(table(request))))
  }
}
