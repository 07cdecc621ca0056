/** ValidatingAdmissionPolicies: what may be written, said in CEL. */
import type { V1ValidatingAdmissionPolicy } from '@kubernetes/client-node'
import { type FieldError, required } from '../../machinery/field-error.ts'
import type { Model } from '../../machinery/object.ts'
import { oneOf } from '../field-rules.ts'
import { age, column, name, resource } from '../resource.ts'
import { matchDefaults, matchRules, paramKindRules, variableRules } from './policy-rules.ts'
import { admissionGroup, matchConditionRules } from './webhook-rules.ts'

type Policy = Model<V1ValidatingAdmissionPolicy>

export const validatingAdmissionPolicies = resource<Policy>({
  group: admissionGroup,
  version: 'v1',
  kind: 'ValidatingAdmissionPolicy',
  plural: 'validatingadmissionpolicies',
  categories: ['api-extensions'],
  scope: 'Cluster',
  subresources: { status: true },
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
    column('Validations', ({ spec }) => spec?.validations?.length ?? 0, { type: 'integer' }),
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
  if (!spec?.validations?.length && !spec?.auditAnnotations?.length)
    errors.push(
      required('spec.validations', 'validations or auditAnnotations must contain at least one item'),
      required('spec.auditAnnotations', 'validations or auditAnnotations must contain at least one item'),
    )
  spec?.validations?.forEach(({ expression }, at) => {
    if (!expression?.trim()) errors.push(required(`spec.validations[${at}].expression`, 'expression is not specified'))
  })
  return errors
}
