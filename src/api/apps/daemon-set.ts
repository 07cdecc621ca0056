/** DaemonSets: one pod on every node. */

import type { V1DaemonSet } from '@kubernetes/client-node'
import { semanticallyEqual } from '../../machinery/equality.ts'
import type { Model } from '../../machinery/object.ts'
import { labelsText, validateLabelSelector } from '../../machinery/selectors/label-selector.ts'
import { type FieldError, invalidValue, notSupported } from '../../machinery/validation/field-error.ts'
import { all, hasRequirements, immutable, nonNegative, selects, valid } from '../../machinery/validation/field-rules.ts'
import { labelSelector, map, number, pointer, struct, text } from '../../machinery/validation/internal-type.ts'
import { podTemplateDefaults } from '../core/pod/index.ts'
import { nullTimes } from '../nulls.ts'
import { age, column, name, resource } from '../resource.ts'
import { collisions, counts, lastingTemplate } from '../workload/template-rules.ts'
import { specTemplateWarnings } from '../workload/template-warnings.ts'
import { containersColumn, imagesColumn, selectorColumn } from './columns.ts'
import { daemonSetRollingUpdate } from './rolling-update.ts'

type DaemonSet = Model<V1DaemonSet>
type DaemonSetStatus = NonNullable<DaemonSet['status']>

/**
 * Counts changes of the template. Once a field of the spec, it lives on as an annotation that every DaemonSet has, if
 * with 0.
 */
const templateGeneration = 'deprecated.daemonset.template.generation'

const nothing = (): DaemonSetStatus => ({
  currentNumberScheduled: 0,
  desiredNumberScheduled: 0,
  numberMisscheduled: 0,
  numberReady: 0,
})

function daemonSetDefaults(set: DaemonSet): void {
  const { spec } = set
  count(set, generationOf(set))
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
  set.status = { ...nothing(), ...set.status }
  if (set.status.conditions) nullTimes(set.status.conditions, 'lastTransitionTime')
}

const generationOf = ({ metadata }: DaemonSet): number => Number(metadata.annotations?.[templateGeneration] ?? 0) || 0

function count(set: DaemonSet, generation: number): void {
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
    lastingTemplate(template, 'DaemonSet'),
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
      set.status = nothing()
      count(set, Math.max(1, generationOf(set)))
    },
    update: (set, old) =>
      count(set, generationOf(old) + (semanticallyEqual(set.spec?.template, old.spec?.template) ? 0 : 1)),
    status: (set, old) => count(set, generationOf(old)),
  },
  validate: {
    object: rules,
    update: ({ spec }, { spec: old }) => immutable(spec?.selector, 'spec.selector', old?.selector, labelSelector),
    status: ({ status }, { status: old }) => all(counts(status, statusCounts), collisions(status, old)),
  },
  warnings: specTemplateWarnings,
  columns: [
    name,
    column('Desired', integer('desiredNumberScheduled'), {
      type: 'integer',
      description: 'Nodes that should have its pod.',
    }),
    column('Current', integer('currentNumberScheduled'), {
      type: 'integer',
      description: 'Nodes that have its pod and should.',
    }),
    column('Ready', integer('numberReady'), { type: 'integer', description: 'Nodes on which its pod is ready.' }),
    column('Up-to-date', integer('updatedNumberScheduled'), {
      type: 'integer',
      description: 'Nodes with the pod as the template has it now.',
    }),
    column('Available', integer('numberAvailable'), {
      type: 'integer',
      description: 'Nodes on which its pod has been ready for long enough.',
    }),
    column('Node Selector', ({ spec }) => labelsText(spec?.template?.spec?.nodeSelector), {
      description: 'The labels of nodes that get its pod.',
    }),
    age,
    containersColumn,
    imagesColumn,
    selectorColumn,
  ],
})
