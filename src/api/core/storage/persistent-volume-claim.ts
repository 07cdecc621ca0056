/** PersistentVolumeClaims: what a user asks of storage. */
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
  if (status.conditions) nullMissingTimes(status.conditions, 'lastProbeTime', 'lastTransitionTime')
}

/**
 * `dataSource` and `dataSourceRef` say the same, whichever was given. What is neither a claim nor a snapshot is only
 * taken in the newer field (KEP-1495).
 */
function settleDataSource({ spec }: Claim, old?: Claim): void {
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
 * Once there, a claim's spec stays, but for a bound claim's size and its attributes class; a late default class and
 * binding are fine.
 */
function specUpdate(
  { metadata, spec = {}, status }: Claim,
  { metadata: before, spec: old = {}, status: oldStatus }: Claim,
): readonly FieldError[] {
  const rest: ClaimSpec = { ...spec }
  const isBound = status?.phase === 'Bound'
  const annotated = before.annotations?.[classAnnotation]
  if (!old.volumeName && rest.volumeName) rest.volumeName = old.volumeName
  // The class may come from the annotation of before, or late from the cluster's default.
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

/** A claim that could not grow may ask for less again, but for more than it has. */
function shrinks(spec: ClaimSpec, old: ClaimSpec, status: Claim['status']): boolean {
  const [size = '0', before = '0'] = [spec.resources?.requests?.storage, old.resources?.requests?.storage]
  return compareQuantities(size, before) < 0 && compareQuantities(size, status?.capacity?.storage ?? '0') <= 0
}

/** What a class has made of a volume is not taken back by none. */
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

/** Names in a claim's status: of Kubernetes' own resources only its size. */
function statusName(name: string, path: string): readonly FieldError[] {
  const errors = follows(name, path, qualifiedName)
  return errors.length === 0 && isNativeResource(name) && name !== 'storage'
    ? [notSupported(path, name, ['storage'])]
    : errors
}

const size = (amount: string, path: string): readonly FieldError[] =>
  signOf(amount) < 0 ? [invalidValue(path, Number(wholeValue(amount)), 'must be a valid resource quantity')] : valid

/** What a write through `/status` may not say. */
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
      settleDataSource(claim)
    },
    update: settleDataSource,
  },
  validate: { object: ({ spec = {} }) => claimSpec(spec, 'spec'), update: specUpdate, status: statusUpdate },
  warnings: ({ metadata, spec }) => [...classAnnotationWarnings(metadata), ...claimSpecWarnings(spec ?? {}, 'spec')],
  selectableFields: { name: ({ metadata }) => metadata.name },
  columns: [
    name,
    column('Status', ({ metadata, status }) => (metadata.deletionTimestamp ? 'Terminating' : (status?.phase ?? '')), {
      description: 'Whether it has found a volume.',
    }),
    column('Volume', ({ spec }) => spec?.volumeName ?? '', { description: 'The volume that it is bound to.' }),
    column('Capacity', ({ spec, status }) => (spec?.volumeName ? (status?.capacity?.storage ?? '0') : ''), {
      description: 'The size of the volume.',
    }),
    column('Access Modes', ({ spec, status }) => (spec?.volumeName ? accessModesText(status?.accessModes) : ''), {
      description: 'How the volume can be mounted.',
    }),
    column('StorageClass', className, { description: 'The class of storage that it asks for.' }),
    column('VolumeAttributesClass', ({ spec }) => spec?.volumeAttributesClassName ?? '<unset>', {
      description: 'The class of attributes that it asks for.',
    }),
    age,
    wide('VolumeMode', ({ spec }) => spec?.volumeMode ?? '<unset>', {
      description: 'Whether it wants a file system or a block device.',
    }),
  ],
  deletion: { returnsObject: true },
})
