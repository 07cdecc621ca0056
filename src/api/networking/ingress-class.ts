/** IngressClasses: select the controller of an Ingress. */
import type { V1IngressClass } from '@kubernetes/client-node'
import type { Model } from '../../machinery/object.ts'
import { domainPrefixedPathFaults } from '../../machinery/validation/domain-prefixed-path.ts'
import { type FieldError, forbiddenField, required, tooLong } from '../../machinery/validation/field-error.ts'
import { follows, immutable, oneOf } from '../../machinery/validation/field-rules.ts'
import { dnsLabel, dnsSubdomain, pathSegment } from '../../machinery/validation/names.ts'
import { age, column, name, resource } from '../resource.ts'

type IngressClass = Model<V1IngressClass>

export const ingressClasses = resource<IngressClass>({
  group: 'networking.k8s.io',
  version: 'v1',
  kind: 'IngressClass',
  plural: 'ingressclasses',
  scope: 'Cluster',
  generation: 'spec',
  defaults: [
    ({ spec }) => {
      if (spec?.parameters) spec.parameters.scope ??= 'Cluster'
    },
  ],
  validate: {
    object: classRules,
    update: ({ spec }, { spec: old }) => immutable(spec?.controller ?? '', 'spec.controller', old?.controller ?? ''),
  },
  columns: [
    name,
    column('Controller', ({ spec }) => spec?.controller ?? '', {
      description: 'The controller that serves Ingresses of this class.',
    }),
    column('Parameters', parametersText, { description: 'The object with parameters for the controller.' }),
    age,
  ],
})

function parametersText({ spec }: IngressClass): string {
  if (!spec?.parameters) return '<none>'
  const { apiGroup, kind, name: parametersName } = spec.parameters
  return `${apiGroup ? `${kind}.${apiGroup}` : kind}/${parametersName}`
}

function classRules({ spec }: IngressClass): readonly FieldError[] {
  const errors = [...controllerRules(spec?.controller ?? '')]
  if (!spec?.parameters) return errors
  const { apiGroup, kind, name: parametersName, namespace, scope } = spec.parameters
  const path = 'spec.parameters'
  errors.push(...follows(apiGroup, `${path}.apiGroup`, dnsSubdomain))
  errors.push(...(kind ? follows(kind, `${path}.kind`, pathSegment) : [required(`${path}.kind`)]))
  errors.push(...(parametersName ? follows(parametersName, `${path}.name`, pathSegment) : [required(`${path}.name`)]))
  errors.push(...oneOf(scope, `${path}.scope`, ['Cluster', 'Namespace']))
  if (scope === 'Namespace')
    errors.push(
      ...(namespace === undefined
        ? [required(`${path}.namespace`, "`parameters.scope` is set to 'Namespace'")]
        : follows(namespace, `${path}.namespace`, dnsLabel)),
    )
  if (scope === 'Cluster' && namespace !== undefined)
    errors.push(forbiddenField(`${path}.namespace`, "`parameters.scope` is set to 'Cluster'"))
  return errors
}

/** Validates a controller name, such as `example.com/ingress-controller`. */
function controllerRules(controller: string): readonly FieldError[] {
  const errors = domainPrefixedPathFaults(controller, 'spec.controller')
  return controller.length > 250 ? [tooLong('spec.controller', 250), ...errors] : errors
}
