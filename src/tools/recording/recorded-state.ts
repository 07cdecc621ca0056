/** Turns a recording into the state of a store: the same objects under the same keys, with the same revisions. */
import { allResources } from '../../api/registry.ts'
import { writeJson } from '../../lib/exact-json.ts'
import { fleetConfigMapOf, upOwner } from '../../simulation/index.ts'
import type { StoreState } from '../../storage/state.ts'
import type { Entry } from '../../storage/store.ts'
import type { RecordedObject, Recording } from './recording-file.ts'

export interface RecordedState {
  readonly state: StoreState
  readonly objects: number
  /** The kinds that the state lacks, each with the number of objects and the reason. */
  readonly omitted: readonly string[]
}

/** Groups of API servers behind this one are omitted: there is no server to ask. */
export function recordedState({ objects }: Recording): RecordedState {
  const custom = new Set(objects.flatMap((recorded) => customResourceOf(recorded) ?? []))
  const omitted = new Map<string, number>()
  const skip = (what: string): void => void omitted.set(what, (omitted.get(what) ?? 0) + 1)
  const entries: Entry[] = []
  for (const recorded of objects) {
    const path = storagePathOf(recorded, custom)
    if (path === undefined) skip(`${nameOf(recorded)}: this server does not have them`)
    else if (isRemote(recorded)) skip(`${nameOf(recorded)} of other servers: none of them runs here`)
    else if (isFleet(recorded)) skip(`${nameOf(recorded)} that number simulated nodes: the nodes stay as they are`)
    else entries.push(entryOf(recorded, path))
  }
  // As in the store; Node's order of strings is that of UTF-16.
  entries.sort((a, b) => Buffer.compare(Buffer.from(a.key), Buffer.from(b.key)))
  const revision = entries.reduce((highest, entry) => Math.max(highest, entry.revision), 1)
  return {
    state: { revision, portions: () => portionsOf(entries) },
    objects: entries.length,
    omitted: [...omitted].map(([what, count]) => `${count} ${what}`),
  }
}

const entriesPerPortion = 500

async function* portionsOf(entries: readonly Entry[]): AsyncGenerator<readonly Entry[]> {
  for (let at = 0; at < entries.length; at += entriesPerPortion) yield entries.slice(at, at + entriesPerPortion)
}

const nameOf = ({ group, plural }: RecordedObject): string => (group ? `${plural}.${group}` : plural)

function customResourceOf({ group, plural, object }: RecordedObject): string | undefined {
  if (group !== 'apiextensions.k8s.io' || plural !== 'customresourcedefinitions') return undefined
  return object.metadata.name
}

/** An APIService that another server answers for. */
function isRemote({ group, plural, object }: RecordedObject): boolean {
  if (group !== 'apiregistration.k8s.io' || plural !== 'apiservices') return false
  const { spec } = object as { readonly spec?: { readonly service?: unknown } }
  return spec?.service !== undefined && spec.service !== null
}

/** The number of nodes that t8s up simulates. A cluster that reads it creates and deletes nodes. */
function isFleet({ group, plural, object: { metadata } }: RecordedObject): boolean {
  const { namespace, name } = fleetConfigMapOf(upOwner)
  return group === '' && plural === 'configmaps' && metadata.namespace === namespace && metadata.name === name
}

/** The part of the key between `/registry/` and the namespace or name; undefined for unknown resources. */
function storagePathOf(recorded: RecordedObject, custom: ReadonlySet<string>): string | undefined {
  const { group, plural } = recorded
  if (custom.has(nameOf(recorded))) return `${group}/${plural}`
  const known = allResources.find((resource) => resource.group === group && resource.plural === plural)
  return known && (known.storagePath ?? known.plural)
}

function entryOf({ object }: RecordedObject, path: string): Entry {
  const { apiVersion, kind, metadata, ...rest } = object
  const { resourceVersion, ...stored } = metadata
  const namespace = metadata.namespace ? `${metadata.namespace}/` : ''
  const revision = Number(resourceVersion)
  return {
    key: `/registry/${path}/${namespace}${metadata.name}`,
    revision: Number.isSafeInteger(revision) && revision > 0 ? revision : 1,
    value: Buffer.from(writeJson({ kind, apiVersion, metadata: stored, ...rest })),
  }
}
