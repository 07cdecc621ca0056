/** The versions of the reviews that webhooks are sent: all kinds of reviews came in these two. */

export const reviewVersions = ['v1', 'v1beta1'] as const
export type ReviewVersion = (typeof reviewVersions)[number]

/** The first of the versions that a webhook takes which is known here. Throws an Error with `refusal` if none is. */
export function reviewVersion(accepted: readonly string[], refusal: string): ReviewVersion {
  for (const version of accepted) {
    const found = reviewVersions.find((one) => one === version)
    if (found) return found
  }
  throw new Error(refusal)
}
