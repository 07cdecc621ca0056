/** CSIDrivers: properties of a CSI driver. */
import type { V1CSIDriver } from '@kubernetes/client-node'
import type { Model } from '../../machinery/object.ts'
import { duplicate, type FieldError, invalidValue, notSupported } from '../../machinery/validation/field-error.ts'
import { duplicateFinder, immutable, oneOf } from '../../machinery/validation/field-rules.ts'
import { age, column, name, resource } from '../resource.ts'

type CSIDriver = Model<V1CSIDriver>

const lifecycleModes = ['Persistent', 'Ephemeral']

export const csiDrivers = resource<CSIDriver>({
  group: 'storage.k8s.io',
  version: 'v1',
  kind: 'CSIDriver',
  plural: 'csidrivers',
  scope: 'Cluster',
  requiresVersionOnUpdate: true,
  defaults: [driverDefaults],
  validate: {
    object: driverRules,
    update: ({ spec }, { spec: old }) => [
      // The misspelt field name is upstream's.
      ...immutable(spec.attachRequired, 'spec.attachedRequired', old.attachRequired),
      ...immutable(spec.volumeLifecycleModes, 'spec.volumeLifecycleModes', old.volumeLifecycleModes),
    ],
  },
  warnings: ({ spec }) =>
    spec.tokenRequests?.length && spec.serviceAccountTokenInSecrets === undefined
      ? [
          'spec.serviceAccountTokenInSecrets is unset; if supported by this CSI driver, set to true to prevent ' +
            'possible logging of tokens in volume attributes',
        ]
      : [],
  columns: [
    name,
    column('AttachRequired', ({ spec }) => spec.attachRequired ?? true, {
      type: 'boolean',
      description: 'Whether volumes must be attached to a node before they are mounted.',
    }),
    column('PodInfoOnMount', ({ spec }) => spec.podInfoOnMount ?? false, {
      type: 'boolean',
      description: 'Whether the driver gets information about the pod on mount.',
    }),
    column('StorageCapacity', ({ spec }) => spec.storageCapacity ?? false, {
      type: 'boolean',
      description: 'Whether the scheduler considers the available capacity.',
    }),
    column('TokenRequests', ({ spec }) => spec.tokenRequests?.map(({ audience }) => audience).join(',') ?? '<unset>', {
      description: 'The audiences of the service account tokens for the driver.',
    }),
    column('RequiresRepublish', ({ spec }) => spec.requiresRepublish ?? false, {
      type: 'boolean',
      description: 'Whether mounted volumes are republished periodically.',
    }),
    column('Modes', ({ spec }) => spec.volumeLifecycleModes?.join(',') || '<none>', {
      description: 'The supported volume lifecycle modes.',
    }),
    age,
  ],
  deletion: { returnsObject: true },
})

function driverDefaults(driver: CSIDriver): void {
  driver.spec ??= {}
  const { spec } = driver
  spec.attachRequired ??= true
  spec.podInfoOnMount ??= false
  spec.storageCapacity ??= false
  spec.fsGroupPolicy ??= 'ReadWriteOnceWithFSType'
  if (!spec.volumeLifecycleModes?.length) spec.volumeLifecycleModes = ['Persistent']
  spec.requiresRepublish ??= false
  spec.seLinuxMount ??= false
}

function driverRules({ spec }: CSIDriver): readonly FieldError[] {
  const errors = [...oneOf(spec.fsGroupPolicy, 'spec.fsGroupPolicy', ['File', 'None', 'ReadWriteOnceWithFSType'])]
  const isRepeated = duplicateFinder<string>()
  spec.tokenRequests?.forEach(({ audience, expirationSeconds }, at) => {
    if (isRepeated(audience)) {
      errors.push(duplicate(`spec.tokenRequests[${at}].audience`, audience))
      return
    }
    const field = `spec.tokenRequests[${at}].expirationSeconds`
    if (expirationSeconds !== undefined && expirationSeconds < 600)
      errors.push(invalidValue(field, expirationSeconds, 'may not specify a duration less than 10 minutes'))
    if (expirationSeconds !== undefined && expirationSeconds > 2 ** 32)
      errors.push(invalidValue(field, expirationSeconds, 'may not specify a duration larger than 2^32 seconds'))
  })
  for (const mode of spec.volumeLifecycleModes ?? [])
    if (!lifecycleModes.includes(mode)) errors.push(notSupported('spec.volumeLifecycleModes', mode, lifecycleModes))
  const period = spec.nodeAllocatableUpdatePeriodSeconds
  if (period !== undefined && period < 10)
    errors.push(
      invalidValue('spec.nodeAllocatableUpdatePeriodSeconds', period, 'must be greater than or equal to 10 seconds'),
    )
  if (spec.serviceAccountTokenInSecrets !== undefined && !spec.tokenRequests?.length)
    errors.push(
      invalidValue(
        'spec.serviceAccountTokenInSecrets',
        spec.serviceAccountTokenInSecrets,
        'serviceAccountTokenInSecrets is set but no tokenRequests are specified',
      ),
    )
  return errors
}
