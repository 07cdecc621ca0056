/** What the status of a definition should be: a pure function of the definition and of the names that others of its group have. */
import { isDeepStrictEqual } from 'node:util'
import type { Definition } from '../../api/apiextensions/custom-resource-definition.ts'
import { acceptNames, type UsedNames } from './accepted-names.ts'
import { type Condition, conditionOf, type Verdict, withCondition } from './conditions.ts'

type Status = NonNullable<Definition['status']>

const approvalAnnotation = 'api-approved.kubernetes.io'
const protectedGroup = /(^|\.)(k8s|kubernetes)\.io$/

/** The new status, or undefined if it is as it should be. `now` is a timestamp. */
export function plannedStatus(definition: Definition, used: UsedNames, now: string): Status | undefined {
  const { status } = definition
  const { names, condition } = acceptNames(definition.spec.names, status?.acceptedNames ?? {}, used)
  let conditions: Condition[] = withCondition(status?.conditions ?? [], condition, now)
  conditions = withCondition(conditions, established(definition, condition), now)
  const approval = approvalOf(definition)
  if (approval) conditions = withCondition(conditions, approval, now)
  const planned: Status = { ...status, acceptedNames: names, conditions, storedVersions: status?.storedVersions ?? [] }
  return isDeepStrictEqual(planned, status) ? undefined : planned
}

/** Once established, a definition stays so, whatever names it asks for later. */
function established(definition: Definition, accepted: Verdict): Verdict {
  if (conditionOf(definition, 'Established')?.status === 'True' || accepted.status === 'True')
    return { type: 'Established', status: 'True', reason: 'InitialNamesAccepted', message: 'the initial names have been accepted' }
  return { type: 'Established', status: 'False', reason: 'NotAccepted', message: 'not all names are accepted' }
}

/** Groups that belong to Kubernetes itself say who has approved their APIs. */
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
    return { type, status: 'False', reason: 'UnapprovedAnnotation', message: `not approved: ${JSON.stringify(annotation)}` }
  if (URL.canParse(annotation)) return { type, status: 'True', reason: 'ApprovedAnnotation', message: `approved in ${annotation}` }
  return {
    type,
    status: 'False',
    reason: 'InvalidAnnotation',
    message: `protected groups must have approval annotation ${JSON.stringify(approvalAnnotation)} with either a URL or a reason starting with "unapproved", ${page}`,
  }
}
