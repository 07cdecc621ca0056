/**
 * AppArmor profiles that a new pod names in annotations, as it was done before there was a field: they become the field
 * of their containers (KEP-24).
 */
import { own } from '../../../lib/own.ts'
import { semanticallyEqual } from '../../../machinery/equality.ts'
import type { Container, EphemeralContainer, Pod } from './model.ts'
import { appArmorOfContainer } from './validation/annotations.ts'
import { everyContainer } from './validation/containers/every-container.ts'
import { containerSecurity } from './validation/security.ts'

type Profile = NonNullable<NonNullable<Container['securityContext']>['appArmorProfile']>

/** Annotations of new pods that a warning is due for: once they are fields it cannot be told any more. */
const warnings = new WeakMap<Pod, readonly string[]>()

/** What is said of the annotations that `applyAppArmorAnnotations` has seen in a pod. */
export const appArmorWarnings = (pod: Pod): readonly string[] => warnings.get(pod) ?? []

/** Changes the pod. Fields win over annotations; those that name no profile become nothing. */
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
    const profile = profileOf(annotation)
    if (profile && semanticallyEqual(profile, spec.securityContext?.appArmorProfile)) continue
    if (profile) setProfile(container, profile)
    found.push(`metadata.annotations[${key}]: deprecated since v1.30; use the "appArmorProfile" field instead`)
  }
  if (found.length > 0) warnings.set(pod, found)
}

function setProfile(container: Container | EphemeralContainer, appArmorProfile: Profile): void {
  container.securityContext = { ...container.securityContext, appArmorProfile }
}

/** The field that an annotation stands for, if it would be valid. */
function profileOf(annotation: string): Profile | undefined {
  if (annotation === 'unconfined') return { type: 'Unconfined' }
  if (annotation === 'runtime/default') return { type: 'RuntimeDefault' }
  if (!annotation.startsWith('localhost/') || annotation === 'localhost/') return undefined
  const profile = { type: 'Localhost', localhostProfile: annotation.slice('localhost/'.length) }
  return containerSecurity({ appArmorProfile: profile }, '', false).length === 0 ? profile : undefined
}
