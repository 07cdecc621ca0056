/** authentication.k8s.io: questions about who someone is. Nothing is stored; the server answers by itself. */
import { resource } from '../resource.ts'

const review = {
  group: 'authentication.k8s.io',
  version: 'v1',
  scope: 'Cluster',
  verbs: ['create'],
  virtual: true,
} as const

/** Who the asker is. */
export const selfSubjectReviews = resource({ ...review, kind: 'SelfSubjectReview', plural: 'selfsubjectreviews' })

/** Whose a token is, and for whom it is meant. */
export const tokenReviews = resource({ ...review, kind: 'TokenReview', plural: 'tokenreviews' })

export const resources = [selfSubjectReviews, tokenReviews]
