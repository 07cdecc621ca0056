/** Describes an object that did not reach its condition: phase, conditions, and the last events. */
import type { Unstructured } from '../../../machinery/object.ts'

/** The fields of an event that are shown (v1 and events.k8s.io). */
export interface ShownEvent {
  readonly metadata: { readonly creationTimestamp?: string }
  readonly type?: string
  readonly reason?: string
  readonly message?: string
  readonly lastTimestamp?: string | null
  readonly eventTime?: string | null
  readonly count?: number
  readonly involvedObject?: { readonly kind?: string; readonly name?: string; readonly uid?: string }
}

interface Described {
  readonly phase?: unknown
  readonly reason?: unknown
  readonly message?: unknown
  readonly conditions?: readonly {
    readonly type: string
    readonly status: string
    readonly reason?: string
    readonly message?: string
  }[]
}

const shownEvents = 6

/** Returns lines that are indented by two spaces; the newest event comes last. */
export function describeObject(object: Unstructured | undefined, events: readonly ShownEvent[]): string[] {
  if (!object) return ['  it does not exist', ...eventLines(events)]
  const status = (object.status ?? {}) as Described
  const lines = [`  resourceVersion: ${object.metadata.resourceVersion ?? 'none'}`]
  if (object.metadata.deletionTimestamp) {
    const { finalizers = [] } = object.metadata
    const waiting = finalizers.length > 0 ? `, waits for finalizers ${finalizers.join(', ')}` : ''
    lines.push(`  being deleted since ${object.metadata.deletionTimestamp}${waiting}`)
  }
  if (status.phase !== undefined) lines.push(`  phase: ${status.phase}${because(status.reason, status.message)}`)
  const { conditions = [] } = status
  lines.push(conditions.length > 0 ? '  conditions:' : '  no conditions')
  for (const { type, status: value, reason, message } of conditions)
    lines.push(`    ${type}=${value}${because(reason, message)}`)
  return [...lines, ...eventLines(events)]
}

function because(reason: unknown, message: unknown): string {
  const parts = [reason, message].filter((part) => typeof part === 'string' && part !== '')
  return parts.length > 0 ? ` (${parts.join(': ')})` : ''
}

const timeOf = ({ lastTimestamp, eventTime, metadata }: ShownEvent): string =>
  lastTimestamp ?? eventTime ?? metadata.creationTimestamp ?? ''

function eventLines(events: readonly ShownEvent[]): string[] {
  if (events.length === 0) return ['  no events']
  const sorted = [...events].sort((a, b) => timeOf(a).localeCompare(timeOf(b))).slice(-shownEvents)
  return ['  last events:', ...sorted.map(eventLine)]
}

function eventLine(event: ShownEvent): string {
  const { type = 'Normal', reason = '', message = '', count = 1, involvedObject = {} } = event
  const times = count > 1 ? ` (${count} times)` : ''
  const text = message.trim().replaceAll('\n', ' ')
  return `    ${timeOf(event)} ${type} ${reason} ${involvedObject.kind}/${involvedObject.name}: ${text}${times}`
}
