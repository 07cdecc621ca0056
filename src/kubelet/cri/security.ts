/** The security of sandboxes and containers as CRI states it. A container's settings override its pod's. */
import type { MessageInitShape } from '@bufbuild/protobuf'
import type {
  LinuxContainerSecurityContextSchema,
  LinuxSandboxSecurityContextSchema,
} from '#protobuf/cri-runtime_pb.js'
import {
  SecurityProfile_ProfileType as ProfileType,
  type SecurityProfileSchema,
  SupplementalGroupsPolicy,
} from '#protobuf/cri-values_pb.js'
import { type Container, type Pod, type PodSpec, specOf } from '../pod-types.ts'
import type { NamespaceOptions } from './namespaces.ts'

type SandboxSecurity = MessageInitShape<typeof LinuxSandboxSecurityContextSchema>
type ContainerSecurity = MessageInitShape<typeof LinuxContainerSecurityContextSchema>
type Profile = MessageInitShape<typeof SecurityProfileSchema>
type PodSecurity = NonNullable<PodSpec['securityContext']>

/** Settings of the node that security depends on. */
export interface SecuritySettings {
  /** The folder of seccomp profiles, `/var/lib/kubelet/seccomp`. */
  readonly seccompFolder: string
  /** True if pods without a seccomp profile get the runtime's. */
  readonly seccompDefault: boolean
}

/** Paths of `/proc` that containers must not see, and those that they must not write (`procMount: Default`). */
const maskedPaths = [
  '/proc/asound',
  '/proc/acpi',
  '/proc/interrupts',
  '/proc/kcore',
  '/proc/keys',
  '/proc/latency_stats',
  '/proc/timer_list',
  '/proc/timer_stats',
  '/proc/sched_debug',
  '/proc/scsi',
  '/sys/firmware',
  '/sys/devices/virtual/powercap',
]
const readonlyPaths = ['/proc/bus', '/proc/fs', '/proc/irq', '/proc/sys', '/proc/sysrq-trigger']

/** The sandbox is privileged if one of its containers is. */
export function sandboxSecurity(
  pod: Pod,
  namespaceOptions: NamespaceOptions,
  settings: SecuritySettings,
): SandboxSecurity {
  const { securityContext = {}, containers, initContainers = [] } = specOf(pod)
  return {
    privileged: [...initContainers, ...containers].some((container) => container.securityContext?.privileged === true),
    namespaceOptions,
    // The pause process has the runtime's profile, whatever the containers have.
    seccomp: { profileType: ProfileType.RuntimeDefault },
    selinuxOptions: securityContext.seLinuxOptions,
    ...(securityContext.runAsUser !== undefined && { runAsUser: { value: BigInt(securityContext.runAsUser) } }),
    ...(securityContext.runAsGroup !== undefined && { runAsGroup: { value: BigInt(securityContext.runAsGroup) } }),
    ...groupsOf(securityContext),
    ...(settings.seccompDefault && { seccomp: { profileType: ProfileType.RuntimeDefault } }),
  }
}

/** The user that a container runs as if neither it nor its pod states one: that of the image. */
export interface ImageUser {
  readonly uid?: bigint
  readonly username?: string
}

export function containerSecurity(
  pod: Pod,
  container: Container,
  imageUser: ImageUser,
  namespaceOptions: NamespaceOptions,
  settings: SecuritySettings,
): ContainerSecurity {
  const { securityContext: podSecurity = {} } = specOf(pod)
  const own = container.securityContext ?? {}
  const privileged = own.privileged === true
  const runAsUser = own.runAsUser ?? podSecurity.runAsUser
  const runAsGroup = own.runAsGroup ?? podSecurity.runAsGroup
  const isUnmasked = privileged || own.procMount === 'Unmasked'
  return {
    privileged,
    namespaceOptions,
    capabilities: {
      addCapabilities: own.capabilities?.add ?? [],
      dropCapabilities: own.capabilities?.drop ?? [],
    },
    selinuxOptions: own.seLinuxOptions ?? podSecurity.seLinuxOptions,
    ...userOf(runAsUser, imageUser),
    ...(runAsGroup !== undefined && { runAsGroup: { value: BigInt(runAsGroup) } }),
    readonlyRootfs: own.readOnlyRootFilesystem === true,
    ...groupsOf(podSecurity),
    noNewPrivs: own.allowPrivilegeEscalation === false,
    maskedPaths: isUnmasked ? [] : maskedPaths,
    readonlyPaths: isUnmasked ? [] : readonlyPaths,
    seccomp: privileged ? unconfined : seccompProfile(own.seccompProfile ?? podSecurity.seccompProfile, settings),
    apparmor: privileged ? unconfined : appArmorProfile(own.appArmorProfile ?? podSecurity.appArmorProfile),
  }
}

const unconfined: Profile = { profileType: ProfileType.Unconfined }

function userOf(
  runAsUser: number | undefined,
  image: ImageUser,
): Pick<ContainerSecurity, 'runAsUser' | 'runAsUsername'> {
  if (runAsUser !== undefined) return { runAsUser: { value: BigInt(runAsUser) } }
  if (image.uid !== undefined) return { runAsUser: { value: image.uid } }
  return image.username ? { runAsUsername: image.username } : {}
}

/** Groups of volumes (`fsGroup`) are groups of the processes, too. */
function groupsOf({ supplementalGroups = [], fsGroup, supplementalGroupsPolicy }: PodSecurity) {
  const groups = fsGroup === undefined ? supplementalGroups : [fsGroup, ...supplementalGroups]
  return {
    supplementalGroups: groups.map(BigInt),
    supplementalGroupsPolicy:
      supplementalGroupsPolicy === 'Strict' ? SupplementalGroupsPolicy.Strict : SupplementalGroupsPolicy.Merge,
  }
}

function seccompProfile(profile: PodSecurity['seccompProfile'], settings: SecuritySettings): Profile {
  if (!profile) return settings.seccompDefault ? { profileType: ProfileType.RuntimeDefault } : unconfined
  if (profile.type === 'RuntimeDefault') return { profileType: ProfileType.RuntimeDefault }
  if (profile.type !== 'Localhost') return unconfined
  return { profileType: ProfileType.Localhost, localhostRef: `${settings.seccompFolder}/${profile.localhostProfile}` }
}

function appArmorProfile(profile: PodSecurity['appArmorProfile']): Profile | undefined {
  if (!profile) return undefined
  if (profile.type === 'RuntimeDefault') return { profileType: ProfileType.RuntimeDefault }
  if (profile.type !== 'Localhost') return unconfined
  return { profileType: ProfileType.Localhost, localhostRef: profile.localhostProfile ?? '' }
}
