/** Rejects requests that the user is not allowed to make: 403, before anything is read. */
import { after } from '../../../lib/flow/after.ts'
import type { Authorizer } from '../../authorization/authorizer.ts'
import { forbiddenError } from '../../authorization/forbidden-error.ts'
import { attributesOf } from '../../authorization/selector-attributes.ts'
import type { WrappingFilter } from '../filter.ts'
import type { AuthorizationMetrics } from './authorization-metrics.ts'

export const authorization =
  (authorizer: Authorizer, metrics: AuthorizationMetrics): WrappingFilter =>
  (request, next) => {
    const started = performance.now()
    return after(authorizer.authorize(attributesOf(request)), (decision) => {
      metrics(decision, performance.now() - started)
      const { audit } = request
      if (audit) {
        audit.annotate('authorization.k8s.io/decision', decision.verdict === 'allow' ? 'allow' : 'forbid')
        audit.annotate('authorization.k8s.io/reason', decision.reason)
      }
      if (decision.verdict === 'allow') return next(request)
      throw forbiddenError(request, decision.reason)
    })
  }
