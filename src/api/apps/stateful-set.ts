/** StatefulSets: pods with stable names and storage. */

import type { V1StatefulSet } from '@kubernetes/client-node'
import { semanticallyEqual } from '../../machinery/equality.ts'
import type { Model } from '../../machinery/object.ts'
import { type FieldError, forbiddenField, invalidValue, required } from '../../machinery/validation/field-error.ts'
import {
  all,
  atMostAll,
  each,
  intOrPercent,
  nonNegative,
  oneOf,
  optionalText,
  valid,
} from '../../machinery/validation/field-rules.ts'
import { number, optional, pointer, struct, text } from '../../machinery/validation/internal-type.ts'
import { dnsLabel } from '../../machinery/validation/names.ts'
import { podTemplateDefaults } from '../core/pod/index.ts'
import { claimSpec } from '../core/storage/claim-rules.ts'
import { claimSpecWarnings } from '../core/storage/claim-warnings.ts'
import { claimSpecDefaults } from '../core/storage/persistent-volume-claim.ts'
import { isFeatureOn } from '../features/current.ts'
import { nullMissingTimes } from '../nulls.ts'
import { age, column, name, resource } from '../resource.ts'
import {
  selectorAndTemplate,
  validateAtMost,
  validateCollisionCount,
  validateCounts,
} from '../workload/template-rules.ts'
import { specTemplateWarnings } from '../workload/template-warnings.ts'
import { containersColumn, imagesColumn } from './columns.ts'

type StatefulSet = Model<V1StatefulSet>
type StatefulSetSpec = NonNullable<StatefulSet['spec']>

function statefulSetDefaults(set: StatefulSet): void {
  if (set.spec) specDefaults(set.spec)
  set.status ??= { replicas: 0, availableReplicas: 0 }
  set.status.replicas ??= 0
  set.status.availableReplicas ??= 0
  if (set.status.conditions) nullMissingTimes(set.status.conditions, 'lastTransitionTime')
}

function specDefaults(spec: StatefulSetSpec): void {
  spec.podManagementPolicy ||= 'OrderedReady'
  spec.replicas ??= 1
  spec.revisionHistoryLimit ??= 10
  spec.updateStrategy ??= {}
  const { updateStrategy } = spec
  if (!updateStrategy.type) {
    updateStrategy.type = 'RollingUpdate'
    updateStrategy.rollingUpdate ??= {}
  }
  if (updateStrategy.type === 'RollingUpdate' && updateStrategy.rollingUpdate) {
    updateStrategy.rollingUpdate.partition ??= 0
    if (isFeatureOn('MaxUnavailableStatefulSet')) updateStrategy.rollingUpdate.maxUnavailable ??= 1
  }
  spec.persistentVolumeClaimRetentionPolicy ??= {}
  spec.persistentVolumeClaimRetentionPolicy.whenDeleted ||= 'Retain'
  spec.persistentVolumeClaimRetentionPolicy.whenScaled ||= 'Retain'
  podTemplateDefaults(spec.template)
  for (const claim of spec.volumeClaimTemplates ?? []) {
    claim.apiVersion ||= 'v1'
    claim.kind ||= 'PersistentVolumeClaim'
    claim.metadata ??= {}
    claim.spec ??= {}
    claim.status ??= {}
    claim.status.phase ||= 'Pending'
    claimSpecDefaults(claim.spec)
  }
}

const rollingUpdateShape = { Partition: number, MaxUnavailable: optional }
const shownRollingUpdate = struct(rollingUpdateShape)
const shownStrategy = struct({ Type: text, RollingUpdate: pointer(rollingUpdateShape) })

function updateStrategy({ updateStrategy: strategy = {} }: StatefulSetSpec): readonly FieldError[] {
  const path = 'spec.updateStrategy'
  const { type, rollingUpdate } = strategy
  if (!type) return [required(path)]
  if (type === 'OnDelete')
    return rollingUpdate
      ? [
          invalidValue(
            `${path}.rollingUpdate`,
            shownRollingUpdate(rollingUpdate),
            "only allowed for updateStrategy 'RollingUpdate'",
          ),
        ]
      : valid
  if (type !== 'RollingUpdate')
    return [invalidValue(path, shownStrategy(strategy), "must be 'RollingUpdate' or 'OnDelete'")]
  const max = rollingUpdate?.maxUnavailable
  return all(
    nonNegative(rollingUpdate?.partition, `${path}.rollingUpdate.partition`),
    intOrPercent(max, `${path}.rollingUpdate.maxUnavailable`),
    max === 0 || max === '0%' ? [invalidValue(`${path}.rollingUpdate.maxUnavailable`, max, 'cannot be 0')] : valid,
    atMostAll(max, `${path}.rollingUpdate.maxUnavailable`),
  )
}

/** Each pod gets a volume named after each claim template. */
const claimNames = ({ volumeClaimTemplates = [] }: StatefulSetSpec): string[] =>
  volumeClaimTemplates.map(({ metadata }) => metadata?.name ?? '')

function rules({ spec }: StatefulSet): readonly FieldError[] {
  if (!spec) return valid
  const { podManagementPolicy: policy, persistentVolumeClaimRetentionPolicy: retention } = spec
  return all(
    policy === 'OrderedReady' || policy === 'Parallel'
      ? valid
      : [invalidValue('spec.podManagementPolicy', policy ?? '', "must be 'OrderedReady' or 'Parallel'")],
    updateStrategy(spec),
    oneOf(retention?.whenDeleted, 'spec.persistentVolumeClaimRetentionPolicy.whenDeleted', ['Retain', 'Delete']),
    oneOf(retention?.whenScaled, 'spec.persistentVolumeClaimRetentionPolicy.whenScaled', ['Retain', 'Delete']),
    nonNegative(spec.replicas, 'spec.replicas'),
    nonNegative(spec.minReadySeconds, 'spec.minReadySeconds'),
    nonNegative(spec.ordinals?.start, 'spec.ordinals.start'),
    selectorAndTemplate(spec, 'statefulset', 'StatefulSet', { claims: claimNames(spec) }),
  )
}

const changeable = [
  'replicas',
  'ordinals',
  'template',
  'updateStrategy',
  'revisionHistoryLimit',
  'persistentVolumeClaimRetentionPolicy',
  'minReadySeconds',
] as const satisfies readonly (keyof StatefulSetSpec)[]
const quoted = changeable.map((field) => `'${field}'`)
const immutableMessage =
  `updates to statefulset spec for fields other than ${quoted.slice(0, -1).join(', ')} and ${quoted.at(-1)} are ` +
  'forbidden'

/** Allows changes of the fields in `changeable` only. */
function update({ spec }: StatefulSet, { spec: old }: StatefulSet): readonly FieldError[] {
  const rest = { ...spec } as Record<string, unknown>
  for (const field of changeable) rest[field] = old?.[field]
  return semanticallyEqual(rest, old) ? valid : [forbiddenField('spec', immutableMessage)]
}

function warnings(set: StatefulSet, old: StatefulSet | undefined): readonly string[] {
  const { revisionHistoryLimit = 0, volumeClaimTemplates = [] } = set.spec ?? {}
  return [
    ...specTemplateWarnings(set, old),
    ...volumeClaimTemplates.flatMap(({ spec = {} }, i) => claimSpecWarnings(spec, `spec.volumeClaimTemplates[${i}]`)),
    ...(revisionHistoryLimit < 0
      ? ['spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is recommended']
      : []),
  ]
}

const statusCounts = ['replicas', 'readyReplicas', 'currentReplicas', 'updatedReplicas', 'availableReplicas'] as const

export const statefulSets = resource<StatefulSet>({
  group: 'apps',
  version: 'v1',
  kind: 'StatefulSet',
  plural: 'statefulsets',
  shortNames: ['sts'],
  categories: ['all'],
  scope: 'Namespaced',
  subresources: {
    status: true,
    scale: { replicas: '.spec.replicas', observed: '.status.replicas', selector: '.spec.selector' },
  },
  // The name is part of the pods' host names.
  nameRule: dnsLabel,
  generation: 'spec',
  defaults: [statefulSetDefaults],
  prepare: {
    create: (set) => {
      set.status = { replicas: 0, availableReplicas: 0 }
    },
  },
  validate: {
    object: rules,
    create: ({ spec }) =>
      all(
        optionalText(spec?.serviceName, 'spec.serviceName', dnsLabel),
        each(spec?.volumeClaimTemplates, 'spec.volumeClaimTemplates', (claim, at) =>
          claimSpec(claim.spec ?? {}, `${at}.spec`),
        ),
      ),
    update,
    status: ({ status }, { status: old }) =>
      all(
        validateCounts(status, [...statusCounts, 'observedGeneration', 'collisionCount']),
        validateAtMost(
          status,
          ['readyReplicas', 'currentReplicas', 'updatedReplicas', 'availableReplicas'],
          'replicas',
        ),
        validateAtMost(status, ['availableReplicas'], 'readyReplicas', 'cannot be greater than status.readyReplicas'),
        validateCollisionCount(status, old),
      ),
  },
  warnings,
  columns: [
    name,
    column('Ready', ({ spec, status }) => `${status?.readyReplicas ?? 0}/${spec?.replicas ?? 0}`, {
      description: 'Ready pods, of desired pods.',
    }),
    age,
    containersColumn,
    imagesColumn,
  ],
})
