/** The parts of a Docker engine's answers that the runtime reads, by the names of its API. */

export interface EngineInfo {
  readonly ServerVersion: string
  readonly OSType: string
  /** As `uname -m` has it. */
  readonly Architecture: string
  readonly KernelVersion: string
  readonly CgroupDriver: string
  /** In bytes. */
  readonly MemTotal: number
  readonly DockerRootDir: string
  readonly Runtimes?: Readonly<Record<string, unknown>>
  readonly SecurityOptions?: readonly string[] | null
}

export type Labels = Readonly<Record<string, string>>

/** A container in a list. */
export interface ContainerSummary {
  readonly Id: string
  readonly ImageID: string
  readonly State: string
  readonly Labels: Labels
  /** The size of what it has written, if it was requested. In bytes. */
  readonly SizeRw?: number
}

export interface ContainerInspection {
  readonly Id: string
  readonly Name: string
  /** The ID of the image. */
  readonly Image: string
  readonly ResolvConfPath: string
  readonly Config: { readonly Labels: Labels; readonly Tty: boolean; readonly OpenStdin: boolean }
  readonly State: {
    readonly Status: string
    readonly Running: boolean
    readonly OOMKilled: boolean
    /** 0 if it does not run. */
    readonly Pid: number
    readonly ExitCode: number
    readonly Error: string
    readonly StartedAt: string
    readonly FinishedAt: string
  }
  readonly HostConfig: ResourceSettings & {
    readonly OomScoreAdj?: number
    readonly Runtime?: string
  }
  readonly NetworkSettings: {
    readonly Networks?: Readonly<Record<string, EndpointSettings>> | null
  }
}

export interface EndpointSettings {
  readonly IPAddress: string
  readonly GlobalIPv6Address: string
}

/** Limits of containers, which can be changed while they run. */
export interface ResourceSettings {
  readonly CpuShares?: number
  readonly CpuPeriod?: number
  readonly CpuQuota?: number
  readonly CpusetCpus?: string
  readonly CpusetMems?: string
  readonly Memory?: number
  readonly MemorySwap?: number
}

export interface ImageSummary {
  readonly Id: string
  readonly RepoTags?: readonly string[] | null
  readonly RepoDigests?: readonly string[] | null
  readonly Size: number
}

export interface ImageInspection extends ImageSummary {
  readonly Config?: { readonly User?: string } | null
}

/** Usage of a container. */
export interface ContainerUsage {
  readonly cpu_stats?: { readonly cpu_usage?: { readonly total_usage?: number } }
  readonly memory_stats?: {
    readonly usage?: number
    readonly limit?: number
    readonly stats?: Readonly<Record<string, number>>
  }
  readonly pids_stats?: { readonly current?: number }
  readonly networks?: Readonly<Record<string, InterfaceUsage>>
}

export interface InterfaceUsage {
  readonly rx_bytes: number
  readonly rx_errors: number
  readonly tx_bytes: number
  readonly tx_errors: number
}
