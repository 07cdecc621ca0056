/** DaemonSets: one pod on every node. */

import type { V1DaemonSet } from '@kubernetes/client-node'
import { semanticallyEqual } from '../../machinery/equality.ts'
import type { Model } from '../../machinery/object.ts'
import { labelsText, validateLabelSelector } from '../../machinery/selectors/label-selector.ts'
import { type FieldError, invalidValue, notSupported } from '../../machinery/validation/field-error.ts'
import { all, hasRequirements, immutable, nonNegative, selects, valid } from '../../machinery/validation/field-rules.ts'
import { labelSelector, map, number, pointer, struct, text } from '../../machinery/validation/internal-type.ts'
import { podTemplateDefaults } from '../core/pod/index.ts'
import { nullMissingTimes } from '../nulls.ts'
import { age, column, name, resource } from '../resource.ts'
import { validateCollisionCount, validateCounts, validateLongRunningTemplate } from '../workload/template-rules.ts'
import { specTemplateWarnings } from '../workload/template-warnings.ts'
import { containersColumn, imagesColumn, selectorColumn } from './columns.ts'
import { daemonSetRollingUpdate } from './rolling-update.ts'

type DaemonSet = Model<V1DaemonSet>
type DaemonSetStatus = NonNullable<DaemonSet['status']>

/**
 * The number of changes of the template. Once a field of the spec, now an annotation that every DaemonSet has, even if
 * it is 0.
 */
const templateGeneration = 'deprecated.daemonset.template.generation'

const emptyStatus = (): DaemonSetStatus => ({
  currentNumberScheduled: 0,
  desiredNumberScheduled: 0,
  numberMisscheduled: 0,
  numberReady: 0,
})

function daemonSetDefaults(set: DaemonSet): void {
  const { spec } = set
  setGeneration(set, generationOf(set))
  if (spec) {
    spec.revisionHistoryLimit ??= 10
    spec.updateStrategy ??= {}
    const { updateStrategy: strategy } = spec
    strategy.type ||= 'RollingUpdate'
    if (strategy.type === 'RollingUpdate') {
      strategy.rollingUpdate ??= {}
      strategy.rollingUpdate.maxUnavailable ??= 1
      strategy.rollingUpdate.maxSurge ??= 0
    }
    podTemplateDefaults(spec.template)
  }
  set.status = { ...emptyStatus(), ...set.status }
  if (set.status.conditions) nullMissingTimes(set.status.conditions, 'lastTransitionTime')
}

const generationOf = ({ metadata }: DaemonSet): number => Number(metadata.annotations?.[templateGeneration] ?? 0) || 0

function setGeneration(set: DaemonSet, generation: number): void {
  set.metadata.annotations = { ...set.metadata.annotations, [templateGeneration]: String(generation) }
}

const shownStrategy = struct({ Type: text, RollingUpdate: pointer({ MaxUnavailable: number, MaxSurge: number }) })

function updateStrategy({ updateStrategy: strategy = {} }: NonNullable<DaemonSet['spec']>): readonly FieldError[] {
  const path = 'spec.updateStrategy'
  if (strategy.type === 'OnDelete') return valid
  if (strategy.type === 'RollingUpdate')
    return daemonSetRollingUpdate(strategy.rollingUpdate ?? {}, `${path}.rollingUpdate`)
  return [notSupported(path, shownStrategy(strategy), ['OnDelete', 'RollingUpdate'])]
}

function rules({ spec }: DaemonSet): readonly FieldError[] {
  if (!spec) return valid
  const { selector, template } = spec
  const errors = validateLabelSelector(selector, 'spec.selector')
  const labels = template?.metadata?.labels
  return all(
    errors,
    errors.length === 0 && !(selector && selects(selector, labels))
      ? [invalidValue('spec.template.metadata.labels', map(labels), '`selector` does not match template `labels`')]
      : valid,
    selector && !hasRequirements(selector)
      ? [invalidValue('spec.selector', labelSelector(selector), 'empty selector is invalid for daemonset')]
      : valid,
    validateLongRunningTemplate(template, 'DaemonSet'),
    nonNegative(spec.minReadySeconds, 'spec.minReadySeconds'),
    updateStrategy(spec),
    nonNegative(spec.revisionHistoryLimit, 'spec.revisionHistoryLimit'),
  )
}

const integer = (of: keyof DaemonSetStatus) => (set: DaemonSet) => (set.status?.[of] as number | undefined) ?? 0
const statusCounts = [
  'currentNumberScheduled',
  'numberMisscheduled',
  'desiredNumberScheduled',
  'numberReady',
  'observedGeneration',
  'updatedNumberScheduled',
  'numberAvailable',
  'numberUnavailable',
  'collisionCount',
] as const

export const daemonSets = resource<DaemonSet>({
  group: 'apps',
  version: 'v1',
  kind: 'DaemonSet',
  plural: 'daemonsets',
  shortNames: ['ds'],
  categories: ['all'],
  scope: 'Namespaced',
  subresources: { status: true },
  generation: 'spec',
  defaults: [daemonSetDefaults],
  prepare: {
    create: (set) => {
      set.status = emptyStatus()
      setGeneration(set, Math.max(1, generationOf(set)))
    },
    update: (set, old) =>
      setGeneration(set, generationOf(old) + (semanticallyEqual(set.spec?.template, old.spec?.template) ? 0 : 1)),
    status: (set, old) => setGeneration(set, generationOf(old)),
  },
  validate: {
    object: rules,
    update: ({ spec }, { spec: old }) => immutable(spec?.selector, 'spec.selector', old?.selector, labelSelector),
    status: ({ status }, { status: old }) =>
      all(validateCounts(status, statusCounts), validateCollisionCount(status, old)),
  },
  warnings: specTemplateWarnings,
  columns: [
    name,
    column('Desired', integer('desiredNumberScheduled'), {
      type: 'integer',
      description: 'Nodes that should run its pod.',
    }),
    column('Current', integer('currentNumberScheduled'), {
      type: 'integer',
      description: 'Nodes that run its pod and should.',
    }),
    column('Ready', integer('numberReady'), { type: 'integer', description: 'Nodes on which its pod is ready.' }),
    column('Up-to-date', integer('updatedNumberScheduled'), {
      type: 'integer',
      description: 'Nodes whose pod has the current template.',
    }),
    column('Available', integer('numberAvailable'), {
      type: 'integer',
      description: 'Nodes whose pod has been ready for minReadySeconds.',
    }),
    column('Node Selector', ({ spec }) => labelsText(spec?.template?.spec?.nodeSelector), {
      description: 'The node labels that its pods require.',
    }),
    age,
    containersColumn,
    imagesColumn,
    selectorColumn,
  ],
})
