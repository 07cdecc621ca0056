/** Validation of a pod's resource claims, and of those that its containers use (KEP-4381). */

import {
  duplicate,
  type FieldError,
  fieldError,
  invalidValue,
  required,
} from '../../../../machinery/validation/field-error.ts'
import { all, duplicateFinder, each, follows, valid } from '../../../../machinery/validation/field-rules.ts'
import { optional, struct, text } from '../../../../machinery/validation/internal-type.ts'
import { dnsLabel, dnsSubdomain } from '../../../../machinery/validation/names.ts'
import type { Container, PodSpec } from '../model.ts'

type PodClaim = NonNullable<PodSpec['resourceClaims']>[number]
type UsedClaim = NonNullable<NonNullable<Container['resources']>['claims']>[number]

const noClaims: ReadonlySet<string> = new Set()

/** Returns the names of a pod's claims, for its containers. */
export const claimNames = ({ resourceClaims }: PodSpec): ReadonlySet<string> =>
  resourceClaims?.length ? new Set(resourceClaims.flatMap(({ name }) => (name ? [name] : []))) : noClaims

const shownClaim = struct({ Name: text, ResourceClaimName: optional, ResourceClaimTemplateName: optional })

/** Validates `resourceClaims` of a pod: each refers to a claim or a template. */
export function podClaims(list: readonly PodClaim[] | undefined, path: string): readonly FieldError[] {
  if (!list?.length) return valid
  const isRepeated = duplicateFinder<string>()
  return each(list, path, (claim, at) => {
    const { name, resourceClaimName: claimName, resourceClaimTemplateName: templateName } = claim
    return all(
      !name
        ? [required(`${at}.name`)]
        : isRepeated(name)
          ? [duplicate(`${at}.name`, name)]
          : follows(name, `${at}.name`, dnsLabel),
      claimName !== undefined && templateName !== undefined
        ? [
            invalidValue(
              at,
              shownClaim(claim),
              'at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified',
            ),
          ]
        : valid,
      claimName === undefined && templateName === undefined
        ? [invalidValue(at, shownClaim(claim), 'must specify one of: `resourceClaimName`, `resourceClaimTemplateName`')]
        : valid,
      follows(claimName, `${at}.resourceClaimName`, dnsSubdomain),
      follows(templateName, `${at}.resourceClaimTemplateName`, dnsSubdomain),
    )
  })
}

/** Validates `resources.claims` of a container: each refers to a claim of the pod or one of its requests. */
export function usedClaims(
  list: readonly UsedClaim[] | undefined,
  path: string,
  known: ReadonlySet<string>,
): readonly FieldError[] {
  if (!list?.length) return valid
  const whole = new Set<string>()
  const parts = new Map<string, Set<string>>()
  return each(list, path, ({ name, request = '' }, at) => {
    if (!name) return [required(at)]
    const unknownErrors = known.has(name) ? valid : [unknownClaim(at, name, known)]
    if (whole.has(name)) return [duplicate(at, name), ...unknownErrors]
    const requests = parts.get(name) ?? new Set()
    if (!request) {
      whole.add(name)
      return [...Array.from(requests, () => duplicate(at, name)), ...unknownErrors]
    }
    const twice = requests.has(request) ? [duplicate(at, `${name}/${request}`)] : valid
    parts.set(name, requests.add(request))
    return all(follows(request, `${at}.request`, dnsLabel), twice, unknownErrors)
  })
}

function unknownClaim(path: string, name: string, known: ReadonlySet<string>): FieldError {
  const there = known.size === 0 ? ' which is empty' : `: ${[...known].sort().join(', ')}`
  return fieldError(
    'FieldValueNotFound',
    path,
    `Not found: ${JSON.stringify(name)}: must be one of the names in pod.spec.resourceClaims${there}`,
  )
}
