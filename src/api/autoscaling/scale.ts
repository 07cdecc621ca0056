/** Scale: the replicas of any workload, as its `/scale` shows them. A form of other resources, never stored. */
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
    column('Name', ({ metadata }) => metadata.name ?? '', { description: 'Name of the object that is scaled.' }),
    column('Desired', ({ spec }) => spec?.replicas ?? 0, { type: 'integer', description: 'Replicas that are wanted.' }),
    column('Available', ({ status }) => status?.replicas ?? 0, {
      type: 'integer',
      description: 'Replicas that are there.',
    }),
    age,
  ],
})
