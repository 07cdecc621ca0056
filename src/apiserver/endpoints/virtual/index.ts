/** Resources that are computed, not stored: by plural and verb. */

import type { Endpoint } from '../endpoint.ts'
import { createBinding } from '../special/binding.ts'
import {
  localSubjectAccessReview,
  selfSubjectAccessReview,
  selfSubjectRulesReview,
  subjectAccessReview,
} from './access-reviews.ts'
import { getComponentStatus, listComponentStatuses } from './component-statuses.ts'
import { selfSubjectReview, tokenReview } from './identity-reviews.ts'

export const virtualResources: Readonly<Record<string, Readonly<Partial<Record<string, Endpoint>>>>> = {
  bindings: { create: createBinding },
  componentstatuses: { get: getComponentStatus, list: listComponentStatuses },
  localsubjectaccessreviews: { create: localSubjectAccessReview },
  selfsubjectaccessreviews: { create: selfSubjectAccessReview },
  selfsubjectreviews: { create: selfSubjectReview },
  selfsubjectrulesreviews: { create: selfSubjectRulesReview },
  subjectaccessreviews: { create: subjectAccessReview },
  tokenreviews: { create: tokenReview },
}
