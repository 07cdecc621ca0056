/**
 * Copies AppArmor profiles from annotations of a new pod, the form before the field existed, to the fields of its
 * containers (KEP-24).
 */
import { own } from '../../../lib/own.ts'
import { semanticallyEqual } from '../../../machinery/equality.ts'
import type { Container, EphemeralContainer, Pod } from './model.ts'
import { appArmorOfContainer } from './validation/annotations.ts'
import { everyContainer } from './validation/containers/every-container.ts'
import { containerSecurity } from './validation/security.ts'

type Profile = NonNullable<NonNullable<Container['securityContext']>['appArmorProfile']>

/** Warnings by pod, stored here because the check finds nothing once the fields are set. */
const warnings = new WeakMap<Pod, readonly string[]>()

/** Returns the warnings about annotations that `applyAppArmorAnnotations` found in the pod. */
export const appArmorWarnings = (pod: Pod): readonly string[] => warnings.get(pod) ?? []

/** Changes the pod. Fields override annotations; annotations without a valid profile are ignored. */
export function applyAppArmorAnnotations(pod: Pod): void {
  const { metadata, spec } = pod
  if (!metadata.annotations || !Object.keys(metadata.annotations).some((key) => key.startsWith(appArmorOfContainer)))
    return
  if (!spec || spec.os?.name === 'windows' || warnings.has(pod)) return
  const found: string[] = []
  for (const [container] of everyContainer(spec, '')) {
    const key = `${appArmorOfContainer}${container.name}`
    const annotation = own(metadata.annotations, key)
    if (annotation === undefined || container.securityContext?.appArmorProfile) continue
    const profile = parseProfile(annotation)
    if (profile && semanticallyEqual(profile, spec.securityContext?.appArmorProfile)) continue
    if (profile) setProfile(container, profile)
    found.push(`metadata.annotations[${key}]: deprecated since v1.30; use the "appArmorProfile" field instead`)
  }
  if (found.length > 0) warnings.set(pod, found)
}

function setProfile(container: Container | EphemeralContainer, appArmorProfile: Profile): void {
  container.securityContext = { ...container.securityContext, appArmorProfile }
}

/** Returns the profile of an annotation, or undefined if it is invalid. */
function parseProfile(annotation: string): Profile | undefined {
  if (annotation === 'unconfined') return { type: 'Unconfined' }
  if (annotation === 'runtime/default') return { type: 'RuntimeDefault' }
  if (!annotation.startsWith('localhost/') || annotation === 'localhost/') return undefined
  const profile = { type: 'Localhost', localhostProfile: annotation.slice('localhost/'.length) }
  return containerSecurity({ appArmorProfile: profile }, '', false).length === 0 ? profile : undefined
}
