/** internal.apiserver.k8s.io: the storage versions of each API server of a cluster. Alpha. */
import type { V1alpha1StorageVersion } from '@kubernetes/client-node'
import type { Model } from '../../machinery/object.ts'
import { age, column, name, resource } from '../resource.ts'

export const storageVersions = resource<Model<V1alpha1StorageVersion>>({
  group: 'internal.apiserver.k8s.io',
  version: 'v1alpha1',
  kind: 'StorageVersion',
  plural: 'storageversions',
  model: 'V1alpha1StorageVersion',
  scope: 'Cluster',
  subresources: { status: true },
  resetFields: { status: ['metadata', 'spec'] },
  requiresVersionOnUpdate: true,
  enabledByDefault: false,
  columns: [
    name,
    column('CommonEncodingVersion', ({ status }) => status?.commonEncodingVersion ?? '<unset>', {
      description: 'The version that all servers store, if it is the same.',
    }),
    column(
      'StorageVersions',
      ({ status }) =>
        (status?.storageVersions ?? [])
          .map(({ apiServerID, encodingVersion }) => `${apiServerID}=${encodingVersion}`)
          .join(',') || '<unset>',
      { description: 'The version that each server stores.' },
    ),
    age,
  ],
})

export const resources = [storageVersions]
