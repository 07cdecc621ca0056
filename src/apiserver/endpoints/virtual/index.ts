/** Resources that are computed, not stored: by kind and verb. */

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
import { getNodeMetrics, getPodMetrics, listNodeMetrics, listPodMetrics } from './resource-metrics.ts'

export const virtualResources: Readonly<Record<string, Readonly<Partial<Record<string, Endpoint>>>>> = {
  Binding: { create: createBinding },
  ComponentStatus: { get: getComponentStatus, list: listComponentStatuses },
  LocalSubjectAccessReview: { create: localSubjectAccessReview },
  NodeMetrics: { get: getNodeMetrics, list: listNodeMetrics },
  PodMetrics: { get: getPodMetrics, list: listPodMetrics },
  SelfSubjectAccessReview: { create: selfSubjectAccessReview },
  SelfSubjectReview: { create: selfSubjectReview },
  SelfSubjectRulesReview: { create: selfSubjectRulesReview },
  SubjectAccessReview: { create: subjectAccessReview },
  TokenReview: { create: tokenReview },
}
