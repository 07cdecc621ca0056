/** The history of each object, and who wrote its versions. */
import type { TraceData, TracedObject, TracedRequest, TracedVersion } from '../../trace-data.ts'

export interface Version {
  /** `base` is the version before the trace. */
  readonly type: 'base' | 'put' | 'delete'
  readonly revision: number
  /** In ms since 1970; undefined for `base`. */
  readonly time?: number
  readonly object?: ObjectLike
  /** Why there is no object. */
  readonly omitted?: string
  /** The request that wrote it, if it was found. */
  readonly request?: TracedRequest
  /** The field managers whose entries this version has changed. */
  readonly managers: readonly string[]
}

export interface History {
  /** `RESOURCE.GROUP/NAMESPACE/NAME` */
  readonly key: string
  readonly group: string
  readonly resource: string
  readonly kind: string
  readonly namespace: string
  readonly name: string
  readonly versions: readonly Version[]
  readonly isChanged: boolean
}

/** The fields of an object that the page reads. */
export interface ObjectLike {
  readonly apiVersion?: string
  readonly kind?: string
  readonly metadata?: {
    readonly name?: string
    readonly uid?: string
    readonly deletionTimestamp?: string
    readonly finalizers?: readonly string[]
    readonly managedFields?: readonly ManagedFields[]
  }
}

interface ManagedFields {
  readonly manager?: string
  readonly operation?: string
  readonly subresource?: string
}

type ObjectName = Pick<TracedObject, 'group' | 'resource' | 'namespace' | 'name'>

export const keyOf = ({ group, resource, namespace, name }: ObjectName): string =>
  `${group ? `${resource}.${group}` : resource}/${namespace}/${name}`

/** Returns histories by key, sorted by kind, namespace and name. */
export function historiesOf({ objects, versions, requests }: TraceData): Map<string, History> {
  const found = new Map<string, { first: TracedObject; versions: Version[] }>()
  for (const object of objects)
    found.set(keyOf(object), { first: object, versions: [versionOf(object, 'base', undefined, undefined)] })
  const writers = new Writers(requests)
  for (const version of versions) {
    const key = keyOf(version)
    const history = found.get(key) ?? { first: version, versions: [] }
    found.set(key, history)
    const previous = history.versions.at(-1)
    history.versions.push(versionOf(version, version.type, previous, writers.find(version)))
  }
  const histories = [...found].map(([key, { first, versions: all }]): History => {
    const { group, resource, namespace, name } = first
    const kind = all.find(({ object }) => object?.kind)?.object?.kind ?? resource
    return { key, group, resource, kind, namespace, name, versions: all, isChanged: all.at(-1)?.type !== 'base' }
  })
  const order = (one: History): string => [one.kind, one.group, one.namespace, one.name].join('\0')
  histories.sort((a, b) => (order(a) < order(b) ? -1 : 1))
  return new Map(histories.map((history) => [history.key, history]))
}

function versionOf(
  from: TracedObject | TracedVersion,
  type: Version['type'],
  previous: Version | undefined,
  request: TracedRequest | undefined,
): Version {
  const object = from.object as ObjectLike | undefined
  return {
    type,
    revision: from.revision,
    ...('time' in from && { time: from.time }),
    ...(object && { object }),
    ...(from.omitted && { omitted: from.omitted }),
    ...(request && { request }),
    managers: type === 'put' ? changedManagers(previous?.object, object) : [],
  }
}

function changedManagers(before: ObjectLike | undefined, after: ObjectLike | undefined): string[] {
  const known = new Set(before?.metadata?.managedFields?.map((entry) => JSON.stringify(entry)))
  const changed = after?.metadata?.managedFields?.filter((entry) => !known.has(JSON.stringify(entry))) ?? []
  return [...new Set(changed.map(({ manager = '?', operation }) => `${manager} (${operation})`))]
}

const writeVerbs: ReadonlySet<string> = new Set(['create', 'update', 'patch', 'delete', 'deletecollection'])
/** Clocks of the two recordings differ by rounding, and commits are seen a little later. */
const toleranceMs = 20

/** Finds the requests that wrote versions. */
class Writers {
  readonly #byName = new Map<string, TracedRequest[]>()

  constructor(requests: readonly TracedRequest[]) {
    for (const request of requests) {
      if (!writeVerbs.has(request.verb) || request.code >= 300) continue
      const key = nameKey(request.resource, request.namespace, request.verb === 'deletecollection' ? '' : request.name)
      const list = this.#byName.get(key)
      if (list) list.push(request)
      else this.#byName.set(key, [request])
    }
  }

  find({ resource, namespace, name, revision, time, type }: TracedVersion): TracedRequest | undefined {
    const named = this.#byName.get(nameKey(resource, namespace, name)) ?? []
    const exact = named.find(({ wrote }) => wrote === revision)
    if (exact) return exact
    const others = [...named, ...(this.#byName.get(nameKey(resource, namespace, '')) ?? [])]
    return others.findLast(
      ({ wrote, verb, time: begin, durationMs = 0 }) =>
        (wrote === undefined || (type === 'delete' && verb === 'delete')) &&
        begin - toleranceMs <= time &&
        time <= begin + durationMs + toleranceMs,
    )
  }
}

const nameKey = (resource: string, namespace: string, name: string): string => `${resource}/${namespace}/${name}`
