/** Scale: the replicas of a workload, as `/scale` reads and writes them. Never stored. */
import type { V1Scale } from '@kubernetes/client-node'
import type { Model } from '../../machinery/object.ts'
import { age, column, resource } from '../resource.ts'

export const scales = resource<Model<V1Scale>>({
  group: 'autoscaling',
  version: 'v1',
  kind: 'Scale',
  plural: 'scales',
  scope: 'Namespaced',
  virtual: true,
  columns: [
    column('Name', ({ metadata }) => metadata.name ?? '', { description: 'The name of the scaled object.' }),
    column('Desired', ({ spec }) => spec?.replicas ?? 0, {
      type: 'integer',
      description: 'The desired number of replicas.',
    }),
    column('Available', ({ status }) => status?.replicas ?? 0, {
      type: 'integer',
      description: 'The current number of replicas.',
    }),
    age,
  ],
})
