/** The objects that tokens are bound to, read from memory: the fields that decide on the validity of a token. */
import { after } from '../../../lib/flow/after.ts'
import type { ObjectMeta } from '../../../machinery/object.ts'
import type { Registry } from '../../registry/registry.ts'
import type { ServedResource } from '../../registry/served-resource.ts'
import type { StoredObject } from '../../registry/stored-object.ts'

/** An object that a token names. */
export interface BoundObject {
  readonly object: StoredObject
  readonly uid: string
  /** The time of deletion, ms since 1970; for pods, the end of their grace period. */
  readonly deletedMs: number | undefined
}

export type BoundKind = 'serviceaccounts' | 'secrets' | 'pods' | 'nodes'

/** Looks up an object. Returns a promise only for one that is not in memory. */
export type Lookup = (
  kind: BoundKind,
  namespace: string,
  name: string,
) => BoundObject | undefined | Promise<BoundObject | undefined>

export function lookupIn(registry: Registry, find: (key: string) => ServedResource): Lookup {
  const resources: Readonly<Record<BoundKind, ServedResource>> = {
    serviceaccounts: find('v1/serviceaccounts'),
    secrets: find('v1/secrets'),
    pods: find('v1/pods'),
    nodes: find('v1/nodes'),
  }
  // Each revision of an object is parsed once for all tokens that name it.
  const known = new WeakMap<StoredObject, BoundObject>()
  const factsOf = (object: StoredObject | undefined): BoundObject | undefined => {
    if (!object) return undefined
    let facts = known.get(object)
    if (!facts) known.set(object, (facts = read(object)))
    return facts
  }
  return (kind, namespace, name) => {
    const resource = resources[kind]
    return after(registry.lookUp(resource, resource.key(namespace, name)), factsOf)
  }
}

function read(object: StoredObject): BoundObject {
  const { uid = '', deletionTimestamp }: ObjectMeta = JSON.parse(object.metadata.toString())
  return { object, uid, deletedMs: deletionTimestamp === undefined ? undefined : Date.parse(deletionTimestamp) }
}
