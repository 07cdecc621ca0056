/** PodDisruptionBudgets: limit how many pods may be evicted at the same time. */

import type { V1PodDisruptionBudget } from '@kubernetes/client-node'
import type { Model } from '../../machinery/object.ts'
import { validateLabelSelector } from '../../machinery/selectors/label-selector.ts'
import { validateConditions } from '../../machinery/validation/conditions.ts'
import { type FieldError, invalidValue } from '../../machinery/validation/field-error.ts'
import { all, atMostAll, intOrPercent, oneOf, valid } from '../../machinery/validation/field-rules.ts'
import { labelSelector, optional, struct } from '../../machinery/validation/internal-type.ts'
import { pathSegment } from '../../machinery/validation/names.ts'
import { nullMissingTimes } from '../nulls.ts'
import { age, column, name, resource } from '../resource.ts'
import { validateCounts } from '../workload/template-rules.ts'

type Budget = Model<V1PodDisruptionBudget>

const emptyStatus = (): NonNullable<Budget['status']> => ({
  currentHealthy: 0,
  desiredHealthy: 0,
  disruptionsAllowed: 0,
  expectedPods: 0,
})

const shownSpec = struct({
  MinAvailable: optional,
  Selector: labelSelector,
  MaxUnavailable: optional,
  UnhealthyPodEvictionPolicy: optional,
})

function rules({ spec = {} }: Budget): readonly FieldError[] {
  const { minAvailable, maxUnavailable, selector, unhealthyPodEvictionPolicy } = spec
  return all(
    minAvailable !== undefined && maxUnavailable !== undefined
      ? [invalidValue('spec', shownSpec(spec), 'minAvailable and maxUnavailable cannot be both set')]
      : valid,
    intOrPercent(minAvailable, 'spec.minAvailable'),
    atMostAll(minAvailable, 'spec.minAvailable'),
    intOrPercent(maxUnavailable, 'spec.maxUnavailable'),
    atMostAll(maxUnavailable, 'spec.maxUnavailable'),
    validateLabelSelector(selector, 'spec.selector'),
    oneOf(unhealthyPodEvictionPolicy, 'spec.unhealthyPodEvictionPolicy', ['AlwaysAllow', 'IfHealthyBudget']),
  )
}

const amount = (value: number | string | undefined): string => (value === undefined ? 'N/A' : String(value))

export const podDisruptionBudgets = resource<Budget>({
  group: 'policy',
  version: 'v1',
  kind: 'PodDisruptionBudget',
  plural: 'poddisruptionbudgets',
  shortNames: ['pdb'],
  scope: 'Namespaced',
  // Upstream only requires a valid path segment.
  nameRule: pathSegment,
  validatesMetadataLast: true,
  subresources: { status: true },
  generation: 'spec',
  requiresVersionOnUpdate: true,
  defaults: [
    (budget) => {
      budget.spec ??= {}
      budget.status = { ...emptyStatus(), ...budget.status }
      if (budget.status.conditions) nullMissingTimes(budget.status.conditions, 'lastTransitionTime')
    },
  ],
  prepare: {
    create: (budget) => {
      budget.status = emptyStatus()
    },
  },
  validate: {
    object: rules,
    status: ({ status }) =>
      all(
        validateConditions(status?.conditions, 'status.conditions'),
        validateCounts(status, ['disruptionsAllowed', 'currentHealthy', 'desiredHealthy', 'expectedPods']),
      ),
  },
  columns: [
    name,
    column('Min Available', ({ spec }) => amount(spec?.minAvailable), {
      description: 'The minimum number of available pods.',
    }),
    column('Max Unavailable', ({ spec }) => amount(spec?.maxUnavailable), {
      description: 'The maximum number of unavailable pods.',
    }),
    column('Allowed Disruptions', ({ status }) => status?.disruptionsAllowed ?? 0, {
      type: 'integer',
      description: 'The number of pods that may be evicted now.',
    }),
    age,
  ],
})
