/** A ResourceQuota as it is held against what is written. */
import type { V1ResourceQuota } from '@kubernetes/client-node'
import type { ResourceList } from '../../../api/core/quota/resource-list.ts'
import type { KubeObject, Model } from '../../../machinery/object.ts'
import type { StoredObject } from '../../registry/stored-object.ts'
import type { Evaluator, Scope } from './evaluators.ts'

export interface Quota {
  readonly namespace: string
  readonly name: string
  readonly uid: string
  readonly revision: number
  /** What it shall limit. */
  readonly wanted: ResourceList
  /** What it limits: `wanted`, once what is used of it has been counted. */
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
    wanted: spec?.hard ?? {},
    hard: status?.hard ?? {},
    used: status?.used ?? {},
    scopes: [
      ...(spec?.scopes ?? []).map((scopeName) => ({ scopeName, operator: 'Exists' })),
      ...(spec?.scopeSelector?.matchExpressions ?? []),
    ],
  }
}

/** Whether an object is in all of a quota's scopes. */
export const coversObject = ({ scopes }: Quota, { inScope }: Evaluator, object: KubeObject): boolean =>
  scopes.every((scope) => inScope?.(scope, object) ?? false)
