/** MutatingAdmissionPolicies: changes to what is written, said in CEL. */
import type { V1MutatingAdmissionPolicy } from '@kubernetes/client-node'
import { type FieldError, required } from '../../machinery/field-error.ts'
import type { Model } from '../../machinery/object.ts'
import { oneOf } from '../field-rules.ts'
import { age, column, name, resource } from '../resource.ts'
import { servedAlso } from '../served-also.ts'
import { matchDefaults, matchRules, paramKindRules, variableRules } from './policy-rules.ts'
import { admissionGroup, matchConditionRules } from './webhook-rules.ts'

type Policy = Model<V1MutatingAdmissionPolicy>

export const mutatingAdmissionPolicies = resource<Policy>({
  group: admissionGroup,
  version: 'v1',
  kind: 'MutatingAdmissionPolicy',
  plural: 'mutatingadmissionpolicies',
  categories: ['api-extensions'],
  scope: 'Cluster',
  generation: 'spec',
  defaults: [
    ({ spec }) => {
      if (!spec) return
      spec.failurePolicy ??= 'Fail'
      matchDefaults(spec.matchConstraints)
    },
  ],
  validate: { object: policyRules },
  columns: [
    name,
    column('Mutations', ({ spec }) => spec?.mutations?.length ?? 0, { type: 'integer' }),
    column('ParamKind', ({ spec }) => (spec?.paramKind ? `${spec.paramKind.apiVersion}/${spec.paramKind.kind}` : '<unset>')),
    age,
  ],
})

function policyRules({ spec }: Policy): FieldError[] {
  const errors = [...oneOf('spec.failurePolicy', spec?.failurePolicy, ['Fail', 'Ignore']), ...paramKindRules(spec?.paramKind, 'spec.paramKind')]
  if (!spec?.matchConstraints) errors.push(required('spec.matchConstraints'))
  else if (!spec.matchConstraints.resourceRules?.length) errors.push(required('spec.matchConstraints.resourceRules'))
  errors.push(...matchRules(spec?.matchConstraints, 'spec.matchConstraints'), ...matchConditionRules(spec?.matchConditions, 'spec.matchConditions'))
  errors.push(...variableRules(spec?.variables, 'spec.variables'))
  if (!spec?.mutations?.length) errors.push(required('spec.mutations', 'mutations must contain at least one item'))
  spec?.mutations?.forEach(({ patchType, applyConfiguration, jsonPatch }, at) => {
    const path = `spec.mutations[${at}]`
    if (!patchType) errors.push(required(`${path}.patchType`))
    errors.push(...oneOf(`${path}.patchType`, patchType, ['ApplyConfiguration', 'JSONPatch']))
    if (patchType === 'ApplyConfiguration' && !applyConfiguration?.expression?.trim())
      errors.push(required(`${path}.applyConfiguration.expression`, 'expression is not specified'))
    if (patchType === 'JSONPatch' && !jsonPatch?.expression?.trim()) errors.push(required(`${path}.jsonPatch.expression`, 'expression is not specified'))
  })
  if (!spec?.reinvocationPolicy) errors.push(required('spec.reinvocationPolicy'))
  return errors.concat(oneOf('spec.reinvocationPolicy', spec?.reinvocationPolicy, ['IfNeeded', 'Never']))
}

export const betaMutatingAdmissionPolicies = servedAlso(mutatingAdmissionPolicies, 'v1beta1', 'V1beta1MutatingAdmissionPolicy')
export const alphaMutatingAdmissionPolicies = servedAlso(mutatingAdmissionPolicies, 'v1alpha1', 'V1alpha1MutatingAdmissionPolicy')
