/** Rules for security contexts of pods and containers, and for what operating systems do not have. */
import { duplicate, type FieldError, forbiddenField, invalidValue, notSupported, required, tooLong } from '../../../../machinery/validation/field-error.ts'
import { all, each, oneOf, valid } from '../../../../machinery/validation/field-rules.ts'
import type { Container, PodSpec } from '../model.ts'
import { descendingPath } from './volumes.ts'
import { windowsOptions } from './windows.ts'

type PodSecurityContext = NonNullable<PodSpec['securityContext']>
type SecurityContext = NonNullable<Container['securityContext']>
type Seccomp = NonNullable<PodSecurityContext['seccompProfile']>

const maxId = 2 ** 31 - 1
const sysctl = /^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$/
const sysctlWords = 'must have at most 253 characters and match regex ^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$'

/** Numbers of users and groups. */
const id = (value: number | undefined, path: string): readonly FieldError[] =>
  value !== undefined && (value < 0 || value > maxId) ? [invalidValue(path, value, `must be between 0 and ${maxId}, inclusive`)] : valid

const profileTypes = ['Localhost', 'RuntimeDefault', 'Unconfined']
const maxProfilePath = 4095

/** `localhostProfile` of a profile that lies on the node; below a folder of the kubelet's for seccomp. */
function localProfile(name: string | undefined, path: string, kind: 'seccomp' | 'AppArmor'): readonly FieldError[] {
  if (kind === 'seccomp') return name === undefined ? [required(path, 'must be set when seccomp type is Localhost')] : descendingPath(name, path)
  if (name !== undefined && name.trim() !== name) return [invalidValue(path, name, 'must not be padded with whitespace')]
  if (!name) return [required(path, 'must be set when AppArmor type is Localhost')]
  return name.length > maxProfilePath ? [tooLong(path, maxProfilePath)] : valid
}

function profile(value: Seccomp | undefined, path: string, kind: 'seccomp' | 'AppArmor'): readonly FieldError[] {
  if (!value) return valid
  const field = kind === 'seccomp' ? 'seccompProfile' : 'appArmorProfile'
  if (!value.type) return [required(`${path}.type`, `type is required when ${field} is set`)]
  if (value.type === 'Localhost') return localProfile(value.localhostProfile, `${path}.localhostProfile`, kind)
  return all(
    oneOf(value.type, `${path}.type`, profileTypes),
    value.localhostProfile !== undefined ? [invalidValue(`${path}.localhostProfile`, value, `can only be set when ${kind} type is Localhost`)] : valid,
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
    ...windowsOptions(context.windowsOptions, `${path}.windowsOptions`),
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
    windowsOptions(context.windowsOptions, `${path}.windowsOptions`),
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
