/** storagemigration.k8s.io: rewrites stored objects in the current storage version. Beta. */
import type { V1beta1StorageVersionMigration } from '@kubernetes/client-node'
import type { Model } from '../../machinery/object.ts'
import { required } from '../../machinery/validation/field-error.ts'
import { immutable } from '../../machinery/validation/field-rules.ts'
import { age, column, name, resource } from '../resource.ts'

export const storageVersionMigrations = resource<Model<V1beta1StorageVersionMigration>>({
  group: 'storagemigration.k8s.io',
  version: 'v1beta1',
  kind: 'StorageVersionMigration',
  plural: 'storageversionmigrations',
  model: 'V1beta1StorageVersionMigration',
  scope: 'Cluster',
  subresources: { status: true },
  resetFields: { status: ['metadata', 'spec'] },
  generation: 'spec',
  requiresVersionOnUpdate: true,
  enabledByDefault: false,
  validate: {
    object: ({ spec }) =>
      spec?.resource?.resource ? [] : [required('spec.resource.resource', 'resource is required')],
    update: ({ spec }, { spec: old }) => immutable(spec, 'spec', old),
  },
  columns: [
    name,
    column(
      'Resource',
      ({ spec }) =>
        spec?.resource.group ? `${spec.resource.resource}.${spec.resource.group}` : (spec?.resource.resource ?? ''),
      {
        description: 'The migrated resource.',
      },
    ),
    column('Status', ({ status }) => status?.conditions?.find(({ status: value }) => value === 'True')?.type ?? '', {
      description: 'The state of the migration.',
    }),
    age,
  ],
})

export const resources = [storageVersionMigrations]
