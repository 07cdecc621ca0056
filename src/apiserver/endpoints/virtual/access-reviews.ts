/** Access reviews: checks with the authorizer of requests whether a user may do something. */
import type { KubeObject } from '../../../machinery/object.ts'
import { badRequest, StatusError } from '../../../machinery/status-error.ts'
import type { FieldError } from '../../../machinery/validation/field-error.ts'
import type { AccessAttributes } from '../../authorization/authorizer.ts'
import {
  fieldRequirements,
  labelRequirements,
  type SelectorAttributes,
} from '../../authorization/selector-attributes.ts'
import type { UserInfo } from '../../request-info/user-info.ts'
import type { Target } from '../endpoint.ts'
import { localRules, metadataRules, specRules } from './access-review-rules.ts'
import { review } from './review.ts'

export interface ResourceAttributes {
  readonly namespace?: string
  readonly verb?: string
  readonly group?: string
  readonly version?: string
  readonly resource?: string
  readonly subresource?: string
  readonly name?: string
  readonly fieldSelector?: SelectorAttributes
  readonly labelSelector?: SelectorAttributes
}

export interface AccessReviewSpec {
  readonly resourceAttributes?: ResourceAttributes
  readonly nonResourceAttributes?: { readonly path?: string; readonly verb?: string }
  readonly user?: string
  readonly groups?: readonly string[]
  readonly uid?: string
  readonly extra?: Readonly<Record<string, readonly string[]>>
}

export interface AccessReview extends KubeObject {
  spec?: AccessReviewSpec
  status?: { allowed: boolean; denied?: boolean; reason?: string; evaluationError?: string }
}

interface RulesReview extends KubeObject {
  spec?: { namespace?: string }
  status?: unknown
}

/** Throws 422 without a kind, as upstream, which has lost it by then. */
function rejectInvalid(errors: readonly FieldError[]): void {
  if (errors.length === 0) return
  const texts = errors.map(({ field, message }) => `${field}: ${message}`)
  const text = texts.length === 1 ? texts[0] : `[${texts.join(', ')}]`
  throw new StatusError(422, 'Invalid', `.authorization.k8s.io "" is invalid: ${text}`, {
    group: 'authorization.k8s.io',
    causes: [...errors],
  })
}

interface AccessCheck {
  readonly attributes: AccessAttributes
  /** Selectors that were ignored. */
  readonly errors: readonly string[]
}

function accessCheckOf({ resourceAttributes, nonResourceAttributes }: AccessReviewSpec, user: UserInfo): AccessCheck {
  const none = { prefix: '', group: '', version: '*', namespace: '', resource: '', subresource: '', name: '', rest: [] }
  if (!resourceAttributes) {
    const { path = '', verb = '' } = nonResourceAttributes ?? {}
    return { attributes: { user, info: { ...none, version: '', isResourceRequest: false, path, verb } }, errors: [] }
  }
  const { verb = '', version, fieldSelector = {}, labelSelector = {}, ...place } = resourceAttributes
  const fields = fieldRequirements(fieldSelector)
  const labels = labelRequirements(labelSelector)
  return {
    attributes: {
      user,
      info: { ...none, ...place, version: version || '*', isResourceRequest: true, path: '', verb },
      ...(fields.requirements && { fieldSelector: fields.requirements }),
      ...(labels.requirements && { labelSelector: labels.requirements }),
    },
    errors: [...ignored('fieldSelector', fields), ...ignored('labelSelector', labels)],
  }
}

const ignored = (name: string, { faulty, requirements }: ReturnType<typeof fieldRequirements>): string[] =>
  faulty ? [`spec.resourceAttributes.${name} ${requirements ? 'partially ignored' : 'ignored'} due to parse error`] : []

async function answer(reviewed: AccessReview, user: UserInfo, { services }: Target): Promise<void> {
  const { attributes, errors } = accessCheckOf(reviewed.spec ?? {}, user)
  const { verdict, reason, evaluationError } = await services.authorizer.authorize(attributes)
  const problems = [...(evaluationError ? [evaluationError] : []), ...errors].join('; ')
  reviewed.status = {
    allowed: verdict === 'allow',
    ...(verdict === 'deny' && { denied: true }),
    ...(reason && { reason }),
    ...(problems && { evaluationError: problems }),
  }
}

const userOf = ({ user = '', groups = [], uid, extra }: AccessReviewSpec): UserInfo => ({
  name: user,
  groups,
  ...(uid && { uid }),
  ...(extra && { extra }),
})

const ignoredFields = ['managedFields']

export const subjectAccessReview = review<AccessReview>((question, target) => {
  const { metadata, spec = {} } = question
  rejectInvalid([...specRules(spec, true), ...metadataRules(metadata, ignoredFields, 'must be empty')])
  return answer(question, userOf(spec), target)
})

export const selfSubjectAccessReview = review<AccessReview>((question, target) => {
  const { metadata, spec = {} } = question
  rejectInvalid([...specRules(spec, false), ...metadataRules(metadata, ignoredFields, 'must be empty')])
  return answer(question, target.request.user!, target)
})

export const localSubjectAccessReview = review<AccessReview>((question, target) => {
  const { namespace } = target.request.info
  question.metadata.namespace = namespace
  const { metadata, spec = {} } = question
  const empty = 'must be empty except for namespace'
  rejectInvalid([
    ...specRules(spec, true),
    ...metadataRules(metadata, [...ignoredFields, 'namespace'], empty),
    ...localRules(question),
  ])
  return answer(question, userOf(spec), target)
})

/** The response does not repeat the spec, as upstream. */
export const selfSubjectRulesReview = review<RulesReview>(async (question, { request, services }) => {
  const namespace = question.spec?.namespace
  if (!namespace) throw badRequest('no namespace on request')
  question.metadata = {}
  question.spec = {}
  question.status = await services.authorizer.rulesFor(request.user!, namespace)
})
