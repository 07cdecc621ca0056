/**
 * Controllers as authors of operators write them: for a kind, owning others, watching more, on the engine that
 * Typernetes' own controllers run on.
 */
import type { KubeObject } from '../../machinery/object.ts'
import { keyOf } from '../informers/informer.ts'
import { controllerOf } from '../objects/owners.ts'
import type { Resource } from '../resource.ts'
import type { ListOptions } from '../rest/rest-client.ts'
import { type Caches, type Controller, type ReconcileContext, reads, type WatchedKind, watch } from './controller.ts'
import type { Predicate } from './predicates.ts'

/** A part of a kind's objects, and of their changes. */
export interface Source<T extends KubeObject = KubeObject> {
  readonly resource: Resource<T>
  readonly selection?: ListOptions
  readonly when?: Predicate<T>
}

/** A kind whose objects concern others: `keys` says which (`namespace/name`, or a name). */
export interface MappedSource<T extends KubeObject = KubeObject> extends Source<T> {
  keys(object: T, caches: Caches): Iterable<string>
}

/** Ties the type of the objects together, for `watches`. */
export const mapped = <T extends KubeObject>(source: MappedSource<T>): MappedSource => source as unknown as MappedSource

/** Which object is to be looked at. It may have gone. */
export interface ReconcileRequest {
  /** Empty for what has none. */
  readonly namespace: string
  readonly name: string
  readonly key: string
}

export interface ReconcileResult {
  /** The object is looked at again after so many ms, even if nothing changes. */
  readonly requeueAfterMs?: number
}

export interface ControllerDefinition<T extends KubeObject> {
  /** Also who tells its events, and what its queue is called in metrics. */
  readonly name: string
  /** What it looks after. */
  readonly for: Resource<T>
  /** Which changes of that count; all unless said. */
  readonly when?: Predicate<T>
  /** Which objects of that count; all unless said. */
  readonly selection?: ListOptions
  /**
   * What it makes: when one changes whose controller (`ownerReferences`) is of the kind that it is for, that is looked
   * at.
   */
  readonly owns?: readonly (Resource | Source)[]
  readonly watches?: readonly MappedSource[]
  /** What is in its caches beside that. */
  readonly reads?: readonly Resource[]
  /** Objects that are looked at at once; 1 unless said. One object is never looked at by two. */
  readonly concurrency?: number
  /**
   * Brings the object to where it should be. Called again, later and later, when it rejects; and whenever something
   * changes.
   */
  reconcile(request: ReconcileRequest, context: ReconcileContext): Promise<ReconcileResult | undefined> | Promise<void>
}

/**
 * A controller for `manager` or `runController`.
 *
 * ```ts
 * controller({
 *   name: 'fleet',
 *   for: fleets,
 *   owns: [deployments],
 *   async reconcile({ namespace, name }, { caches, client, events }) {
 *     const fleet = caches.get(fleets, namespace, name)
 *     if (!fleet) return
 *     await client.apply(deployments, deploymentOf(fleet), 'fleet')
 *   },
 * })
 * ```
 */
export function controller<T extends KubeObject>(definition: ControllerDefinition<T>): Controller {
  const { name, selection, when, owns = [], watches = [], concurrency } = definition
  const main = watch({ resource: definition.for, selection, when })
  return {
    name,
    concurrency,
    watches: [
      main,
      ...owns.map((owned) => ownedBy(definition.for, owned)),
      ...watches,
      ...(definition.reads ?? []).map((resource) => reads(resource)),
    ],
    async reconcile(key, context) {
      const [first = '', second] = key.split('/')
      const request =
        second === undefined ? { namespace: '', name: first, key } : { namespace: first, name: second, key }
      const result = await definition.reconcile(request, context)
      if (result?.requeueAfterMs !== undefined) context.requeue(key, result.requeueAfterMs)
    },
  }
}

/** An owner is in the namespace of what it owns, or in none. */
function ownedBy(owner: Resource, owned: Resource | Source): WatchedKind {
  const source = 'resource' in owned ? owned : { resource: owned }
  return watch({
    ...source,
    keys: (object: KubeObject) => {
      const reference = controllerOf(object)
      const [, group = ''] = reference?.apiVersion.split('/').reverse() ?? []
      if (reference?.kind !== owner.kind || group !== owner.group) return []
      const namespace = owner.namespaced ? object.metadata.namespace : undefined
      return [keyOf({ ...object, metadata: { namespace, name: reference.name } })]
    },
  })
}
