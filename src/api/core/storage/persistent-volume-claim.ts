/** PersistentVolumeClaims: requests for storage. */
import type { V1PersistentVolumeClaim } from '@kubernetes/client-node'
import { semanticallyEqual } from '../../../machinery/equality.ts'
import type { Model } from '../../../machinery/object.ts'
import {
  type FieldError,
  forbiddenField,
  invalidValue,
  notSupported,
} from '../../../machinery/validation/field-error.ts'
import { all, follows, immutable, valid } from '../../../machinery/validation/field-rules.ts'
import { qualifiedName } from '../../../machinery/validation/names.ts'
import { compareQuantities, signOf, wholeValue } from '../../../machinery/values/quantity.ts'
import { nullMissingTimes } from '../../nulls.ts'
import { accessModesText } from '../../printing/access-modes.ts'
import { age, column, name, resource, wide } from '../../resource.ts'
import { isNativeResource, resourceListDefaults } from '../quota/resource-list.ts'
import { classAnnotation } from './binding/storage-class.ts'
import { type ClaimSpec, claimSpec } from './claim-rules.ts'
import { claimSpecWarnings, classAnnotationWarnings } from './claim-warnings.ts'

type Claim = Model<V1PersistentVolumeClaim>

/** Sets the defaults of a claim's spec. */
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
  if (status.conditions) nullMissingTimes(status.conditions, 'lastProbeTime', 'lastTransitionTime')
}

/**
 * Copies the set one of `dataSource` and `dataSourceRef` to the other. Sources other than claims and snapshots are
 * accepted in the newer field only (KEP-1495).
 */
function syncDataSources({ spec }: Claim, old?: Claim): void {
  if (!spec) return
  const hasSource = old?.spec?.dataSource || old?.spec?.dataSourceRef
  if (!hasSource && !spec.dataSourceRef && !isClaimOrSnapshot(spec.dataSource)) delete spec.dataSource
  if (spec.dataSource && !spec.dataSourceRef) spec.dataSourceRef = { ...spec.dataSource }
  else if (spec.dataSourceRef && !spec.dataSource && !spec.dataSourceRef.namespace) {
    const { apiGroup, kind, name } = spec.dataSourceRef
    spec.dataSource = { ...(apiGroup !== undefined && { apiGroup }), kind, name }
  }
}

const isClaimOrSnapshot = ({ apiGroup, kind }: Partial<NonNullable<ClaimSpec['dataSource']>> = {}): boolean =>
  (kind === 'PersistentVolumeClaim' && !apiGroup) ||
  (kind === 'VolumeSnapshot' && apiGroup === 'snapshot.storage.k8s.io')

const className = ({ metadata, spec }: Claim): string =>
  metadata.annotations?.[classAnnotation] ?? spec?.storageClassName ?? ''

/**
 * A claim's spec is immutable, except for a bound claim's size and attributes class, the binding, and a default class
 * that is set later.
 */
function specUpdate(
  { metadata, spec = {}, status }: Claim,
  { metadata: before, spec: old = {}, status: oldStatus }: Claim,
): readonly FieldError[] {
  const rest: ClaimSpec = { ...spec }
  const isBound = status?.phase === 'Bound'
  const annotated = before.annotations?.[classAnnotation]
  if (!old.volumeName && rest.volumeName) rest.volumeName = old.volumeName
  // The class may be set later, to that of the annotation or to the cluster's default.
  if (old.storageClassName === undefined && (annotated === undefined || rest.storageClassName === annotated))
    rest.storageClassName = old.storageClassName
  if (isBound) rest.volumeAttributesClassName = old.volumeAttributesClassName
  if (isBound)
    rest.resources = {
      ...rest.resources,
      requests: {
        ...rest.resources?.requests,
        ...(old.resources?.requests?.storage !== undefined && { storage: old.resources.requests.storage }),
      },
    }
  return all(
    metadata.annotations?.[classAnnotation] === annotated ||
      (annotated !== undefined && spec.storageClassName === annotated)
      ? valid
      : [
          invalidValue(
            `metadata.annotations[${classAnnotation}]`,
            metadata.annotations?.[classAnnotation] ?? '',
            'field is immutable',
          ),
        ],
    semanticallyEqual(rest, old)
      ? valid
      : [
          forbiddenField(
            'spec',
            'spec is immutable after creation except resources.requests and volumeAttributesClassName for bound ' +
              'claims\n',
          ),
        ],
    shrinks(spec, old, oldStatus)
      ? [forbiddenField('spec.resources.requests.storage', 'field can not be less than status.capacity')]
      : valid,
    immutable(spec.volumeMode, 'volumeMode', old.volumeMode),
    attributesUpdate(spec.volumeAttributesClassName, old.volumeAttributesClassName, oldStatus),
  )
}

/** Returns true if the size shrinks to the capacity or below. A failed expansion may be reduced to a size above it. */
function shrinks(spec: ClaimSpec, old: ClaimSpec, status: Claim['status']): boolean {
  const [size = '0', before = '0'] = [spec.resources?.requests?.storage, old.resources?.requests?.storage]
  return compareQuantities(size, before) < 0 && compareQuantities(size, status?.capacity?.storage ?? '0') <= 0
}

/** Rejects the removal of a class that was applied to the volume. */
function attributesUpdate(
  name: string | undefined,
  old: string | undefined,
  status: Claim['status'],
): readonly FieldError[] {
  if (name === old || name || status?.currentVolumeAttributesClassName === undefined) return valid
  const none = name === undefined ? 'nil' : 'empty string'
  return [
    forbiddenField(
      'spec.volumeAttributesClassName',
      `update to ${none} is forbidden when status.currentVolumeAttributesClassName is not nil`,
    ),
  ]
}

const resizeStatuses = [
  'ControllerResizeInfeasible',
  'ControllerResizeInProgress',
  'NodeResizeInfeasible',
  'NodeResizeInProgress',
  'NodeResizePending',
]

/** Validates a resource name in a claim's status: of the native ones, only storage is allowed. */
function statusName(name: string, path: string): readonly FieldError[] {
  const errors = follows(name, path, qualifiedName)
  return errors.length === 0 && isNativeResource(name) && name !== 'storage'
    ? [notSupported(path, name, ['storage'])]
    : errors
}

const size = (amount: string, path: string): readonly FieldError[] =>
  signOf(amount) < 0 ? [invalidValue(path, Number(wholeValue(amount)), 'must be a valid resource quantity')] : valid

/** Validates a write to `/status`. */
function statusUpdate({ status }: Claim): readonly FieldError[] {
  const allocated = 'status.allocatedResources'
  return all(
    Object.entries(status?.capacity ?? {}).flatMap(([name, amount]) => size(amount, `status.capacity[${name}]`)),
    Object.entries(status?.allocatedResourceStatuses ?? {}).flatMap(([name, state]) =>
      all(
        statusName(name, 'status.allocatedResourceStatuses'),
        resizeStatuses.includes(state)
          ? valid
          : [notSupported('status.allocatedResourceStatuses', name, resizeStatuses)],
      ),
    ),
    Object.entries(status?.allocatedResources ?? {}).flatMap(([name, amount]) => {
      const errors = statusName(name, allocated)
      return errors.length > 0 ? errors : size(amount, `${allocated}[${name}]`)
    }),
  )
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
      syncDataSources(claim)
    },
    update: syncDataSources,
  },
  validate: { object: ({ spec = {} }) => claimSpec(spec, 'spec'), update: specUpdate, status: statusUpdate },
  warnings: ({ metadata, spec }) => [...classAnnotationWarnings(metadata), ...claimSpecWarnings(spec ?? {}, 'spec')],
  selectableFields: { name: ({ metadata }) => metadata.name },
  columns: [
    name,
    column('Status', ({ metadata, status }) => (metadata.deletionTimestamp ? 'Terminating' : (status?.phase ?? '')), {
      description: 'Whether the claim is bound to a volume.',
    }),
    column('Volume', ({ spec }) => spec?.volumeName ?? '', { description: 'The volume that the claim is bound to.' }),
    column('Capacity', ({ spec, status }) => (spec?.volumeName ? (status?.capacity?.storage ?? '0') : ''), {
      description: 'The size of the volume.',
    }),
    column('Access Modes', ({ spec, status }) => (spec?.volumeName ? accessModesText(status?.accessModes) : ''), {
      description: 'The access modes of the volume.',
    }),
    column('StorageClass', className, { description: 'The requested StorageClass.' }),
    column('VolumeAttributesClass', ({ spec }) => spec?.volumeAttributesClassName ?? '<unset>', {
      description: 'The requested VolumeAttributesClass.',
    }),
    age,
    wide('VolumeMode', ({ spec }) => spec?.volumeMode ?? '<unset>', {
      description: 'The requested mode: Filesystem or Block.',
    }),
  ],
  deletion: { returnsObject: true },
})
