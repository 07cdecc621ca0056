/**
 * Validation of pod annotations with a meaning: mirror pods, deletion cost, and seccomp and AppArmor profiles from
 * before they were fields.
 */
import { own } from '../../../../lib/own.ts'
import { type FieldError, forbiddenField, invalidValue } from '../../../../machinery/validation/field-error.ts'
import { all, valid } from '../../../../machinery/validation/field-rules.ts'
import type { PodSpec } from '../model.ts'
import { everyContainer } from './containers/every-container.ts'
import { descendingPath } from './volumes/paths.ts'

type Annotations = Readonly<Record<string, string>> | undefined

/** Marks a static pod's mirror in the API. */
export const mirrorAnnotation = 'kubernetes.io/config.mirror'
const deletionCost = 'controller.kubernetes.io/pod-deletion-cost'
const seccompOfPod = 'seccomp.security.alpha.kubernetes.io/pod'
const seccompOfContainer = 'container.seccomp.security.alpha.kubernetes.io/'
/** The prefix of a container's name. */
export const appArmorOfContainer = 'container.apparmor.security.beta.kubernetes.io/'

const profileKeys = [seccompOfPod, seccompOfContainer, appArmorOfContainer]

/** Validates the annotations of a pod or a template. */
export function podAnnotations(annotations: Annotations, spec: PodSpec, path: string): readonly FieldError[] {
  if (!annotations) return valid
  const errors: FieldError[] = []
  const mirrored = own(annotations, mirrorAnnotation)
  if (mirrored !== undefined && !spec.nodeName)
    errors.push(
      invalidValue(`${path}[${mirrorAnnotation}]`, mirrored, 'must set spec.nodeName if mirror pod annotation is set'),
    )
  errors.push(...validateDeletionCost(annotations, path))
  const keys = Object.keys(annotations)
  for (const key of keys)
    if (key === seccompOfPod || key.startsWith(seccompOfContainer))
      errors.push(...seccompProfile(annotations[key] ?? '', `${path}.${key}`))
  for (const key of keys)
    if (key.startsWith(appArmorOfContainer)) errors.push(...appArmorProfile(key, annotations[key] ?? '', spec, path))
  return errors
}

function validateDeletionCost(annotations: Annotations, path: string): readonly FieldError[] {
  const cost = own(annotations ?? {}, deletionCost)
  return cost === undefined || isInteger(cost)
    ? valid
    : [invalidValue(`${path}[${deletionCost}]`, cost, 'must be a 32bit integer')]
}

/** Validates an update: an invalid old cost, from before costs were validated, allows any new one. */
export const validateDeletionCostUpdate = (
  annotations: Annotations,
  old: Annotations,
  path: string,
): readonly FieldError[] =>
  validateDeletionCost(old, path).length > 0 ? valid : validateDeletionCost(annotations, path)

/** Returns true for a 32-bit integer without a plus sign and leading zeros. */
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

/** Requires that a profile's annotation and field match if both are set. */
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
  annotation: string | undefined,
  path: string,
): readonly FieldError[] {
  if (!profile || annotation === undefined) return valid
  const wrongType = [forbiddenField(`${path}.type`, `${kind} type in annotation and field must match`)]
  if (profile.type === 'Unconfined') return annotation === 'unconfined' ? valid : wrongType
  if (profile.type === 'RuntimeDefault')
    return annotation === 'runtime/default' || (kind === 'seccomp' && annotation === 'docker/default')
      ? valid
      : wrongType
  if (profile.type !== 'Localhost') return valid
  if (!annotation.startsWith('localhost/')) return wrongType
  return annotation.slice('localhost/'.length) === profile.localhostProfile
    ? valid
    : [forbiddenField(`${path}.localhostProfile`, `${kind} profile in annotation and field must match`)]
}

/** Validates changes of annotations. */
export function podAnnotationsUpdate(
  annotations: Annotations = {},
  old: Annotations = {},
  path: string,
): readonly FieldError[] {
  const errors: FieldError[] = []
  const reject = (key: string, verb: string): void => {
    if (key.startsWith(appArmorOfContainer))
      errors.push(forbiddenField(`${path}[${key}]`, `may not ${verb} AppArmor annotations`))
    if (key === mirrorAnnotation)
      errors.push(forbiddenField(`${path}[${key}]`, `may not ${verb} mirror pod annotation`))
  }
  for (const key in old) if (own(annotations, key) !== old[key]) reject(key, 'remove or update')
  for (const key in annotations) if (!Object.hasOwn(old, key)) reject(key, 'add')
  return errors
}
