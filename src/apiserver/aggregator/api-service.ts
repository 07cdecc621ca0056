/** The APIService type, and the Available condition that the aggregator writes. */

import type { V1APIService, V1APIServiceCondition } from '@kubernetes/client-node'
import type { ServedVersion } from '../../api/registry.ts'
import type { Model, Wire } from '../../machinery/object.ts'
import type { ServiceReference } from '../outgoing/index.ts'

export type GroupVersion = Pick<ServedVersion, 'group' | 'version'>
export type APIService = Model<V1APIService>
export type Condition = Wire<V1APIServiceCondition>

/** `v1.apps`; the core group's is `v1.`. */
export const apiServiceName = ({ group, version }: GroupVersion): string => `${version}.${group}`

/** The Service behind a group version; undefined for local ones. */
export function serviceOf({ spec }: APIService): ServiceReference | undefined {
  const { namespace, name, port = 443 } = spec?.service ?? {}
  return namespace && name ? { namespace, name, port } : undefined
}

export const availableCondition = ({ status }: APIService): Condition | undefined =>
  status?.conditions?.find(({ type }) => type === 'Available')

export const isAvailable = (service: APIService): boolean => availableCondition(service)?.status === 'True'

/** The result of a check: the condition without its time. */
export interface Verdict {
  readonly status: 'True' | 'False' | 'Unknown'
  readonly reason: string
  readonly message: string
}

export const localVerdict: Verdict = {
  status: 'True',
  reason: 'Local',
  message: 'Local APIServices are always available',
}

/**
 * Returns the conditions with the verdict set; undefined if they need no change. lastTransitionTime changes only with
 * the status.
 */
export function withVerdict(
  service: APIService,
  { status, reason, message }: Verdict,
  now: string,
): Condition[] | undefined {
  const old = availableCondition(service)
  if (old?.status === status && old.reason === reason && old.message === message) return undefined
  const lastTransitionTime = old?.status === status && old.lastTransitionTime ? old.lastTransitionTime : now
  const others = (service.status?.conditions ?? []).filter(({ type }) => type !== 'Available')
  return [...others, { type: 'Available', status, lastTransitionTime, reason, message }]
}
