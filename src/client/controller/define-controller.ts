/**
 * Defines controllers as operators do: for a kind, with owned and watched kinds. They run on the same engine as
 * Typernetes' own controllers.
 */
import type { KubeObject } from '../../machinery/object.ts'
import { keyOf } from '../informers/informer.ts'
import { controllerOf } from '../objects/owners.ts'
import type { Resource } from '../resource.ts'
import type { ListOptions } from '../rest/rest-client.ts'
import { type Caches, type Controller, type ReconcileContext, reads, type WatchedKind, watch } from './controller.ts'
import type { Predicate } from './predicates.ts'

/** A selection of a kind's objects and of their changes. */
export interface Source<T extends KubeObject = KubeObject> {
  readonly resource: Resource<T>
  readonly selection?: ListOptions
  readonly when?: Predicate<T>
}

/** A kind whose changes queue keys of other objects: `keys` returns them (`namespace/name`, or a name). */
export interface MappedSource<T extends KubeObject = KubeObject> extends Source<T> {
  keys(object: T, caches: Caches): Iterable<string>
}

/**
 * Checks the types of a mapped source, for `watches`.
 * @example mapped({ resource: configMaps, keys: ({ metadata }) => [`${metadata.namespace}/fleet`] })
 */
export const mapped = <T extends KubeObject>(source: MappedSource<T>): MappedSource => source as unknown as MappedSource

/** The object to reconcile. It may be deleted. */
export interface ReconcileRequest {
  /** Empty for a cluster-scoped object. */
  readonly namespace: string
  readonly name: string
  readonly key: string
}

/** The result of `reconcile`; without one, the object is reconciled after its next change. */
export interface ReconcileResult {
  /** Requeues the object after so many ms, even if nothing changes. */
  readonly requeueAfterMs?: number
}

/** The kind that a controller reconciles, the kinds that it watches, and its `reconcile` function. */
export interface ControllerDefinition<T extends KubeObject> {
  /** Also the component of its events, and the name of its queue in metrics. */
  readonly name: string
  /** The kind to reconcile. */
  readonly for: Resource<T>
  /** Selects changes of that kind. Default: all. */
  readonly when?: Predicate<T>
  /** Selects objects of that kind. Default: all. */
  readonly selection?: ListOptions
  /** Kinds of dependents: a change of one reconciles its controller (`ownerReferences`) if that is of kind `for`. */
  readonly owns?: readonly (Resource | Source)[]
  readonly watches?: readonly MappedSource[]
  /** More kinds in its caches. */
  readonly reads?: readonly Resource[]
  /** Objects that are reconciled at the same time, never the same object twice. Default: 1. */
  readonly concurrency?: number
  /** Brings the object to its desired state. Must be idempotent. Retried with back-off if it rejects. */
  reconcile(request: ReconcileRequest, context: ReconcileContext): Promise<ReconcileResult | undefined> | Promise<void>
}

/**
 * Defines a controller, for `manager` or `runController`.
 * @example
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

/** An owner is in the namespace of its dependents, or cluster-scoped. */
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
