/** Finds the owners to reconcile when one of their objects changes. */
import type { Caches } from '../../../client/controller/controller.ts'
import { keyOf } from '../../../client/informers/informer.ts'
import { controllerOf } from '../../../client/objects/owners.ts'
import type { Resource } from '../../../client/resource.ts'
import type { KubeObject } from '../../../machinery/object.ts'

/**
 * Yields the keys of the owners of an object: its controller, if that has the kind and the uid of the reference. For an
 * orphan these are all owners whose selector matches it, because one of them may adopt it.
 */
export function* ownerKeys<Owner extends KubeObject>(
  object: KubeObject,
  caches: Caches,
  owners: Resource<Owner>,
  selects: (owner: Owner, object: KubeObject) => boolean,
): Generator<string> {
  const { namespace = '' } = object.metadata
  const reference = controllerOf(object)
  if (reference) {
    if (reference.kind !== owners.kind) return
    const owner = caches.get(owners, namespace, reference.name)
    if (owner && owner.metadata.uid === reference.uid) yield keyOf(owner)
    return
  }
  for (const owner of caches.in(owners, namespace)) if (selects(owner, object)) yield keyOf(owner)
}
