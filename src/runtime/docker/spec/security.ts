/** Security of containers as options of the engine. */
import { readFileSync } from 'node:fs'
import type { LinuxContainerSecurityContext } from '#protobuf/cri-runtime_pb.js'
import { SecurityProfile_ProfileType as ProfileType } from '#protobuf/cri-values_pb.js'

/** The options of HostConfig. Throws an Error for what Docker cannot do. */
export function securityOptions(context: LinuxContainerSecurityContext): object {
  const { privileged, capabilities, maskedPaths, readonlyPaths } = context
  if (capabilities && capabilities.addAmbientCapabilities.length > 0)
    throw new Error('Docker has no ambient capabilities: use another container runtime for this pod')
  return {
    Privileged: privileged,
    ReadonlyRootfs: context.readonlyRootfs,
    CapAdd: capabilities?.addCapabilities ?? [],
    CapDrop: capabilities?.dropCapabilities ?? [],
    ...(!privileged && { MaskedPaths: maskedPaths, ReadonlyPaths: readonlyPaths }),
    SecurityOpt: [
      ...seccompOptions(context),
      ...appArmorOptions(context),
      ...seLinuxOptions(context),
      ...(context.noNewPrivs ? ['no-new-privileges'] : []),
    ],
  }
}

function seccompOptions({ seccomp, privileged }: LinuxContainerSecurityContext): string[] {
  if (!seccomp || seccomp.profileType === ProfileType.Unconfined || privileged) return ['seccomp=unconfined']
  // Without an option, the engine uses its own profile.
  if (seccomp.profileType === ProfileType.RuntimeDefault) return []
  return [`seccomp=${profileIn(seccomp.localhostRef.replace(/^localhost\//, ''))}`]
}

/** The engine takes the profile itself, as it may run on another machine. */
function profileIn(file: string): string {
  try {
    return JSON.stringify(JSON.parse(readFileSync(file, 'utf8')))
  } catch (error) {
    throw new Error(`failed to load seccomp profile ${JSON.stringify(file)}`, { cause: error })
  }
}

function appArmorOptions({ apparmor, privileged }: LinuxContainerSecurityContext): string[] {
  if (!apparmor || privileged || apparmor.profileType === ProfileType.RuntimeDefault) return []
  if (apparmor.profileType === ProfileType.Unconfined) return ['apparmor=unconfined']
  return [`apparmor=${apparmor.localhostRef.replace(/^localhost\//, '')}`]
}

function seLinuxOptions({ selinuxOptions }: LinuxContainerSecurityContext): string[] {
  if (!selinuxOptions) return []
  const { user, role, type, level } = selinuxOptions
  return Object.entries({ user, role, type, level }).flatMap(([key, value]) => (value ? [`label=${key}:${value}`] : []))
}
