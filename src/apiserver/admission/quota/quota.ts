/** A ResourceQuota, prepared for checks. */
import type { V1ResourceQuota } from '@kubernetes/client-node'
import type { ResourceList } from '../../../api/core/quota/resource-list.ts'
import type { KubeObject, Model } from '../../../machinery/object.ts'
import type { StoredObject } from '../../registry/stored-object.ts'
import type { Evaluator, Scope } from './usage/evaluators.ts'

export interface Quota {
  readonly namespace: string
  readonly name: string
  readonly uid: string
  readonly revision: number
  /** The limits of the spec. */
  readonly specHard: ResourceList
  /** The limits of the status: those of the spec, once usage has been counted. */
  readonly hard: ResourceList
  readonly used: ResourceList
  readonly scopes: readonly Scope[]
}

export function quotaOf(object: StoredObject): Quota {
  const { metadata, spec, status } = object.parse<Model<V1ResourceQuota>>()
  return {
    namespace: object.namespace,
    name: object.name,
    uid: metadata.uid ?? '',
    revision: object.revision,
    specHard: spec?.hard ?? {},
    hard: status?.hard ?? {},
    used: status?.used ?? {},
    scopes: [
      ...(spec?.scopes ?? []).map((scopeName) => ({ scopeName, operator: 'Exists' })),
      ...(spec?.scopeSelector?.matchExpressions ?? []),
    ],
  }
}

/** Returns true if an object is in all scopes of a quota. */
export const coversObject = ({ scopes }: Quota, { inScope }: Evaluator, object: KubeObject): boolean =>
  scopes.every((scope) => inScope?.(scope, object) ?? false)
