/** authorization.k8s.io: questions about who may do what. Nothing is stored; the server answers by itself. */
import { resource } from '../resource.ts'

const review = {
  group: 'authorization.k8s.io',
  version: 'v1',
  scope: 'Cluster',
  verbs: ['create'],
  virtual: true,
} as const

/** Whether someone may do something in this namespace. */
export const localSubjectAccessReviews = resource({
  ...review,
  kind: 'LocalSubjectAccessReview',
  plural: 'localsubjectaccessreviews',
  scope: 'Namespaced',
})

/** Whether the asker may do something. */
export const selfSubjectAccessReviews = resource({
  ...review,
  kind: 'SelfSubjectAccessReview',
  plural: 'selfsubjectaccessreviews',
})

/** What the asker may do in a namespace. */
export const selfSubjectRulesReviews = resource({
  ...review,
  kind: 'SelfSubjectRulesReview',
  plural: 'selfsubjectrulesreviews',
})

/** Whether someone may do something. */
export const subjectAccessReviews = resource({ ...review, kind: 'SubjectAccessReview', plural: 'subjectaccessreviews' })

export const resources = [
  localSubjectAccessReviews,
  selfSubjectAccessReviews,
  selfSubjectRulesReviews,
  subjectAccessReviews,
]
