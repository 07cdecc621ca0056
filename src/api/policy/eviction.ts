/** Eviction: deletes a pod if its disruption budgets allow it. Posted to `pods/NAME/eviction` and never stored. */
import type { V1Eviction } from '@kubernetes/client-node'
import type { Model } from '../../machinery/object.ts'
import { resource } from '../resource.ts'

export type Eviction = Model<V1Eviction>

export const evictions = resource<Eviction>({
  group: 'policy',
  version: 'v1',
  kind: 'Eviction',
  plural: 'evictions',
  scope: 'Namespaced',
  verbs: ['create'],
  virtual: true,
  // kubectl drain before 1.22 sends it.
  acceptedBodyVersions: ['policy/v1beta1'],
})
