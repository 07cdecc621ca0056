/** ValidatingAdmissionPolicies: what may be written, said in CEL. */
import type { V1ValidatingAdmissionPolicy } from '@kubernetes/client-node'
import type { Model } from '../../machinery/object.ts'
import { type FieldError, required } from '../../machinery/validation/field-error.ts'
import { age, column, name, resource } from '../resource.ts'
import { commonPolicyRules, paramKindColumn, policyDefaults } from './policy-rules.ts'
import { admissionGroup } from './webhook-rules.ts'

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
  defaults: [({ spec }) => policyDefaults(spec)],
  validate: { object: policyRules },
  columns: [
    name,
    column('Validations', ({ spec }) => spec?.validations?.length ?? 0, { type: 'integer', description: 'How many conditions it sets.' }),
    paramKindColumn,
    age,
  ],
})

function policyRules({ spec }: Policy): readonly FieldError[] {
  const errors = commonPolicyRules(spec)
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
