/** authentication.k8s.io: reviews of identities. Nothing is stored; the server computes the response. */
import { resource } from '../resource.ts'

const review = {
  group: 'authentication.k8s.io',
  version: 'v1',
  scope: 'Cluster',
  verbs: ['create'],
  virtual: true,
} as const

/** The user of the request. */
export const selfSubjectReviews = resource({ ...review, kind: 'SelfSubjectReview', plural: 'selfsubjectreviews' })

/** The user and audiences of a token. */
export const tokenReviews = resource({ ...review, kind: 'TokenReview', plural: 'tokenreviews' })

export const resources = [selfSubjectReviews, tokenReviews]
