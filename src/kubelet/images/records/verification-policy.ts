/** Policies for images that are present: which pods must show credentials for them (KEP-2535). */
import { parseImageName } from '../../../node/images/image-name.ts'

/** Returns true if a pod must have credentials for an image that is present. */
export type VerificationPolicy = (image: string, isPulledByKubelet: boolean) => boolean

/** The values of `imagePullCredentialsVerificationPolicy`. */
export const policyNames = [
  'NeverVerify',
  'NeverVerifyPreloadedImages',
  'NeverVerifyAllowlistedImages',
  'AlwaysVerify',
] as const

export type PolicyName = (typeof policyNames)[number]

export const isPolicyName = (name: string): name is PolicyName => (policyNames as readonly string[]).includes(name)

/** `allowlist` is `preloadedImagesVerificationAllowlist`. Throws an Error if a pattern in it is not valid. */
export function verificationPolicy(name: PolicyName, allowlist: readonly string[] = []): VerificationPolicy {
  switch (name) {
    case 'NeverVerify':
      return () => false
    case 'NeverVerifyPreloadedImages':
      return (_image, isPulledByKubelet) => isPulledByKubelet
    case 'NeverVerifyAllowlistedImages':
      return allowlistPolicy(allowlist)
    case 'AlwaysVerify':
      return () => true
  }
  return name satisfies never
}

function allowlistPolicy(allowlist: readonly string[]): VerificationPolicy {
  for (const pattern of allowlist) checkPattern(pattern)
  const names = new Set(allowlist.filter((pattern) => !pattern.endsWith('/*')))
  const prefixes = allowlist.filter((pattern) => pattern.endsWith('/*')).map((pattern) => pattern.slice(0, -1))
  return (image) => {
    const { repository } = parseImageName(image)
    return !names.has(repository) && !prefixes.some((prefix) => repository.startsWith(prefix))
  }
}

/** A pattern is a registry and repository, or ends with `/*`. */
function checkPattern(pattern: string): void {
  if (pattern !== pattern.trim()) throw new Error(`leading/trailing spaces are not allowed: ${pattern}`)
  const isWildcard = pattern.endsWith('/*')
  const trimmed = isWildcard ? pattern.slice(0, -1) : pattern
  if (trimmed === '') throw new Error(`the supplied pattern is too short: ${pattern}`)
  if (trimmed.includes('*'))
    throw new Error(`not a valid wildcard pattern, only patterns ending with '/*' are allowed: ${pattern}`)
  if (isWildcard) {
    if (trimmed.length === 1) throw new Error('at least registry hostname is required')
  } else if (parseImageName(trimmed).repository !== trimmed)
    throw new Error(`neither tag nor digest is accepted in an image reference: ${pattern}`)
}
