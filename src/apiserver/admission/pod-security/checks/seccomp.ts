/** Checks of seccomp profiles: by annotations before v1.19, by fields since. */
import { goQuote } from '../../../../lib/go/go-quote.ts'
import {
  type Check,
  type CheckPod,
  containersOf,
  exceptOnWindows,
  named,
  plural,
  quoted,
  setters,
  sortedSet,
} from './check.ts'

const podAnnotation = 'seccomp.security.alpha.kubernetes.io/pod'
const containerAnnotation = 'container.seccomp.security.alpha.kubernetes.io/'
const reason = 'seccompProfile'

const byAnnotations: CheckPod = ({ annotations, spec }) => {
  const bad = sortedSet(
    [podAnnotation, ...containersOf(spec).map(({ name }) => containerAnnotation + name)].flatMap((key) => {
      const value = annotations[key]
      if (
        value === undefined ||
        value === 'runtime/default' ||
        value === 'docker/default' ||
        value.startsWith('localhost/')
      )
        return []
      return `${key}=${goQuote(value)}`
    }),
  )
  return bad.length ? { reason, detail: `forbidden ${plural(bad.length, 'annotation')} ${bad.join(', ')}` } : undefined
}

const isGood = (profile: { readonly type: string }): boolean =>
  profile.type === 'RuntimeDefault' || profile.type === 'Localhost'

/** If `isRequired`, the pod or each container must set a profile. */
const byFields =
  (isRequired: boolean): CheckPod =>
  ({ spec }) => {
    const ofPod = spec.securityContext?.seccompProfile
    const isPodBad = ofPod !== undefined && !isGood(ofPod)
    const types = isPodBad ? [ofPod.type] : []
    const bad: string[] = []
    const unset: string[] = []
    for (const { name, securityContext } of containersOf(spec)) {
      const profile = securityContext?.seccompProfile
      if (!profile) {
        if (!ofPod || isPodBad) unset.push(name)
      } else if (!isGood(profile)) {
        bad.push(name)
        types.push(profile.type)
      }
    }
    const who = setters(isPodBad, bad)
    if (who.length)
      return {
        reason,
        detail: `${who.join(' and ')} must not set securityContext.seccompProfile.type to ${quoted(sortedSet(types))}`,
      }
    if (!isRequired || unset.length === 0) return undefined
    return {
      reason,
      detail: `pod or ${named(unset)} must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost"`,
    }
  }

export const seccompChecks: readonly Check[] = [
  {
    id: 'seccompProfile_baseline',
    level: 'baseline',
    revisions: [
      { since: 0, check: byAnnotations },
      { since: 19, check: byFields(false) },
    ],
  },
  {
    id: 'seccompProfile_restricted',
    level: 'restricted',
    overrides: ['seccompProfile_baseline'],
    revisions: [
      { since: 19, check: byFields(true) },
      { since: 25, check: exceptOnWindows(byFields(true)) },
    ],
  },
]
