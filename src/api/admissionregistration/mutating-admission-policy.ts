/** MutatingAdmissionPolicies: changes to what is written, said in CEL. */
import type { V1MutatingAdmissionPolicy } from '@kubernetes/client-node'
import { jsonPatchType } from '../../cel/admission/environment.ts'
import { listType, type Type } from '../../cel/types.ts'
import type { Model } from '../../machinery/object.ts'
import { type FieldError, required } from '../../machinery/validation/field-error.ts'
import { oneOf } from '../../machinery/validation/field-rules.ts'
import { age, column, name, resource } from '../resource.ts'
import { servedAlso } from '../served-also.ts'
import { commonPolicyRules, paramKindColumn, policyDefaults, policyExpressions } from './policy-rules.ts'
import { admissionGroup } from './webhook-rules.ts'

type Policy = Model<V1MutatingAdmissionPolicy>

export const mutatingAdmissionPolicies = resource<Policy>({
  group: admissionGroup,
  version: 'v1',
  kind: 'MutatingAdmissionPolicy',
  plural: 'mutatingadmissionpolicies',
  categories: ['api-extensions'],
  scope: 'Cluster',
  generation: 'spec',
  defaults: [({ spec }) => policyDefaults(spec)],
  validate: { object: policyRules },
  columns: [
    name,
    column('Mutations', ({ spec }) => spec?.mutations?.length ?? 0, { type: 'integer', description: 'How many changes it makes.' }),
    paramKindColumn,
    age,
  ],
})

const objectType = { kind: 'object', name: 'Object', fields: new Map() } as const

function policyRules({ spec }: Policy): readonly FieldError[] {
  const errors = commonPolicyRules(spec)
  const { errors: ofVariables, faults } = policyExpressions(spec, true)
  errors.push(...ofVariables)
  if (!spec?.mutations?.length) errors.push(required('spec.mutations', 'mutations must contain at least one item'))
  spec?.mutations?.forEach(({ patchType, applyConfiguration, jsonPatch }, at) => {
    const path = `spec.mutations[${at}]`
    const expression = (source: string | undefined, field: string, type: Type): readonly FieldError[] =>
      source?.trim() ? faults(source, field, [type]) : [required(field, 'expression is not specified')]
    if (!patchType) errors.push(required(`${path}.patchType`))
    errors.push(...oneOf(patchType, `${path}.patchType`, ['ApplyConfiguration', 'JSONPatch']))
    if (patchType === 'ApplyConfiguration') errors.push(...expression(applyConfiguration?.expression, `${path}.applyConfiguration.expression`, objectType))
    if (patchType === 'JSONPatch') errors.push(...expression(jsonPatch?.expression, `${path}.jsonPatch.expression`, listType(jsonPatchType)))
  })
  if (!spec?.reinvocationPolicy) errors.push(required('spec.reinvocationPolicy'))
  return errors.concat(oneOf(spec?.reinvocationPolicy, 'spec.reinvocationPolicy', ['IfNeeded', 'Never']))
}

export const betaMutatingAdmissionPolicies = servedAlso(mutatingAdmissionPolicies, 'v1beta1', 'V1beta1MutatingAdmissionPolicy')
export const alphaMutatingAdmissionPolicies = servedAlso(mutatingAdmissionPolicies, 'v1alpha1', 'V1alpha1MutatingAdmissionPolicy')
