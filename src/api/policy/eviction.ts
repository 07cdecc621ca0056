/** Eviction: the wish to delete a pod if its budgets allow it. What is posted to `pods/NAME/eviction`, never stored. */
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
  // kubectl before 1.22 drains with it.
  acceptedBodyVersions: ['policy/v1beta1'],
})
