/** PersistentVolumeClaims: what a user asks of storage. */
import type { V1PersistentVolumeClaim } from '@kubernetes/client-node'
import { semanticallyEqual } from '../../../machinery/equality.ts'
import type { Model } from '../../../machinery/object.ts'
import { type FieldError, forbiddenField } from '../../../machinery/validation/field-error.ts'
import { valid } from '../../../machinery/validation/field-rules.ts'
import { compareQuantities } from '../../../machinery/values/quantity.ts'
import { nullTimes } from '../../nulls.ts'
import { accessModesText } from '../../printing/access-modes.ts'
import { age, column, name, resource, wide } from '../../resource.ts'
import { resourceListDefaults } from '../quota/resource-list.ts'
import { classAnnotation } from './binding/storage-class.ts'
import { type ClaimSpec, claimSpec } from './claim-rules.ts'
import { claimSpecWarnings, classAnnotationWarnings } from './claim-warnings.ts'

type Claim = Model<V1PersistentVolumeClaim>

/** What the API fills in on a claim's spec. */
export function claimSpecDefaults(spec: ClaimSpec): void {
  spec.volumeMode ??= 'Filesystem'
  spec.resources ??= {}
  const resources = spec.resources
  resourceListDefaults(resources.requests)
  resourceListDefaults(resources.limits)
}

function claimDefaults(claim: Claim): void {
  claim.spec ??= {}
  claimSpecDefaults(claim.spec)
  claim.status ??= {}
  const status = claim.status
  status.phase ||= 'Pending'
  resourceListDefaults(status.capacity)
  resourceListDefaults(status.allocatedResources)
  if (status.conditions) nullTimes(status.conditions, 'lastProbeTime', 'lastTransitionTime')
}

/** `dataSource` and `dataSourceRef` say the same, whichever was given. */
function mirrorDataSource({ spec }: Claim): void {
  if (!spec) return
  if (spec.dataSource && !spec.dataSourceRef) spec.dataSourceRef = { ...spec.dataSource }
  else if (spec.dataSourceRef && !spec.dataSource && !spec.dataSourceRef.namespace) {
    const { apiGroup, kind, name } = spec.dataSourceRef
    if (kind === 'PersistentVolumeClaim' || kind === 'VolumeSnapshot') spec.dataSource = { ...(apiGroup && { apiGroup }), kind, name }
  }
}

const className = ({ metadata, spec }: Claim): string => metadata.annotations?.[classAnnotation] ?? spec?.storageClassName ?? ''

/** Once there, a claim's spec stays, but for a bound claim's size and its attributes class; a late default class and binding are fine. */
function specUpdate({ spec = {}, status }: Claim, { spec: old = {}, status: oldStatus }: Claim): readonly FieldError[] {
  const rest: ClaimSpec = { ...spec, volumeAttributesClassName: old.volumeAttributesClassName }
  if (!old.volumeName && rest.volumeName) rest.volumeName = old.volumeName
  if (old.storageClassName === undefined && rest.storageClassName !== undefined) rest.storageClassName = old.storageClassName
  if (oldStatus?.phase === 'Bound')
    rest.resources = {
      ...rest.resources,
      requests: { ...rest.resources?.requests, ...(old.resources?.requests?.storage !== undefined && { storage: old.resources.requests.storage }) },
    }
  if (!semanticallyEqual(rest, old))
    return [forbiddenField('spec', 'spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims\n')]
  const size = spec.resources?.requests?.storage
  const before = old.resources?.requests?.storage
  const least = status?.capacity?.storage
  if (size !== undefined && before !== undefined && compareQuantities(size, before) < 0 && (least === undefined || compareQuantities(size, least) <= 0))
    return [
      forbiddenField(
        'spec.resources.requests.storage',
        least === undefined ? 'field can not be less than status.capacity' : 'field can not be less than previous value',
      ),
    ]
  return valid
}

export const persistentVolumeClaims = resource<Claim>({
  group: '',
  version: 'v1',
  kind: 'PersistentVolumeClaim',
  plural: 'persistentvolumeclaims',
  shortNames: ['pvc'],
  scope: 'Namespaced',
  subresources: { status: true },
  defaults: [claimDefaults],
  prepare: {
    create: (claim) => {
      claim.status = { phase: 'Pending' }
      mirrorDataSource(claim)
    },
    update: mirrorDataSource,
  },
  validate: { object: ({ spec = {} }) => claimSpec(spec, 'spec'), update: specUpdate },
  warnings: ({ metadata, spec }) => [...classAnnotationWarnings(metadata), ...claimSpecWarnings(spec ?? {}, 'spec')],
  selectableFields: { name: ({ metadata }) => metadata.name },
  columns: [
    name,
    column('Status', ({ metadata, status }) => (metadata.deletionTimestamp ? 'Terminating' : (status?.phase ?? '')), {
      description: 'Whether it has found a volume.',
    }),
    column('Volume', ({ spec }) => spec?.volumeName ?? '', { description: 'The volume that it is bound to.' }),
    column('Capacity', ({ spec, status }) => (spec?.volumeName ? (status?.capacity?.storage ?? '0') : ''), { description: 'The size of the volume.' }),
    column('Access Modes', ({ spec, status }) => (spec?.volumeName ? accessModesText(status?.accessModes) : ''), {
      description: 'How the volume can be mounted.',
    }),
    column('StorageClass', className, { description: 'The class of storage that it asks for.' }),
    column('VolumeAttributesClass', ({ spec }) => spec?.volumeAttributesClassName ?? '<unset>', { description: 'The class of attributes that it asks for.' }),
    age,
    wide('VolumeMode', ({ spec }) => spec?.volumeMode ?? '<unset>', { description: 'Whether it wants a file system or a block device.' }),
  ],
  deletion: { returnsObject: true },
})
