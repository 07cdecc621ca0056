/** RuntimeClasses: which container runtime runs a pod. */
import type { V1RuntimeClass } from '@kubernetes/client-node'
import type { Model } from '../../machinery/object.ts'
import { type FieldError, invalidValue } from '../../machinery/validation/field-error.ts'
import { follows, immutable, oneOf } from '../../machinery/validation/field-rules.ts'
import { validateLabels } from '../../machinery/validation/metadata.ts'
import { dnsLabel } from '../../machinery/validation/names.ts'
import { labelKeyWarnings } from '../core/cluster/node-labels.ts'
import { age, column, name, resource } from '../resource.ts'

type RuntimeClass = Model<V1RuntimeClass>

export const runtimeClasses = resource<RuntimeClass>({
  group: 'node.k8s.io',
  version: 'v1',
  kind: 'RuntimeClass',
  plural: 'runtimeclasses',
  scope: 'Cluster',
  validate: { object: classRules, update: ({ handler }, old) => immutable(handler, 'handler', old.handler) },
  warnings: ({ scheduling }) => labelKeyWarnings(scheduling?.nodeSelector, () => 'scheduling.nodeSelector'),
  columns: [name, column('Handler', ({ handler }) => handler, { description: 'The name of the runtime at the container engine.' }), age],
})

function classRules({ handler, overhead, scheduling }: RuntimeClass): readonly FieldError[] {
  const errors = [...follows(handler ?? '', 'handler', dnsLabel)]
  for (const [key, quantity] of Object.entries(overhead?.podFixed ?? {}))
    if (String(quantity).startsWith('-')) errors.push(invalidValue(`overhead.limits[${key}]`, quantity, 'must be greater than or equal to 0'))
  errors.push(...validateLabels(scheduling?.nodeSelector, 'scheduling.nodeSelector'))
  scheduling?.tolerations?.forEach(({ operator, key, value }, at) => {
    const path = `scheduling.tolerations.tolerations[${at}]`
    errors.push(...oneOf(operator, `${path}.operator`, ['Equal', 'Exists']))
    if (operator === 'Exists' && value) errors.push(invalidValue(`${path}.operator`, value, "value must be empty when `operator` is 'Exists'"))
    if (!key && operator !== 'Exists')
      errors.push(invalidValue(`${path}.operator`, operator ?? '', 'operator must be Exists when `key` is empty, which means "match all values and all keys"'))
  })
  return errors
}
