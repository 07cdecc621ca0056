/** The configuration of a container by the OCI runtime specification (1.0), as far as it is used here. */

export interface OciSpec {
  readonly ociVersion: string
  readonly root: { readonly path: string; readonly readonly: boolean }
  readonly process: OciProcess
  readonly mounts: readonly OciMount[]
  readonly annotations: Readonly<Record<string, string>>
  readonly linux: OciLinux
  readonly hooks?: Readonly<Partial<Record<OciHookName, readonly OciHook[]>>>
}

/** From the earliest. */
export const hookNames = [
  'prestart',
  'createRuntime',
  'createContainer',
  'startContainer',
  'poststart',
  'poststop',
] as const

type OciHookName = (typeof hookNames)[number]

/** A program that an OCI runtime runs at a point of a container's life. */
export interface OciHook {
  readonly path: string
  readonly args?: readonly string[]
  readonly env?: readonly string[]
  /** In seconds. */
  readonly timeout?: number
}

export interface OciProcess {
  readonly terminal: boolean
  readonly user: { readonly uid: number; readonly gid: number; readonly additionalGids: readonly number[] }
  readonly args: readonly string[]
  readonly env: readonly string[]
  readonly cwd: string
  readonly capabilities: Readonly<Record<CapabilitySet, readonly string[]>>
  readonly rlimits?: readonly { readonly type: string; readonly hard: number; readonly soft: number }[]
  readonly noNewPrivileges: boolean
  readonly oomScoreAdj?: number
  readonly apparmorProfile?: string
}

export type CapabilitySet = 'bounding' | 'effective' | 'inheritable' | 'permitted' | 'ambient'

export interface OciMount {
  readonly destination: string
  readonly type: string
  readonly source: string
  readonly options: readonly string[]
  /** Files of these users of the host belong to others; absent for the host's own. */
  readonly uidMappings?: readonly OciIdMapping[]
  readonly gidMappings?: readonly OciIdMapping[]
}

export interface OciIdMapping {
  readonly containerID: number
  readonly hostID: number
  readonly size: number
}

export interface OciDevice {
  readonly path: string
  readonly type: string
  readonly major: number
  readonly minor: number
  readonly fileMode: number
  readonly uid: number
  readonly gid: number
}

export interface OciDeviceRule {
  readonly allow: boolean
  readonly access: string
  readonly type?: string
  readonly major?: number
  readonly minor?: number
}

export interface OciResources {
  readonly devices?: readonly OciDeviceRule[]
  readonly memory?: { readonly limit?: number; readonly swap?: number }
  readonly cpu?: {
    readonly shares?: number
    readonly quota?: number
    readonly period?: number
    readonly cpus?: string
    readonly mems?: string
  }
  readonly hugepageLimits?: readonly { readonly pageSize: string; readonly limit: number }[]
  readonly unified?: Readonly<Record<string, string>>
}

export interface OciNamespace {
  readonly type: 'user' | 'pid' | 'network' | 'ipc' | 'uts' | 'mount' | 'cgroup'
  readonly path?: string
}

export interface OciSeccomp {
  readonly defaultAction: string
  readonly defaultErrnoRet?: number
  readonly architectures?: readonly string[]
  readonly flags?: readonly string[]
  readonly syscalls?: readonly OciSyscallRule[]
}

export interface OciSyscallRule {
  readonly names: readonly string[]
  readonly action: string
  readonly errnoRet?: number
  readonly args?: readonly OciSyscallArgument[]
}

export interface OciSyscallArgument {
  readonly index: number
  readonly value: number
  readonly valueTwo?: number
  readonly op: string
}

export interface OciLinux {
  readonly namespaces: readonly OciNamespace[]
  readonly cgroupsPath: string
  readonly devices: readonly OciDevice[]
  readonly resources: OciResources
  readonly rootfsPropagation?: string
  readonly maskedPaths: readonly string[]
  readonly readonlyPaths: readonly string[]
  readonly seccomp?: OciSeccomp
}
