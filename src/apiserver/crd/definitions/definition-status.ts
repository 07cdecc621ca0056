/**
 * Computes the status of a definition from the definition and the names that others of its group use.
 */
import { isDeepStrictEqual } from 'node:util'
import type { Definition } from '../../../api/apiextensions/custom-resource-definition.ts'
import { nonStructuralFaults, type SchemaSource } from '../../../machinery/structural-schema/index.ts'
import { invalidValue } from '../../../machinery/validation/field-error.ts'
import { acceptNames, type UsedNames } from './accepted-names.ts'
import { type Condition, conditionOf, type Verdict, withCondition } from './conditions.ts'

type Status = NonNullable<Definition['status']>

const approvalAnnotation = 'api-approved.kubernetes.io'
const protectedGroup = /(^|\.)(k8s|kubernetes)\.io$/

/** Returns the new status, or undefined if it needs no change. `now` is a timestamp. */
export function plannedStatus(definition: Definition, used: UsedNames, now: string): Status | undefined {
  const { status } = definition
  const structural = structuralOf(definition)
  const { names, condition } = acceptNames(definition.spec.names, status?.acceptedNames ?? {}, used)
  // A fixed schema loses its condition.
  let conditions: Condition[] = (status?.conditions ?? []).filter(
    ({ type }) => type !== 'NonStructuralSchema' || structural,
  )
  conditions = withCondition(conditions, condition, now)
  conditions = withCondition(conditions, established(definition, condition), now)
  for (const verdict of [approvalOf(definition), structural])
    if (verdict) conditions = withCondition(conditions, verdict, now)
  const planned: Status = { ...status, acceptedNames: names, conditions, storedVersions: status?.storedVersions ?? [] }
  return isDeepStrictEqual(planned, status) ? undefined : planned
}

/** An established definition stays established, even if it requests other names later. */
function established(definition: Definition, accepted: Verdict): Verdict {
  if (conditionOf(definition, 'Established')?.status === 'True' || accepted.status === 'True')
    return {
      type: 'Established',
      status: 'True',
      reason: 'InitialNamesAccepted',
      message: 'the initial names have been accepted',
    }
  return { type: 'Established', status: 'False', reason: 'NotAccepted', message: 'not all names are accepted' }
}

/** The condition of definitions with non-structural schemas, stored before schemas had to be structural. */
function structuralOf(definition: Definition): Verdict | undefined {
  const faults = definition.spec.versions.flatMap(({ schema }, at) =>
    schema?.openAPIV3Schema
      ? nonStructuralFaults(schema.openAPIV3Schema as SchemaSource, `spec.versions[${at}].schema.openAPIV3Schema`)
      : [],
  )
  if (definition.spec.preserveUnknownFields)
    faults.unshift(invalidValue('spec.preserveUnknownFields', true, 'must be false'))
  const messages = faults.map(({ field, message }) => `${field}: ${message}`)
  if (messages.length === 0) return undefined
  return {
    type: 'NonStructuralSchema',
    status: 'True',
    reason: 'Violations',
    message: messages.length > 1 ? `[${messages.join(', ')}]` : messages[0]!,
  }
}

/** The approval condition of definitions in groups of Kubernetes itself. */
function approvalOf({ metadata, spec }: Definition): Verdict | undefined {
  if (!protectedGroup.test(spec.group)) return undefined
  const type = 'KubernetesAPIApprovalPolicyConformant'
  const annotation = metadata.annotations?.[approvalAnnotation]
  const page = 'see https://github.com/kubernetes/enhancements/pull/1111'
  if (!annotation)
    return {
      type,
      status: 'False',
      reason: 'MissingAnnotation',
      message: `protected groups must have approval annotation ${JSON.stringify(approvalAnnotation)}, ${page}`,
    }
  if (annotation.startsWith('unapproved'))
    return {
      type,
      status: 'False',
      reason: 'UnapprovedAnnotation',
      message: `not approved: ${JSON.stringify(annotation)}`,
    }
  if (URL.canParse(annotation))
    return { type, status: 'True', reason: 'ApprovedAnnotation', message: `approved in ${annotation}` }
  return {
    type,
    status: 'False',
    reason: 'InvalidAnnotation',
    message:
      `protected groups must have approval annotation ${JSON.stringify(approvalAnnotation)} with either a URL or ` +
      `a reason starting with "unapproved", ${page}`,
  }
}
