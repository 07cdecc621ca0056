/** ValidatingAdmissionPolicies: validation of admitted objects, in CEL. */
import type { V1AuditAnnotation, V1ValidatingAdmissionPolicy, V1Validation } from '@kubernetes/client-node'
import { boolType, nullType, stringType } from '../../cel/types.ts'
import type { Model, Wire } from '../../machinery/object.ts'
import { validateConditions } from '../../machinery/validation/conditions.ts'
import { duplicate, type FieldError, invalidValue, required } from '../../machinery/validation/field-error.ts'
import { duplicateFinder, each, follows, oneOf } from '../../machinery/validation/field-rules.ts'
import { qualifiedName } from '../../machinery/validation/names.ts'
import { age, column, name, resource } from '../resource.ts'
import {
  compilePolicy,
  type PolicyExpressions,
  paramKindColumn,
  policyDefaults,
  validatePolicySpec,
} from './policy-rules.ts'
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
  resetFields: { status: ['metadata', 'spec'] },
  generation: 'spec',
  requiresVersionOnUpdate: true,
  defaults: [({ spec }) => policyDefaults(spec)],
  validate: { object: policyRules, status: statusRules },
  columns: [
    name,
    column('Validations', ({ spec }) => spec?.validations?.length ?? 0, {
      type: 'integer',
      description: 'The number of validations of the policy.',
    }),
    paramKindColumn,
    age,
  ],
})

const maxAnnotations = 20
/** In bytes. */
const maxAnnotationBytes = 5 * 1024
const reasons = ['Forbidden', 'Invalid', 'RequestEntityTooLarge']

function policyRules({ metadata, spec }: Policy): readonly FieldError[] {
  const errors = validatePolicySpec(spec)
  const expressions = compilePolicy(spec)
  errors.push(...expressions.errors)
  const { validations = [], auditAnnotations = [] } = spec ?? {}
  if (validations.length === 0 && auditAnnotations.length === 0)
    return [
      ...errors,
      required('spec.validations', 'validations or auditAnnotations must contain at least one item'),
      required('spec.auditAnnotations', 'validations or auditAnnotations must contain at least one item'),
    ]
  validations.forEach((validation, at) => {
    errors.push(...validationRules(validation, `spec.validations[${at}]`, expressions))
  })
  if (auditAnnotations.length > maxAnnotations)
    errors.push(
      invalidValue('spec.auditAnnotations', null, `must not have more than ${maxAnnotations} auditAnnotations`),
    )
  const isRepeated = duplicateFinder<string>()
  auditAnnotations.forEach((annotation, at) => {
    const field = `spec.auditAnnotations[${at}]`
    errors.push(...annotationRules(metadata.name ?? '', annotation, field, expressions))
    if (isRepeated(annotation.key)) errors.push(duplicate(`${field}.key`, annotation.key))
  })
  return errors
}

function statusRules({ status }: Policy): readonly FieldError[] {
  const warnings = each(
    status?.typeChecking?.expressionWarnings,
    'status.typeChecking.expressionWarnings',
    ({ fieldRef, warning }, path) => [
      ...(warning ? [] : [required(`${path}.warning`)]),
      ...(fieldRef?.trim() ? [] : [required(`${path}.fieldRef`)]),
    ],
  )
  return [...warnings, ...validateConditions(status?.conditions, 'status.conditions')]
}

function validationRules(
  { expression, message, messageExpression, reason }: Wire<V1Validation>,
  field: string,
  { validate }: PolicyExpressions,
): FieldError[] {
  const errors: FieldError[] = []
  if (!expression?.trim()) errors.push(required(`${field}.expression`, 'expression is not specified'))
  else errors.push(...validate(expression, `${field}.expression`, [boolType]))
  if (messageExpression) {
    if (messageExpression.trim() === '')
      errors.push(invalidValue(`${field}.messageExpression`, messageExpression, 'must be non-empty if specified'))
    else errors.push(...validate(messageExpression, `${field}.messageExpression`, [stringType], true))
  }
  if (message && message.trim() === '')
    errors.push(invalidValue(`${field}.message`, message, 'message must be non-empty if specified'))
  else if (message && /[\n\r]/.test(message.trim()))
    errors.push(invalidValue(`${field}.message`, message, 'message must not contain line breaks'))
  return errors.concat(reason === undefined ? [] : oneOf(reason, `${field}.reason`, reasons))
}

function annotationRules(
  policy: string,
  { key, valueExpression }: Wire<V1AuditAnnotation>,
  field: string,
  { validate }: PolicyExpressions,
): FieldError[] {
  const errors: FieldError[] = []
  if (policy === '') errors.push(invalidValue(`${field}.key`, key, 'requires metadata.name be non-empty'))
  else errors.push(...follows(`${policy}/${key}`, `${field}.key`, qualifiedName))
  const value = valueExpression?.trim()
  if (!value) return [...errors, required(`${field}.valueExpression`, 'valueExpression is not specified')]
  if (Buffer.byteLength(value) > maxAnnotationBytes)
    return [...errors, required(`${field}.valueExpression`, `must not exceed ${maxAnnotationBytes} bytes in length`)]
  return [...errors, ...validate(value, `${field}.valueExpression`, [stringType, nullType])]
}
