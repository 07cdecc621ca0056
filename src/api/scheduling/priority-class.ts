/** PriorityClasses: named priorities of pods. */
import type { V1PriorityClass } from '@kubernetes/client-node'
import type { Model } from '../../machinery/object.ts'
import { type FieldError, forbiddenField } from '../../machinery/validation/field-error.ts'
import { all, immutable, oneOf } from '../../machinery/validation/field-rules.ts'
import { age, column, name, resource } from '../resource.ts'
import { systemPriorityClasses } from './system-priority-classes.ts'

type PriorityClass = Model<V1PriorityClass>

const highestUserPriority = 1_000_000_000

export const priorityClasses = resource<PriorityClass>({
  group: 'scheduling.k8s.io',
  version: 'v1',
  kind: 'PriorityClass',
  plural: 'priorityclasses',
  shortNames: ['pc'],
  scope: 'Cluster',
  // Upstream sets generation 1 and never increments it.
  generation: () => false,
  defaults: [{ preemptionPolicy: 'PreemptLowerPriority' }],
  validate: {
    object: classRules,
    update: (priority, old) =>
      all(
        priority.value === old.value ? [] : [forbiddenField('value', 'may not be changed in an update.')],
        immutable(priority.preemptionPolicy, 'preemptionPolicy', old.preemptionPolicy),
      ),
  },
  columns: [
    name,
    column('Value', ({ value }) => value ?? 0, {
      type: 'integer',
      description: 'The priority; higher values are more important.',
    }),
    column('Global-Default', ({ globalDefault }) => globalDefault ?? false, {
      type: 'boolean',
      description: 'Whether pods without a class get this one.',
    }),
    age,
    column('PreemptionPolicy', ({ preemptionPolicy }) => preemptionPolicy ?? '', {
      description: 'Whether its pods may preempt pods of lower priority.',
    }),
  ],
})

function classRules({
  metadata,
  value = 0,
  globalDefault,
  description,
  preemptionPolicy,
}: PriorityClass): readonly FieldError[] {
  const errors: FieldError[] = []
  if (metadata.name?.startsWith('system-')) {
    const known = systemPriorityClasses.find((system) => system.name === metadata.name)
    const why = !known
      ? `${metadata.name} is not a known system priority class`
      : known.value !== value
        ? `value of ${known.name} PriorityClass must be ${known.value}`
        : globalDefault
          ? `globalDefault of ${known.name} PriorityClass must be false`
          : description !== undefined && description !== known.description
            ? `description of ${known.name} PriorityClass must be ${known.description}`
            : undefined
    if (why)
      errors.push(
        forbiddenField(
          'metadata.name',
          `priority class names with 'system-' prefix are reserved for system use only. error: ${why}`,
        ),
      )
  } else if (value > highestUserPriority)
    errors.push(forbiddenField('value', `maximum allowed value of a user defined priority is ${highestUserPriority}`))
  return errors.concat(oneOf(preemptionPolicy, 'preemptionPolicy', ['PreemptLowerPriority', 'Never']))
}
