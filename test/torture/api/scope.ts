/**
 * What a list or a watch asks for: a kind, in one namespace or all, with one value of the label `shard` or any, or one
 * name.
 */
import type { ObjectKey } from './judge/history.ts'
import { collectionPath, type Kind } from './objects.ts'

export interface Scope {
  readonly kind: Kind
  readonly namespace?: string
  readonly shard?: number
  readonly name?: string
}

/** Whether an object in this state is asked for. */
export const inScope = (scope: Scope, key: ObjectKey, shard: number): boolean =>
  key.kind === scope.kind &&
  (scope.namespace === undefined || key.namespace === scope.namespace) &&
  (scope.shard === undefined || shard === scope.shard) &&
  (scope.name === undefined || key.name === scope.name)

/** Whether labels decide: then DELETED may mean that an object has left. */
export const isSelective = ({ shard }: Scope): boolean => shard !== undefined

export function pathOf({ kind, namespace, shard, name }: Scope, query: Readonly<Record<string, string>>): string {
  const parameters = new URLSearchParams(query)
  if (shard !== undefined) parameters.set('labelSelector', `shard=${shard}`)
  if (name !== undefined) parameters.set('fieldSelector', `metadata.name=${name}`)
  return `${collectionPath(kind, namespace)}?${parameters}`
}

export const showScope = ({ kind, namespace, shard, name }: Scope): string =>
  `${kind}${namespace ? ` in ${namespace}` : ''}${shard === undefined ? '' : ` with shard=${shard}`}${name ? ` named ${name}` : ''}`
