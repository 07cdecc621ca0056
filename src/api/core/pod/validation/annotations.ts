/**
 * Rules for the annotations of pods that mean something: mirror pods, the cost of deletion, and profiles from before
 * they were fields.
 */
import { own } from '../../../../lib/own.ts'
import { type FieldError, forbiddenField, invalidValue } from '../../../../machinery/validation/field-error.ts'
import { all, valid } from '../../../../machinery/validation/field-rules.ts'
import type { PodSpec } from '../model.ts'
import { everyContainer } from './containers/every-container.ts'
import { descendingPath } from './volumes/paths.ts'

type Annotations = Readonly<Record<string, string>> | undefined

/** A kubelet shows the pods of its own files under it. */
export const mirrorAnnotation = 'kubernetes.io/config.mirror'
const deletionCost = 'controller.kubernetes.io/pod-deletion-cost'
const seccompOfPod = 'seccomp.security.alpha.kubernetes.io/pod'
const seccompOfContainer = 'container.seccomp.security.alpha.kubernetes.io/'
/** Before a container's name. */
export const appArmorOfContainer = 'container.apparmor.security.beta.kubernetes.io/'

const profileKeys = [seccompOfPod, seccompOfContainer, appArmorOfContainer]

/** What annotations of a pod or a template may not say. */
export function podAnnotations(annotations: Annotations, spec: PodSpec, path: string): readonly FieldError[] {
  if (!annotations) return valid
  const errors: FieldError[] = []
  const mirrored = own(annotations, mirrorAnnotation)
  if (mirrored !== undefined && !spec.nodeName)
    errors.push(
      invalidValue(`${path}[${mirrorAnnotation}]`, mirrored, 'must set spec.nodeName if mirror pod annotation is set'),
    )
  errors.push(...costOfDeletion(annotations, path))
  const keys = Object.keys(annotations)
  for (const key of keys)
    if (key === seccompOfPod || key.startsWith(seccompOfContainer))
      errors.push(...seccompProfile(annotations[key] ?? '', `${path}.${key}`))
  for (const key of keys)
    if (key.startsWith(appArmorOfContainer)) errors.push(...appArmorProfile(key, annotations[key] ?? '', spec, path))
  return errors
}

function costOfDeletion(annotations: Annotations, path: string): readonly FieldError[] {
  const cost = own(annotations ?? {}, deletionCost)
  return cost === undefined || isInteger(cost)
    ? valid
    : [invalidValue(`${path}[${deletionCost}]`, cost, 'must be a 32bit integer')]
}

/** For an update: a wrong cost that was stored before costs were checked does no harm. */
export const costOfDeletionUpdate = (
  annotations: Annotations,
  old: Annotations,
  path: string,
): readonly FieldError[] => (costOfDeletion(old, path).length > 0 ? valid : costOfDeletion(annotations, path))

/** Without a plus sign and leading zeros. */
const isInteger = (text: string): boolean =>
  /^(0|-\d+|[1-9]\d*)$/.test(text) && Number(text) >= -(2 ** 31) && Number(text) < 2 ** 31

const seccompNames = new Set(['runtime/default', 'docker/default', 'unconfined'])

function seccompProfile(profile: string, path: string): readonly FieldError[] {
  if (seccompNames.has(profile)) return valid
  return profile.startsWith('localhost/')
    ? descendingPath(profile.slice('localhost/'.length), path)
    : [invalidValue(path, profile, 'must be a valid seccomp profile')]
}

function appArmorProfile(key: string, profile: string, spec: PodSpec, path: string): readonly FieldError[] {
  const name = key.slice(appArmorOfContainer.length)
  const isKnown = everyContainer(spec, path).some(([container]) => container.name === name)
  const isProfile =
    profile === '' || profile === 'runtime/default' || profile === 'unconfined' || profile.startsWith('localhost/')
  return all(
    isKnown ? valid : [invalidValue(`${path}[${key}]`, name, 'container not found')],
    isProfile
      ? valid
      : [invalidValue(`${path}[${key}]`, profile, `invalid AppArmor profile name: ${JSON.stringify(profile)}`)],
  )
}

interface Profile {
  readonly type?: string
  readonly localhostProfile?: string
}

/** Where a profile is said by an annotation and by a field, both say the same. */
export function matchingProfiles(annotations: Annotations, spec: PodSpec, path: string): readonly FieldError[] {
  if (!annotations || !Object.keys(annotations).some((key) => profileKeys.some((prefix) => key.startsWith(prefix))))
    return valid
  const ofPod = spec.securityContext
  const isLinux = spec.os?.name !== 'windows'
  return all(
    matches('seccomp', ofPod?.seccompProfile, own(annotations, seccompOfPod), `${path}.securityContext.seccompProfile`),
    everyContainer(spec, path).flatMap(([{ name, securityContext }, at]) =>
      matches(
        'seccomp',
        securityContext?.seccompProfile,
        own(annotations, `${seccompOfContainer}${name}`),
        `${at}.securityContext.seccompProfile`,
      ),
    ),
    isLinux
      ? everyContainer(spec, path).flatMap(([{ name, securityContext }, at]) => {
          const profile = securityContext?.appArmorProfile ?? ofPod?.appArmorProfile
          return matches(
            'apparmor',
            profile,
            own(annotations, `${appArmorOfContainer}${name}`),
            `${at}.securityContext.appArmorProfile`,
          )
        })
      : valid,
  )
}

function matches(
  kind: 'seccomp' | 'apparmor',
  profile: Profile | undefined,
  said: string | undefined,
  path: string,
): readonly FieldError[] {
  if (!profile || said === undefined) return valid
  const wrongType = [forbiddenField(`${path}.type`, `${kind} type in annotation and field must match`)]
  if (profile.type === 'Unconfined') return said === 'unconfined' ? valid : wrongType
  if (profile.type === 'RuntimeDefault')
    return said === 'runtime/default' || (kind === 'seccomp' && said === 'docker/default') ? valid : wrongType
  if (profile.type !== 'Localhost') return valid
  if (!said.startsWith('localhost/')) return wrongType
  return said.slice('localhost/'.length) === profile.localhostProfile
    ? valid
    : [forbiddenField(`${path}.localhostProfile`, `${kind} profile in annotation and field must match`)]
}

/** What an update may not do to them. */
export function podAnnotationsUpdate(
  annotations: Annotations = {},
  old: Annotations = {},
  path: string,
): readonly FieldError[] {
  const errors: FieldError[] = []
  const refuse = (key: string, verb: string): void => {
    if (key.startsWith(appArmorOfContainer))
      errors.push(forbiddenField(`${path}[${key}]`, `may not ${verb} AppArmor annotations`))
    if (key === mirrorAnnotation)
      errors.push(forbiddenField(`${path}[${key}]`, `may not ${verb} mirror pod annotation`))
  }
  for (const key in old) if (own(annotations, key) !== old[key]) refuse(key, 'remove or update')
  for (const key in annotations) if (!Object.hasOwn(old, key)) refuse(key, 'add')
  return errors
}
