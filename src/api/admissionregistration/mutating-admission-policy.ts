/** MutatingAdmissionPolicies: mutations of admitted objects, in CEL. */
import type { V1MutatingAdmissionPolicy, V1Mutation } from '@kubernetes/client-node'
import { jsonPatchType } from '../../cel/admission/environment.ts'
import { listType, type Type } from '../../cel/types.ts'
import type { Model, Wire } from '../../machinery/object.ts'
import { type FieldError, invalidValue, required } from '../../machinery/validation/field-error.ts'
import { each, oneOf } from '../../machinery/validation/field-rules.ts'
import { additionalVersion } from '../additional-version.ts'
import { age, column, name, resource } from '../resource.ts'
import {
  compilePolicy,
  type PolicyExpressions,
  paramKindColumn,
  policyDefaults,
  rejectDelete,
  validatePolicySpec,
} from './policy-rules.ts'
import { admissionGroup } from './webhook-rules.ts'

type Policy = Model<V1MutatingAdmissionPolicy>

export const mutatingAdmissionPolicies = resource<Policy>({
  group: admissionGroup,
  version: 'v1',
  kind: 'MutatingAdmissionPolicy',
  storageHashVersion: 'v1beta1',
  plural: 'mutatingadmissionpolicies',
  categories: ['api-extensions'],
  scope: 'Cluster',
  generation: 'spec',
  requiresVersionOnUpdate: true,
  defaults: [({ spec }) => policyDefaults(spec)],
  validate: { object: policyRules },
  columns: [
    name,
    column('Mutations', ({ spec }) => spec?.mutations?.length ?? 0, {
      type: 'integer',
      description: 'The number of mutations of the policy.',
    }),
    paramKindColumn,
    age,
  ],
})

const objectType = { kind: 'object', name: 'Object', fields: new Map() } as const

function policyRules({ spec }: Policy): readonly FieldError[] {
  const errors = validatePolicySpec(spec)
  const { errors: ofVariables, validate } = compilePolicy(spec, true)
  errors.push(...ofVariables)
  if (!spec?.mutations?.length) errors.push(required('spec.mutations', 'mutations must contain at least one item'))
  errors.push(...rejectDelete(spec?.matchConstraints, 'spec.matchConstraints'))
  errors.push(...each(spec?.mutations, 'spec.mutations', (mutation, path) => mutationRules(mutation, path, validate)))
  if (!spec?.reinvocationPolicy) errors.push(required('spec.reinvocationPolicy'))
  return errors.concat(oneOf(spec?.reinvocationPolicy, 'spec.reinvocationPolicy', ['IfNeeded', 'Never']))
}

/** The field that each patchType requires. */
const patchMembers = { ApplyConfiguration: 'applyConfiguration', JSONPatch: 'jsonPatch' } as const
const patchTypes: Readonly<Record<string, Type>> = {
  applyConfiguration: objectType,
  jsonPatch: listType(jsonPatchType),
}

function mutationRules(
  mutation: Wire<V1Mutation>,
  path: string,
  faults: PolicyExpressions['validate'],
): readonly FieldError[] {
  const { patchType } = mutation
  if (!patchType) return [required(`${path}.patchType`)]
  if (patchType !== 'ApplyConfiguration' && patchType !== 'JSONPatch')
    return oneOf(patchType, `${path}.patchType`, Object.keys(patchMembers))
  const member = patchMembers[patchType]
  const given = mutation[member]
  const source = given?.expression?.trim()
  const errors: FieldError[] = []
  if (!given) errors.push(required(`${path}.${member}`, `must be specified when patchType is ${patchType}`))
  else if (source) errors.push(...faults(source, `${path}.${member}.expression`, [patchTypes[member]!]))
  else errors.push(required(`${path}.${member}.expression`))
  const other = member === 'jsonPatch' ? 'applyConfiguration' : 'jsonPatch'
  if (mutation[other])
    errors.push(invalidValue(`${path}.${other}`, `{${other}}`, `must not be specified when patchType is ${patchType}`))
  return errors
}

export const betaMutatingAdmissionPolicies = additionalVersion(
  mutatingAdmissionPolicies,
  'v1beta1',
  'V1beta1MutatingAdmissionPolicy',
)
export const alphaMutatingAdmissionPolicies = additionalVersion(
  mutatingAdmissionPolicies,
  'v1alpha1',
  'V1alpha1MutatingAdmissionPolicy',
)
