/** Statuses and events without what differs from run to run: times, IDs, addresses and sizes. */
import type { Event, Pod } from '../../../src/client/kinds.ts'

/** An event as it is compared. */
export interface RecordedEvent {
  readonly type: string
  readonly reason: string
  readonly message: string
  readonly fieldPath?: string
  readonly component?: string
}

const replacements: readonly (readonly [pattern: RegExp, text: string])[] = [
  [/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, 'UID'],
  [/\b[0-9a-f]{64}\b/g, 'ID'],
  [/\b(?:127\.0\.0\.1|192\.0\.2\.1)\b/g, 'HOST-IP'],
  [/\b10\.88\.\d+\.\d+\b/g, 'POD-IP'],
  [/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|\+00:00)/g, 'TIME'],
  [/\b(?:\d+(?:\.\d+)?(?:ms|µs|s|m|h))+ \((?:\d+(?:\.\d+)?(?:ms|µs|s|m|h))+ including waiting\)/g, 'DURATION'],
  [/Image size: \d+ bytes/g, 'Image size: SIZE bytes'],
  [/\/tmp\/t8s-[\w-]+/g, 'FOLDER'],
  [/kube-api-access-[a-z0-9]{5}/g, 'kube-api-access-RANDOM'],
  // The resolver of the machine.
  [/(?:Head|Get) "https:\/\/registry\.invalid[^"]*": (?:dial tcp: (?:lookup|LOOKUP)|getaddrinfo).*/g, 'LOOKUP'],
  [/\b(?:containerd|typernetes):\/\//g, 'RUNTIME://'],
  // containerd adds the names of its own parts.
  [/failed to create containerd task: failed to create shim task: OCI runtime create failed: (.*): unknown/g, '$1'],
  [/pid=\d+|pid \d+/g, 'PID'],
]

const text = (value: string): string =>
  replacements.reduce((current, [pattern, replacement]) => current.replace(pattern, replacement), value)

/** A copy of a value whose texts are normalized. */
export function normalized(value: unknown): unknown {
  if (typeof value === 'string') return text(value)
  if (Array.isArray(value)) return value.map(normalized)
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(
    Object.entries(value)
      // containerd 1.6 does not report the users of containers.
      .filter(([name]) => name !== 'user')
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, member]) => [name, normalized(member)]),
  )
}

export const normalizedStatus = ({ status }: Pod): unknown => normalized({ ...status, ...withoutUnlimited(status) })

/** A cgroup of version 1 has a limit of memory, so large that it is none, once it exists. */
function withoutUnlimited(status: Pod['status']): Pod['status'] {
  const { limits: { memory, ...limits } = {}, ...resources } = status?.resources ?? {}
  if (memory !== '9007199254740988Ki') return {}
  return { resources: { ...resources, ...(Object.keys(limits).length > 0 && { limits }) } }
}

export const normalizedEvent = ({
  type = '',
  reason = '',
  message = '',
  involvedObject,
  source,
}: Event): RecordedEvent =>
  normalized({
    type,
    reason,
    message,
    ...(involvedObject.fieldPath && { fieldPath: involvedObject.fieldPath }),
    ...(source?.component && { component: source.component }),
  }) as RecordedEvent
