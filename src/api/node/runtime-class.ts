/** RuntimeClasses: select the container runtime of a pod. */

import type { V1RuntimeClass } from '@kubernetes/client-node'
import type { Model } from '../../machinery/object.ts'
import { duplicate, type FieldError } from '../../machinery/validation/field-error.ts'
import { all, duplicateFinder, each, immutable, requiredRule, valid } from '../../machinery/validation/field-rules.ts'
import { optional, struct, text } from '../../machinery/validation/internal-type.ts'
import { validateLabels } from '../../machinery/validation/metadata.ts'
import { dnsLabel } from '../../machinery/validation/names.ts'
import { labelKeyWarnings } from '../core/cluster/node-labels.ts'
import { requirements } from '../core/pod/validation/containers/resources.ts'
import { tolerations } from '../core/pod/validation/scheduling.ts'
import { containerResourceName } from '../core/quota/resource-rules.ts'
import { age, column, name, resource } from '../resource.ts'

type RuntimeClass = Model<V1RuntimeClass>

export const runtimeClasses = resource<RuntimeClass>({
  group: 'node.k8s.io',
  version: 'v1',
  kind: 'RuntimeClass',
  plural: 'runtimeclasses',
  scope: 'Cluster',
  createOnUpdate: true,
  requiresVersionOnUpdate: true,
  validate: { object: classRules, update: ({ handler }, old) => immutable(handler, 'handler', old.handler) },
  warnings: ({ scheduling }) => labelKeyWarnings(scheduling?.nodeSelector, () => 'scheduling.nodeSelector'),
  columns: [
    name,
    column('Handler', ({ handler }) => handler, { description: 'The name of the handler in the CRI configuration.' }),
    age,
  ],
})

function classRules({ handler, overhead, scheduling }: RuntimeClass): readonly FieldError[] {
  return all(
    requiredRule(handler, 'handler', dnsLabel),
    overhead?.podFixed ? requirements({ limits: overhead.podFixed }, 'overhead', containerResourceName) : valid,
    validateLabels(scheduling?.nodeSelector, 'scheduling.nodeSelector'),
    scheduling?.tolerations ? uniqueTolerations(scheduling.tolerations, 'scheduling.tolerations') : valid,
  )
}

type Toleration = NonNullable<NonNullable<RuntimeClass['scheduling']>['tolerations']>[number]

const shownToleration = struct({ Key: text, Operator: text, Value: text, Effect: text, TolerationSeconds: optional })

/** Rejects tolerations that differ in tolerationSeconds only. Reports the later one. */
function uniqueTolerations(list: readonly Toleration[], path: string): readonly FieldError[] {
  const isRepeated = duplicateFinder<string>()
  return all(
    tolerations(list, path),
    each(list, path, (toleration, at) => {
      const { key, operator, value, effect } = toleration
      return isRepeated(JSON.stringify([key, operator, value, effect]))
        ? [duplicate(at, shownToleration(toleration))]
        : valid
    }),
  )
}
