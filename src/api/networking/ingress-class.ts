/** IngressClasses: which controller serves an Ingress. */
import type { V1IngressClass } from '@kubernetes/client-node'
import { type FieldError, forbiddenField, invalidValue, required, tooLong } from '../../machinery/field-error.ts'
import { dnsLabel, dnsSubdomain } from '../../machinery/names.ts'
import type { Model } from '../../machinery/object.ts'
import { follows, immutable, oneOf } from '../field-rules.ts'
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
  validate: { object: classRules, update: ({ spec }, { spec: old }) => immutable('spec.controller', spec?.controller, old?.controller) },
  columns: [name, column('Controller', ({ spec }) => spec?.controller ?? ''), column('Parameters', parametersText), age],
})

function parametersText({ spec }: IngressClass): string {
  if (!spec?.parameters) return '<none>'
  const { apiGroup, kind, name: parametersName } = spec.parameters
  return `${apiGroup ? `${kind}.${apiGroup}` : kind}/${parametersName}`
}

function classRules({ spec }: IngressClass): FieldError[] {
  const errors = controllerRules(spec?.controller ?? '')
  if (!spec?.parameters) return errors
  const { apiGroup, kind, name: parametersName, namespace, scope } = spec.parameters
  const path = 'spec.parameters'
  if (apiGroup) errors.push(...follows(`${path}.apiGroup`, apiGroup, dnsSubdomain))
  if (!kind) errors.push(required(`${path}.kind`, 'kind is required'))
  if (!parametersName) errors.push(required(`${path}.name`, 'name is required'))
  errors.push(...oneOf(`${path}.scope`, scope, ['Cluster', 'Namespace']))
  if (scope === 'Namespace')
    errors.push(
      ...(namespace ? follows(`${path}.namespace`, namespace, dnsLabel) : [required(`${path}.namespace`, "`parameters.scope` is set to 'Namespace'")]),
    )
  if (scope === 'Cluster' && namespace !== undefined) errors.push(forbiddenField(`${path}.namespace`, "`parameters.scope` is set to 'Cluster'"))
  return errors
}

/** `example.com/ingress-controller`. */
function controllerRules(controller: string): FieldError[] {
  if (controller === '') return [required('spec.controller')]
  if (controller.length > 250) return [tooLong('spec.controller', 250)]
  const slash = controller.indexOf('/')
  const rest = controller.slice(slash + 1)
  if (slash <= 0 || rest === '') return [invalidValue('spec.controller', controller, 'must be a domain-prefixed path (such as "acme.io/foo")')]
  const errors = follows('spec.controller', controller.slice(0, slash), dnsSubdomain)
  if (!/^[A-Za-z0-9/\-._~%!$&'()*+,;=:]+$/.test(rest)) errors.push(invalidValue('spec.controller', rest, 'Invalid path'))
  return errors
}
