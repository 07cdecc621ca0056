/** Access reviews: may this user do that? They ask the authorizer that requests are asked of. */

import type { KubeObject } from '../../../machinery/object.ts'
import { badRequest, invalid } from '../../../machinery/status-error.ts'
import { required } from '../../../machinery/validation/field-error.ts'
import type { UserInfo } from '../../http/exchange.ts'
import type { RequestInfo } from '../../request/request-info.ts'
import type { Target } from '../endpoint.ts'
import { review } from './review.ts'

interface ResourceAttributes {
  namespace?: string
  verb?: string
  group?: string
  version?: string
  resource?: string
  subresource?: string
  name?: string
}

interface AccessReview extends KubeObject {
  spec?: {
    resourceAttributes?: ResourceAttributes
    nonResourceAttributes?: { path?: string; verb?: string }
    user?: string
    groups?: string[]
    uid?: string
    extra?: Record<string, string[]>
  }
  status?: { allowed: boolean; denied?: boolean; reason?: string; evaluationError?: string }
}

interface RulesReview extends KubeObject {
  spec?: { namespace?: string }
  status?: unknown
}

const groupKind = { group: 'authorization.k8s.io', name: '' }

function infoOf({ spec }: AccessReview): RequestInfo {
  const resource = spec?.resourceAttributes
  const path = spec?.nonResourceAttributes
  if (resource && path)
    throw invalid(groupKind, '', [
      {
        reason: 'FieldValueInvalid',
        field: 'spec.nonResourceAttributes',
        message: 'Invalid value: cannot be specified in combination with resourceAttributes',
      },
    ])
  if (!resource && !path)
    throw invalid(groupKind, '', [required('spec.resourceAttributes', 'exactly one of nonResourceAttributes or resourceAttributes must be specified')])
  const none = { prefix: '', group: '', version: '', namespace: '', resource: '', subresource: '', name: '', rest: [] }
  if (path) return { ...none, isResourceRequest: false, path: path.path ?? '', verb: path.verb ?? '' }
  const { verb = '', ...rest } = resource!
  return { ...none, ...rest, isResourceRequest: true, path: '', verb }
}

async function answer(question: AccessReview, user: UserInfo, { services }: Target): Promise<void> {
  const { verdict, reason, evaluationError } = await services.authorizer.authorize({ user, info: infoOf(question) })
  question.status = {
    allowed: verdict === 'allow',
    ...(verdict === 'deny' && { denied: true }),
    ...(reason && { reason }),
    ...(evaluationError && { evaluationError }),
  }
}

function userOf({ spec }: AccessReview): UserInfo {
  const { user, groups = [], uid, extra } = spec ?? {}
  if (!user && groups.length === 0) throw invalid(groupKind, '', [required('spec.user', 'at least one of user or group must be specified')])
  return { name: user ?? '', groups, ...(uid && { uid }), ...(extra && { extra }) }
}

export const subjectAccessReview = review<AccessReview>((question, target) => answer(question, userOf(question), target))

export const selfSubjectAccessReview = review<AccessReview>((question, target) => answer(question, target.request.user!, target))

export const localSubjectAccessReview = review<AccessReview>((question, target) => {
  if (question.spec?.resourceAttributes?.namespace !== target.request.info.namespace)
    throw badRequest(`spec.resourceAttributes.namespace must match namespace: ${target.request.info.namespace}`)
  return answer(question, userOf(question), target)
})

export const selfSubjectRulesReview = review<RulesReview>(async (question, { request, services }) => {
  const namespace = question.spec?.namespace
  if (!namespace) throw badRequest('no namespace on request')
  question.status = await services.authorizer.rulesFor(request.user!, namespace)
})
