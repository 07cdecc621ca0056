/**
 * The objects of a list or a watch: a kind, in one namespace or all, with one value of the label `shard` or any, or one
 * name.
 */
import type { ObjectKey } from './checker/history.ts'
import { collectionPath, type Kind } from './objects.ts'

export interface Scope {
  readonly kind: Kind
  readonly namespace?: string
  readonly shard?: number
  readonly name?: string
}

/** Returns true if an object in this state is in the scope. */
export const inScope = (scope: Scope, key: ObjectKey, shard: number): boolean =>
  key.kind === scope.kind &&
  (scope.namespace === undefined || key.namespace === scope.namespace) &&
  (scope.shard === undefined || shard === scope.shard) &&
  (scope.name === undefined || key.name === scope.name)

/** Returns true if the scope has a label selector: then DELETED may mean that an object no longer matches. */
export const isSelective = ({ shard }: Scope): boolean => shard !== undefined

export function pathOf({ kind, namespace, shard, name }: Scope, query: Readonly<Record<string, string>>): string {
  const parameters = new URLSearchParams(query)
  if (shard !== undefined) parameters.set('labelSelector', `shard=${shard}`)
  if (name !== undefined) parameters.set('fieldSelector', `metadata.name=${name}`)
  return `${collectionPath(kind, namespace)}?${parameters}`
}

export const showScope = ({ kind, namespace, shard, name }: Scope): string =>
  [
    kind,
    ...(namespace ? [`in ${namespace}`] : []),
    ...(shard === undefined ? [] : [`with shard=${shard}`]),
    ...(name ? [`named ${name}`] : []),
  ].join(' ')
