/** Short lists of a cluster, as `kubectl get` prints them. */

import type { RestClient } from '../../../client/index.ts'
import { events, nodes, pods } from '../../../client/kinds.ts'
import { table } from '../../terminal/table.ts'

/** More events do not fit on a terminal. */
const shownEvents = 15

/** One line for each node, with its status and the number of its pods. */
export async function nodeLines(client: RestClient): Promise<readonly string[]> {
  const [{ items }, { items: allPods }] = await Promise.all([client.list(nodes), client.list(pods)])
  if (items.length === 0) return ['no nodes']
  const count = new Map<string, number>()
  for (const { spec } of allPods) count.set(spec?.nodeName ?? '', (count.get(spec?.nodeName ?? '') ?? 0) + 1)
  const rows = items.map(({ metadata, spec, status }) => {
    const isReady = status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True')
    const state = `${isReady ? 'Ready' : 'NotReady'}${spec?.unschedulable ? ',SchedulingDisabled' : ''}`
    return [metadata.name ?? '', state, `${count.get(metadata.name ?? '') ?? 0}`]
  })
  const pending = count.get('') ?? 0
  return [...table(['NAME', 'STATUS', 'PODS'], rows), ...(pending > 0 ? [`${pending} pods without a node`] : [])]
}

/** The latest events, the newest last. `now` is in ms since 1970. */
export async function latestEvents(client: RestClient, now: number): Promise<readonly string[]> {
  const { items } = await client.list(events)
  const timed = items
    .map((event) => ({
      event,
      at: Date.parse(event.series?.lastObservedTime ?? event.lastTimestamp ?? event.eventTime ?? '') || 0,
    }))
    .sort((a, b) => a.at - b.at)
    .slice(-shownEvents)
  if (timed.length === 0) return ['no events']
  const rows = timed.map(({ event: { type, reason, involvedObject, message }, at }) => [
    ageText(now - at),
    type ?? '',
    reason ?? '',
    `${(involvedObject.kind ?? '').toLowerCase()}/${involvedObject.name ?? ''}`,
    (message ?? '').replace(/\p{Cc}+/gu, ' '),
  ])
  return table(['AGE', 'TYPE', 'REASON', 'OBJECT', 'MESSAGE'], rows)
}

function ageText(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000))
  if (seconds < 120) return `${seconds}s`
  return seconds < 7200 ? `${Math.floor(seconds / 60)}m` : `${Math.floor(seconds / 3600)}h`
}
