/** ResourceSlices: devices that drivers publish. */
import type { V1ResourceSlice } from '@kubernetes/client-node'
import type { Model } from '../../machinery/object.ts'
import { all, immutable } from '../../machinery/validation/field-rules.ts'
import { additionalVersion } from '../additional-version.ts'
import { age, column, name, resource } from '../resource.ts'
import { sliceFromV1beta1, sliceToV1beta1 } from './flat-requests.ts'
import { sliceRules } from './rules/slices.ts'

type ResourceSlice = Model<V1ResourceSlice>

export const resourceSlices = resource<ResourceSlice>({
  group: 'resource.k8s.io',
  version: 'v1',
  kind: 'ResourceSlice',
  plural: 'resourceslices',
  scope: 'Cluster',
  deletion: { returnsObject: true },
  generation: 'spec',
  selectableFields: { 'spec.nodeName': ({ spec }) => spec?.nodeName, 'spec.driver': ({ spec }) => spec?.driver },
  validate: {
    create: ({ spec }) => sliceRules(spec),
    update: ({ spec }, { spec: old }) =>
      all(
        sliceRules(spec, old),
        immutable(spec?.pool?.name, 'spec.pool.name', old?.pool?.name),
        immutable(spec.driver, 'spec.driver', old.driver),
        immutable(spec.nodeName, 'spec.nodeName', old.nodeName),
      ),
  },
  warnings: ({ spec: { driver = '' } = {} }) =>
    driver === driver.toLowerCase()
      ? []
      : [`spec.driver: driver names should be lowercase; ${JSON.stringify(driver)} contains uppercase characters`],
  columns: [
    name,
    column('Node', ({ spec }) => spec?.nodeName ?? (spec?.allNodes ? '<all nodes>' : ''), {
      description: 'The node with the devices.',
    }),
    column('Driver', ({ spec }) => spec?.driver ?? '', { description: 'The driver of the devices.' }),
    column('Pool', ({ spec }) => spec?.pool?.name ?? '', { description: 'The pool of the devices.' }),
    age,
  ],
})

export const betaResourceSlices = [
  additionalVersion(resourceSlices, 'v1beta2', 'V1beta2ResourceSlice'),
  additionalVersion(resourceSlices, 'v1beta1', 'V1beta1ResourceSlice', {
    toStorage: sliceFromV1beta1,
    fromStorage: sliceToV1beta1,
  }),
]
