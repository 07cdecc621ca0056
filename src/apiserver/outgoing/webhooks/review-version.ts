/** The versions of reviews that webhooks may support: all kinds of reviews exist in these two. */

export const reviewVersions = ['v1', 'v1beta1'] as const
export type ReviewVersion = (typeof reviewVersions)[number]

/** The first supported version that is known here. Throws an Error with `refusal` if there is none. */
export function reviewVersion(accepted: readonly string[], refusal: string): ReviewVersion {
  for (const version of accepted) {
    const found = reviewVersions.find((one) => one === version)
    if (found) return found
  }
  throw new Error(refusal)
}
