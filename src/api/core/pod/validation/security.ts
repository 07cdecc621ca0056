/** Rules for security contexts of pods and containers, and for what operating systems do not have. */
import { duplicate, type FieldError, forbiddenField, invalidValue, notSupported, required } from '../../../../machinery/validation/field-error.ts'
import { all, each, oneOf, valid } from '../../../../machinery/validation/field-rules.ts'
import type { Container, PodSpec } from '../model.ts'

type PodSecurityContext = NonNullable<PodSpec['securityContext']>
type SecurityContext = NonNullable<Container['securityContext']>
type Seccomp = NonNullable<PodSecurityContext['seccompProfile']>

const maxId = 2 ** 31 - 1
const sysctl = /^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$/
const sysctlWords = 'must have at most 253 characters and match regex ^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$'

/** Numbers of users and groups. */
const id = (value: number | undefined, path: string): readonly FieldError[] =>
  value !== undefined && (value < 0 || value > maxId) ? [invalidValue(path, value, `must be between 0 and ${maxId}, inclusive`)] : valid

function profile(value: Seccomp | undefined, path: string, name: 'seccomp' | 'AppArmor'): readonly FieldError[] {
  if (!value) return valid
  if (!value.type) return [required(`${path}.type`, 'type is required when seccompProfile is set')]
  if (value.type === 'Localhost') return value.localhostProfile ? valid : [required(`${path}.localhostProfile`, `must be set when ${name} type is Localhost`)]
  return all(
    value.localhostProfile !== undefined ? [invalidValue(`${path}.localhostProfile`, value, `can only be set when ${name} type is Localhost`)] : valid,
    oneOf(value.type, `${path}.type`, ['Localhost', 'RuntimeDefault', 'Unconfined']),
  )
}

/** `securityContext` of a container. */
export function containerSecurity(context: SecurityContext | undefined, path: string): readonly FieldError[] {
  if (!context) return valid
  const { runAsUser, runAsGroup, seccompProfile, appArmorProfile, allowPrivilegeEscalation, privileged, capabilities } = context
  const errors = [
    ...id(runAsUser, `${path}.runAsUser`),
    ...id(runAsGroup, `${path}.runAsGroup`),
    ...profile(seccompProfile, `${path}.seccompProfile`, 'seccomp'),
    ...profile(appArmorProfile, `${path}.appArmorProfile`, 'AppArmor'),
  ]
  if (allowPrivilegeEscalation === false) {
    if (privileged) errors.push(invalidValue(path, context, 'cannot set `allowPrivilegeEscalation` to false and `privileged` to true'))
    if (capabilities?.add?.includes('CAP_SYS_ADMIN'))
      errors.push(invalidValue(path, context, 'cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN'))
  }
  return errors
}

/** `securityContext` of a pod, with the host's namespaces that it shares. */
export function podSecurity(spec: PodSpec, path: string): readonly FieldError[] {
  const context = spec.securityContext
  if (!context) return valid
  return all(
    id(context.fsGroup, `${path}.fsGroup`),
    id(context.runAsUser, `${path}.runAsUser`),
    id(context.runAsGroup, `${path}.runAsGroup`),
    each(context.supplementalGroups, `${path}.supplementalGroups`, id),
    spec.shareProcessNamespace && spec.hostPID
      ? [invalidValue(`${path}.shareProcessNamespace`, spec.shareProcessNamespace, 'ShareProcessNamespace and HostPID cannot both be enabled')]
      : valid,
    sysctls(context.sysctls, `${path}.sysctls`),
    oneOf(context.fsGroupChangePolicy, `${path}.fsGroupChangePolicy`, ['Always', 'OnRootMismatch']),
    oneOf(context.supplementalGroupsPolicy, `${path}.supplementalGroupsPolicy`, ['Merge', 'Strict']),
    profile(context.seccompProfile, `${path}.seccompProfile`, 'seccomp'),
    profile(context.appArmorProfile, `${path}.appArmorProfile`, 'AppArmor'),
  )
}

function sysctls(list: PodSecurityContext['sysctls'], path: string): readonly FieldError[] {
  if (!list?.length) return valid
  const seen = new Set<string>()
  return list.flatMap(({ name }, i) => {
    const at = `${path}[${i}].name`
    const errors = !name
      ? [required(at)]
      : name.length > 253 || !sysctl.test(name)
        ? [invalidValue(at, name, sysctlWords)]
        : seen.has(name)
          ? [duplicate(at, name)]
          : valid
    seen.add(name)
    return errors
  })
}

const linuxOnlyOfPods = ['hostPID', 'hostIPC', 'hostUsers', 'shareProcessNamespace'] as const
const linuxOnlyOfContexts = [
  'seLinuxOptions',
  'seccompProfile',
  'fsGroup',
  'fsGroupChangePolicy',
  'sysctls',
  'runAsUser',
  'runAsGroup',
  'supplementalGroups',
  'appArmorProfile',
] as const
const linuxOnlyOfContainers = [
  'seLinuxOptions',
  'seccompProfile',
  'capabilities',
  'readOnlyRootFilesystem',
  'privileged',
  'allowPrivilegeEscalation',
  'procMount',
  'runAsUser',
  'runAsGroup',
  'appArmorProfile',
] as const

/** `os`: what it names, and what that operating system cannot do. */
export function operatingSystem(spec: PodSpec, path: string): readonly FieldError[] {
  const name = spec.os?.name
  if (spec.os === undefined) return valid
  if (!name) return [required(`${path}.os.name`)]
  if (name === 'windows') return notOnWindows(spec, path)
  if (name !== 'linux') return [notSupported(`${path}.os`, name, ['linux', 'windows'])]
  return spec.securityContext?.windowsOptions
    ? [forbiddenField(`${path}.securityContext.windowsOptions`, 'windows options cannot be set for a linux pod')]
    : valid
}

function notOnWindows(spec: PodSpec, path: string): readonly FieldError[] {
  const no = (at: string): FieldError => forbiddenField(at, 'cannot be set for a windows pod')
  const set = (value: unknown): boolean => value !== undefined && value !== null && value !== false
  const containers = [
    ...(spec.containers ?? []).map((container, i) => [container, `${path}.containers[${i}]`] as const),
    ...(spec.initContainers ?? []).map((container, i) => [container, `${path}.initContainers[${i}]`] as const),
  ]
  return all(
    linuxOnlyOfPods.filter((field) => set(spec[field])).map((field) => no(`${path}.${field}`)),
    linuxOnlyOfContexts.filter((field) => set(spec.securityContext?.[field])).map((field) => no(`${path}.securityContext.${field}`)),
    containers.flatMap(([{ securityContext }, at]) =>
      linuxOnlyOfContainers.filter((field) => set(securityContext?.[field])).map((field) => no(`${at}.securityContext.${field}`)),
    ),
  )
}
