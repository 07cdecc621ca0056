/** The traces of running requests in a server, which must disappear when they end. */
import { setTimeout as delay } from 'node:timers/promises'
import { patient, StormClient } from './client.ts'
import type { StormServer } from './server.ts'

export interface Traces {
  readonly metrics: ReadonlyMap<string, number>
  readonly descriptors: number
}

/** Gauges of running requests: each must return to about its earlier value. */
const ofRequests = [
  'apiserver_current_inflight_requests',
  'apiserver_longrunning_requests',
  'apiserver_flowcontrol_current_executing_seats',
  'apiserver_flowcontrol_current_executing_requests',
  'apiserver_flowcontrol_current_inqueue_requests',
  'apiserver_registered_watchers',
]
/** Counters that must not increase at all. */
const never = ['apiserver_unhandled_errors_total']

/** Controllers start watches for the objects of the storm, and may have requests of their own. */
const slack = 4
const moreDescriptors = 40
const patienceMs = 60_000

export async function tracesOf(server: StormServer): Promise<Traces> {
  const client = new StormClient(server.url)
  const { text } = await client.send({ kind: 'metrics', method: 'GET', path: '/metrics' }, 'h1', {
    ...patient,
    whole: true,
  })
  client.close()
  const metrics = new Map<string, number>()
  for (const line of text.split('\n')) {
    const [, name = '', value] = /^(\w+)(?:\{.*\})? (\S+)/.exec(line) ?? []
    if ([...ofRequests, ...never].includes(name)) metrics.set(name, (metrics.get(name) ?? 0) + Number(value))
  }
  return { metrics, descriptors: server.descriptors() }
}

/** Returns traces that remain after a while. */
export async function leaks(server: StormServer, before: Traces): Promise<readonly string[]> {
  const deadline = performance.now() + patienceMs
  for (;;) {
    const found = compare(before, await tracesOf(server))
    if (found.length === 0 || performance.now() > deadline) return found
    await delay(500)
  }
}

function compare(before: Traces, now: Traces): readonly string[] {
  const found: string[] = []
  for (const name of [...ofRequests, ...never]) {
    const [was, is] = [before.metrics.get(name) ?? 0, now.metrics.get(name) ?? 0]
    if (is > was + (never.includes(name) ? 0 : slack)) found.push(`${name} was ${was} and is ${is}`)
  }
  if (now.descriptors > before.descriptors + moreDescriptors)
    found.push(`${now.descriptors} open files and sockets, ${before.descriptors} before`)
  return found
}
