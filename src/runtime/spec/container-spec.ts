/** The complete configuration of a container, from its CRI configuration, its image and its sandbox. */
import type { ContainerConfig, PodSandboxConfig } from '#protobuf/cri-runtime_pb.js'
import { RpcError } from '../../lib/grpc/grpc-error.ts'
import type { ImageDefaults } from '../images-interface.ts'
import { type AppArmor, appArmorProfileOf } from './apparmor/profile.ts'
import { availableCapabilities, capabilitiesOf } from './capabilities.ts'
import { devicesOf } from './devices.ts'
import { mountsOf, type SandboxPaths } from './mounts.ts'
import type { CapabilitySet, OciNamespace, OciSpec } from './oci-spec.ts'
import { ociResources } from './resources.ts'
import { seccompOf } from './seccomp/profile.ts'
import type { ResolvedUser } from './user.ts'

/** Namespaces of a container by the paths of their files; undefined ones are the host's. */
export interface NamespacePaths {
  readonly user: string | undefined
  readonly network: string | undefined
  readonly uts: string | undefined
  readonly ipc: string | undefined
  /** `new` for a namespace of its own. */
  readonly pid: 'new' | string | undefined
}

export interface SpecInputs {
  readonly config: ContainerConfig
  readonly sandbox: PodSandboxConfig
  readonly hostname: string
  readonly image: ImageDefaults
  readonly user: ResolvedUser
  /** The container's root file system. */
  readonly root: string
  readonly paths: SandboxPaths
  readonly namespaces: NamespacePaths
  readonly cgroupsPath: string
  readonly cgroupVersion: 1 | 2
  /** The lowest value that this process may set; undefined without a limit. */
  readonly minOomScoreAdj: number | undefined
  readonly appArmor: AppArmor | undefined
}

/** Throws an RpcError or Error for a configuration that cannot be run. */
export function containerSpec(inputs: SpecInputs): OciSpec {
  const { config, user } = inputs
  const context = config.linux?.securityContext
  const isPrivileged = context?.privileged === true
  if (isPrivileged && !inputs.sandbox.linux?.securityContext?.privileged)
    throw new RpcError('Unknown', 'no privileged container allowed in sandbox')
  const { apparmor: profile, apparmorProfile: legacyProfile = '' } = context ?? {}
  const apparmorProfile = appArmorProfileOf({ isPrivileged, profile, legacyProfile }, inputs.appArmor)
  const capabilities = capabilitiesOf(isPrivileged, context?.capabilities, availableCapabilities())
  const isRootReadOnly = context?.readonlyRootfs === true
  const { cgroupVersion } = inputs
  const { mounts, rootPropagation } = mountsOf(config.mounts, inputs.paths, {
    isPrivileged,
    isRootReadOnly,
    cgroupVersion,
  })
  const { devices, rules } = devicesOf(isPrivileged, config.devices)
  const seccomp = seccompOf(isPrivileged, context?.seccomp, capabilities.main)
  return {
    ociVersion: '1.0.2',
    root: { path: inputs.root, readonly: isRootReadOnly },
    process: {
      terminal: config.tty,
      user: { uid: user.uid, gid: user.gid, additionalGids: user.groups },
      args: argumentsOf(config, inputs.image),
      env: environmentOf(inputs),
      cwd: config.workingDir || inputs.image.workingDir || '/',
      capabilities: capabilitySets(capabilities.main, capabilities.ambient),
      noNewPrivileges: context?.noNewPrivs === true,
      ...oomScoreOf(inputs),
      ...(apparmorProfile !== undefined && { apparmorProfile }),
    },
    mounts,
    annotations: {},
    linux: {
      namespaces: namespacesOf(inputs, isPrivileged),
      cgroupsPath: inputs.cgroupsPath,
      devices,
      resources: { devices: rules, ...ociResources(config.linux?.resources) },
      ...(rootPropagation && { rootfsPropagation: rootPropagation }),
      maskedPaths: isPrivileged ? [] : (context?.maskedPaths ?? []),
      readonlyPaths: isPrivileged ? [] : (context?.readonlyPaths ?? []),
      ...(seccomp && { seccomp }),
    },
  }
}

/** As Docker: a command replaces the image's entrypoint and its arguments, arguments alone only the latter. */
export function argumentsOf({ command, args }: ContainerConfig, { entrypoint, cmd }: ImageDefaults): string[] {
  const words = command.length > 0 ? [...command, ...args] : [...entrypoint, ...(args.length > 0 ? args : cmd)]
  if (words.length === 0) throw new RpcError('Unknown', 'no command specified')
  return words
}

const defaultPath = 'PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

/** The image's variables and the container's, of which a later one replaces an earlier one of its name. */
function environmentOf({ config, image, hostname, user }: SpecInputs): string[] {
  const variables = new Map<string, string>()
  const add = (assignment: string): void => {
    const [name = ''] = assignment.split('=', 1)
    variables.set(name, assignment)
  }
  add(defaultPath)
  if (config.tty) add('TERM=xterm')
  add(`HOSTNAME=${hostname}`)
  image.env.forEach(add)
  for (const { key, value } of config.envs) add(`${key}=${Buffer.from(value)}`)
  if (!variables.has('HOME')) add(`HOME=${user.home}`)
  return [...variables.values()]
}

/** The kernel clears the effective set of programs of other users than root, except ambient capabilities. */
const capabilitySets = (
  main: readonly string[],
  ambient: readonly string[],
): Record<CapabilitySet, readonly string[]> => ({
  bounding: main,
  permitted: main,
  effective: main,
  inheritable: ambient,
  ambient,
})

function oomScoreOf({ config, minOomScoreAdj }: SpecInputs): { oomScoreAdj?: number } {
  const wanted = config.linux?.resources?.oomScoreAdj
  if (wanted === undefined) return {}
  return { oomScoreAdj: Math.max(Number(wanted), minOomScoreAdj ?? -1000) }
}

function namespacesOf({ namespaces, cgroupVersion }: SpecInputs, isPrivileged: boolean): OciNamespace[] {
  const { user, network, uts, ipc, pid } = namespaces
  return [
    { type: 'mount' },
    ...(user ? [{ type: 'user', path: user } as const] : []),
    ...(network ? [{ type: 'network', path: network } as const] : []),
    ...(uts ? [{ type: 'uts', path: uts } as const] : []),
    ...(ipc ? [{ type: 'ipc', path: ipc } as const] : []),
    ...(pid === undefined ? [] : [{ type: 'pid', ...(pid !== 'new' && { path: pid }) } as const]),
    // Privileged containers manage the cgroups of the host.
    ...(cgroupVersion === 2 && !isPrivileged ? [{ type: 'cgroup' } as const] : []),
  ]
}
