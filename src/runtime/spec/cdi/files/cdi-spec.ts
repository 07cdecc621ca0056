/** A spec file of the Container Device Interface (CDI 1.1), decoded. Absent fields are empty, as in Go. */

export interface CdiSpec {
  readonly cdiVersion: string
  /** `VENDOR/CLASS`. */
  readonly kind: string
  readonly annotations: Readonly<Record<string, string>>
  readonly devices: readonly CdiDevice[]
  /** For each container that has one of the devices. */
  readonly containerEdits: ContainerEdits
}

export interface CdiDevice {
  readonly name: string
  readonly annotations: Readonly<Record<string, string>>
  readonly containerEdits: ContainerEdits
}

/** Changes of a container's configuration. */
export interface ContainerEdits {
  /** `NAME=VALUE`. */
  readonly env: readonly string[]
  readonly deviceNodes: readonly DeviceNode[]
  readonly mounts: readonly CdiMount[]
  readonly hooks: readonly CdiHook[]
  readonly additionalGids: readonly number[]
  readonly netDevices: readonly NetDevice[]
  readonly intelRdt: IntelRdt | undefined
}

export interface DeviceNode {
  readonly path: string
  /** Empty for the same path. */
  readonly hostPath: string
  /** `b`, `c`, `u` or `p`. Empty for that of the host's node. */
  readonly type: string
  /** 0 for that of the host's node, as its minor number. */
  readonly major: number
  readonly minor: number
  readonly fileMode: number | undefined
  /** Letters of `rwm`, or `none`. Empty for all. */
  readonly permissions: string
  readonly uid: number | undefined
  readonly gid: number | undefined
}

export interface CdiMount {
  readonly hostPath: string
  readonly containerPath: string
  readonly type: string
  readonly options: readonly string[]
}

export interface CdiHook {
  readonly hookName: string
  readonly path: string
  readonly args: readonly string[]
  readonly env: readonly string[]
  /** In seconds. */
  readonly timeout: number | undefined
}

export interface NetDevice {
  readonly hostInterfaceName: string
  readonly name: string
}

export interface IntelRdt {
  readonly closID: string
  readonly l3CacheSchema: string
  readonly memBwSchema: string
  readonly schemata: readonly string[] | undefined
  readonly enableMonitoring: boolean
}
