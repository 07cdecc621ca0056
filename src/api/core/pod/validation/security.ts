/** Validation of security contexts of pods and containers, and of fields that depend on the operating system. */

import {
  duplicate,
  type FieldError,
  forbiddenField,
  invalidValue,
  notSupported,
  required,
  tooLong,
} from '../../../../machinery/validation/field-error.ts'
import { all, each, oneOf, valid } from '../../../../machinery/validation/field-rules.ts'
import { optional, pointer, struct, text } from '../../../../machinery/validation/internal-type.ts'
import type { Container, PodSpec } from '../model.ts'
import { everyContainer } from './containers/every-container.ts'
import { descendingPath } from './volumes/paths.ts'
import { windowsOptions } from './windows.ts'

type PodSecurityContext = NonNullable<PodSpec['securityContext']>
type SecurityContext = NonNullable<Container['securityContext']>
type Seccomp = NonNullable<PodSecurityContext['seccompProfile']>

const maxId = 2 ** 31 - 1
const sysctl = /^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$/
const invalidSysctl =
  'must have at most 253 characters and match regex ' +
  '^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$'

/** Validates a user or group ID. */
export const id = (value: number | undefined, path: string): readonly FieldError[] =>
  value !== undefined && (value < 0 || value > maxId)
    ? [invalidValue(path, value, `must be between 0 and ${maxId}, inclusive`)]
    : valid

const profileTypes = ['Localhost', 'RuntimeDefault', 'Unconfined']
const procMounts = ['Default', 'Unmasked']
const maxProfilePath = 4095

/** Validates `localhostProfile`; for seccomp, it is a path below a folder of the kubelet. */
function localProfile(name: string | undefined, path: string, kind: 'seccomp' | 'AppArmor'): readonly FieldError[] {
  if (kind === 'seccomp')
    return name === undefined
      ? [required(path, 'must be set when seccomp type is Localhost')]
      : descendingPath(name, path)
  if (name === undefined) return [required(path, 'must be set when AppArmor type is Localhost')]
  return all(
    name.trim() !== name
      ? [invalidValue(path, name, 'must not be padded with whitespace')]
      : name === ''
        ? [required(path, 'must be set when AppArmor type is Localhost')]
        : valid,
    name.length > maxProfilePath ? [tooLong(path, maxProfilePath)] : valid,
  )
}

const profileShape = { Type: text, LocalhostProfile: optional }
const shownProfile = struct(profileShape)

const shownContext = struct({
  Capabilities: pointer({ Add: optional, Drop: optional }),
  Privileged: optional,
  SELinuxOptions: pointer({ User: text, Role: text, Type: text, Level: text }),
  WindowsOptions: pointer({
    GMSACredentialSpecName: optional,
    GMSACredentialSpec: optional,
    RunAsUserName: optional,
    HostProcess: optional,
  }),
  RunAsUser: optional,
  RunAsGroup: optional,
  RunAsNonRoot: optional,
  ReadOnlyRootFilesystem: optional,
  AllowPrivilegeEscalation: optional,
  ProcMount: optional,
  SeccompProfile: pointer(profileShape),
  AppArmorProfile: pointer(profileShape),
})

function profile(value: Seccomp | undefined, path: string, kind: 'seccomp' | 'AppArmor'): readonly FieldError[] {
  if (!value) return valid
  const field = kind === 'seccomp' ? 'seccompProfile' : 'appArmorProfile'
  const at = `${path}.localhostProfile`
  if (value.type === 'Localhost') return localProfile(value.localhostProfile, at, kind)
  const wrongType = value.type
    ? oneOf(value.type, `${path}.type`, profileTypes)
    : [required(`${path}.type`, `type is required when ${field} is set`)]
  if (value.localhostProfile === undefined || (kind === 'AppArmor' && wrongType.length > 0)) return wrongType
  // Upstream shows the whole profile for seccomp, but only the path for AppArmor.
  return [
    ...wrongType,
    invalidValue(
      at,
      kind === 'seccomp' ? shownProfile(value) : value.localhostProfile,
      `can only be set when ${kind} type is Localhost`,
    ),
  ]
}

/** Validates procMount. Unmasked exposes /proc of the node, so it needs a user namespace (KEP-4265). */
function procMount(type: string | undefined, path: string, hostUsers: boolean): readonly FieldError[] {
  if (type === undefined) return valid
  if (!procMounts.includes(type)) return [notSupported(path, type, procMounts)]
  return hostUsers && type === 'Unmasked'
    ? [invalidValue(path, type, '`hostUsers` must be false to use `Unmasked`')]
    : valid
}

/** Validates `securityContext` of a container. `hostUsers` is false if the pod has a user namespace. */
export function containerSecurity(
  context: SecurityContext | undefined,
  path: string,
  hostUsers: boolean,
): readonly FieldError[] {
  if (!context) return valid
  const { runAsUser, runAsGroup, seccompProfile, allowPrivilegeEscalation, privileged, capabilities } = context
  const errors = [
    ...id(runAsUser, `${path}.runAsUser`),
    ...id(runAsGroup, `${path}.runAsGroup`),
    ...procMount(context.procMount, `${path}.procMount`, hostUsers),
    ...profile(seccompProfile, `${path}.seccompProfile`, 'seccomp'),
  ]
  if (allowPrivilegeEscalation === false) {
    if (privileged)
      errors.push(
        invalidValue(
          path,
          shownContext(context),
          'cannot set `allowPrivilegeEscalation` to false and `privileged` to true',
        ),
      )
    if (capabilities?.add?.includes('CAP_SYS_ADMIN'))
      errors.push(
        invalidValue(
          path,
          shownContext(context),
          'cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN',
        ),
      )
  }
  return all(
    errors,
    windowsOptions(context.windowsOptions, `${path}.windowsOptions`),
    profile(context.appArmorProfile, `${path}.appArmorProfile`, 'AppArmor'),
  )
}

/** Validates `securityContext` of a pod. */
export function podSecurity(spec: PodSpec, path: string): readonly FieldError[] {
  const context = spec.securityContext
  if (!context) return valid
  return all(
    id(context.fsGroup, `${path}.fsGroup`),
    id(context.runAsUser, `${path}.runAsUser`),
    id(context.runAsGroup, `${path}.runAsGroup`),
    each(context.supplementalGroups, `${path}.supplementalGroups`, id),
    spec.shareProcessNamespace && spec.hostPID
      ? [
          invalidValue(
            `${path}.shareProcessNamespace`,
            spec.shareProcessNamespace,
            'ShareProcessNamespace and HostPID cannot both be enabled',
          ),
        ]
      : valid,
    sysctls(spec, `${path}.sysctls`),
    oneOf(context.fsGroupChangePolicy, `${path}.fsGroupChangePolicy`, ['Always', 'OnRootMismatch']),
    profile(context.seccompProfile, `${path}.seccompProfile`, 'seccomp'),
    windowsOptions(context.windowsOptions, `${path}.windowsOptions`),
    profile(context.appArmorProfile, `${path}.appArmorProfile`, 'AppArmor'),
    oneOf(context.supplementalGroupsPolicy, `${path}.supplementalGroupsPolicy`, ['Merge', 'Strict']),
    oneOf(context.seLinuxChangePolicy, `${path}.seLinuxChangePolicy`, ['MountOption', 'Recursive']),
  )
}

/** Sysctls that are forbidden with hostNetwork or hostIPC, where they would change the node. */
const networkSysctl = /^net\./
const ipcSysctl = /^(kernel\.shm|kernel\.msg|fs\.mqueue\.|kernel\.sem$)/

function validateNotShared(name: string, { hostNetwork, hostIPC }: PodSpec, path: string): readonly FieldError[] {
  const dotted = name.replaceAll('/', '.')
  if (hostNetwork && networkSysctl.test(dotted))
    return [invalidValue(path, name, "may not be specified when 'hostNetwork' is true")]
  return hostIPC && ipcSysctl.test(dotted)
    ? [invalidValue(path, name, "may not be specified when 'hostIPC' is true")]
    : valid
}

function sysctls(spec: PodSpec, path: string): readonly FieldError[] {
  const list = spec.securityContext?.sysctls
  if (!list?.length) return valid
  const seen = new Set<string>()
  return list.flatMap(({ name }, i) => {
    const at = `${path}[${i}].name`
    const errors = !name
      ? [required(at)]
      : name.length > 253 || !sysctl.test(name)
        ? [invalidValue(at, name, invalidSysctl)]
        : seen.has(name)
          ? [duplicate(at, name)]
          : valid
    seen.add(name)
    return all(errors, validateNotShared(name, spec, at))
  })
}

/** Fields of a pod's spec that Windows does not support, in upstream's order. */
const linuxOnly = [
  'securityContext.appArmorProfile',
  'securityContext.seLinuxOptions',
  'hostUsers',
  'hostPID',
  'hostIPC',
  'securityContext.seccompProfile',
  'securityContext.fsGroup',
  'securityContext.fsGroupChangePolicy',
  'securityContext.sysctls',
  'shareProcessNamespace',
  'securityContext.runAsUser',
  'securityContext.runAsGroup',
  'securityContext.supplementalGroups',
  'securityContext.supplementalGroupsPolicy',
  'securityContext.seLinuxChangePolicy',
] as const
const linuxOnlyOfContainers = [
  'appArmorProfile',
  'seLinuxOptions',
  'seccompProfile',
  'capabilities',
  'readOnlyRootFilesystem',
  'privileged',
  'allowPrivilegeEscalation',
  'procMount',
  'runAsUser',
  'runAsGroup',
] as const
/** Fields whose value false counts as unset. */
const plainFlags: ReadonlySet<string> = new Set(['hostPID', 'hostIPC'])

/** Validates `os`, and rejects fields that this operating system does not support. */
export function operatingSystem(spec: PodSpec, path: string): readonly FieldError[] {
  const name = spec.os?.name
  if (spec.os === undefined) return valid
  if (!name) return [required(`${path}.os.name`, 'cannot be empty')]
  if (name === 'windows') return notOnWindows(spec, path)
  if (name !== 'linux') return [notSupported(`${path}.os`, name, ['linux', 'windows'])]
  const no = (at: string): FieldError =>
    forbiddenField(`${at}.securityContext.windowsOptions`, 'windows options cannot be set for a linux pod')
  return all(
    spec.securityContext?.windowsOptions ? [no(path)] : valid,
    everyContainer(spec, path).flatMap(([{ securityContext }, at]) =>
      securityContext?.windowsOptions ? [no(at)] : valid,
    ),
  )
}

function notOnWindows(spec: PodSpec, path: string): readonly FieldError[] {
  const no = (at: string): FieldError => forbiddenField(at, 'cannot be set for a windows pod')
  const set = (value: unknown): boolean =>
    value !== undefined && value !== null && !(Array.isArray(value) && value.length === 0)
  const context: Readonly<Record<string, unknown>> = { ...spec.securityContext }
  const ofPod: Readonly<Record<string, unknown>> = { ...spec }
  const given = (field: string): boolean => {
    const value = field.startsWith('securityContext.') ? context[field.slice('securityContext.'.length)] : ofPod[field]
    return set(value) && !(plainFlags.has(field) && value === false)
  }
  return all(
    linuxOnly.filter(given).map((field) => no(`${path}.${field}`)),
    everyContainer(spec, path).flatMap(([{ securityContext }, at]) =>
      linuxOnlyOfContainers
        .filter((field) => set(securityContext?.[field]))
        .map((field) => no(`${at}.securityContext.${field}`)),
    ),
  )
}
