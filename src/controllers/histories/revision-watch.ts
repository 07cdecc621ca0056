/**
 * The watch on revisions of sets. A revision that a set has created needs no reconcile; one that was released or
 * deleted, or that may be adopted, does.
 */
import { type ReconcileContext, type WatchedKind, watch } from '../../client/controller/controller.ts'
import { type ControllerRevision, controllerRevisions } from '../../client/kinds.ts'
import { controllerOf } from '../../client/objects/owners.ts'
import type { Resource } from '../../client/resource.ts'
import type { KubeObject } from '../../machinery/object.ts'
import { ownerKeys } from '../pods/owners/owner-keys.ts'

export const watchedRevisions = <Owner extends KubeObject>(
  owners: Resource<Owner>,
  selects: (owner: Owner, object: KubeObject) => boolean,
): WatchedKind =>
  watch({
    resource: controllerRevisions,
    keys: () => [],
    onChange(
      revision: ControllerRevision | undefined,
      old: ControllerRevision | undefined,
      { caches, requeue }: ReconcileContext,
    ) {
      if (!old && revision && controllerOf(revision)) return
      for (const state of [revision, old])
        if (state) for (const key of ownerKeys(state, caches, owners, selects)) requeue(key)
    },
  })
