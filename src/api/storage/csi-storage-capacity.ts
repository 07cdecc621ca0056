/** CSIStorageCapacities: the available capacity of a driver, for a StorageClass and a topology segment. */

import type { V1CSIStorageCapacity } from '@kubernetes/client-node'
import type { Model } from '../../machinery/object.ts'
import { validateLabelSelector } from '../../machinery/selectors/label-selector.ts'
import { type FieldError, invalidValue } from '../../machinery/validation/field-error.ts'
import { all, follows, immutable } from '../../machinery/validation/field-rules.ts'
import { labelSelector } from '../../machinery/validation/internal-type.ts'
import { dnsSubdomain } from '../../machinery/validation/names.ts'
import { nodeLabelSelectorWarnings } from '../core/cluster/node-labels.ts'
import { resource } from '../resource.ts'

type Capacity = Model<V1CSIStorageCapacity>

export const csiStorageCapacities = resource<Capacity>({
  group: 'storage.k8s.io',
  version: 'v1',
  kind: 'CSIStorageCapacity',
  plural: 'csistoragecapacities',
  scope: 'Namespaced',
  requiresVersionOnUpdate: true,
  warnings: ({ nodeTopology }) => nodeLabelSelectorWarnings(nodeTopology, 'nodeTopology'),
  validate: {
    object: capacityRules,
    update: (capacity, old) =>
      all(
        immutable(capacity.nodeTopology, 'nodeTopology', old.nodeTopology, labelSelector),
        immutable(capacity.storageClassName ?? '', 'storageClassName', old.storageClassName ?? ''),
      ),
  },
})

function capacityRules({
  storageClassName,
  nodeTopology,
  capacity,
  maximumVolumeSize,
}: Capacity): readonly FieldError[] {
  const errors = [
    ...validateLabelSelector(nodeTopology, 'nodeTopology'),
    ...follows(storageClassName ?? '', 'storageClassName', dnsSubdomain),
  ]
  for (const [field, quantity] of [
    ['capacity', capacity],
    ['maximumVolumeSize', maximumVolumeSize],
  ] as const)
    if (quantity?.startsWith('-')) errors.push(invalidValue(field, quantity, 'must be greater than or equal to 0'))
  return errors
}
