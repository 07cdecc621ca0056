/** authorization.k8s.io: reviews of permissions. Nothing is stored; the server computes the response. */
import { resource } from '../resource.ts'

const review = {
  group: 'authorization.k8s.io',
  version: 'v1',
  scope: 'Cluster',
  verbs: ['create'],
  virtual: true,
} as const

/** Checks whether a user may perform an action in this namespace. */
export const localSubjectAccessReviews = resource({
  ...review,
  kind: 'LocalSubjectAccessReview',
  plural: 'localsubjectaccessreviews',
  scope: 'Namespaced',
})

/** Checks whether the user of the request may perform an action. */
export const selfSubjectAccessReviews = resource({
  ...review,
  kind: 'SelfSubjectAccessReview',
  plural: 'selfsubjectaccessreviews',
})

/** Lists the actions that the user of the request may perform in a namespace. */
export const selfSubjectRulesReviews = resource({
  ...review,
  kind: 'SelfSubjectRulesReview',
  plural: 'selfsubjectrulesreviews',
})

/** Checks whether a user may perform an action. */
export const subjectAccessReviews = resource({ ...review, kind: 'SubjectAccessReview', plural: 'subjectaccessreviews' })

export const resources = [
  localSubjectAccessReviews,
  selfSubjectAccessReviews,
  selfSubjectRulesReviews,
  subjectAccessReviews,
]
