/** The usage of the node, its pods and containers at one time: the source of all documents about usage. */

import type { CgroupUsage } from '../../../node/cgroups/cgroup-usage.ts'
import type { PodIdentity } from '../../cri/labels.ts'
import type { FileSystemUsage, FolderUsage } from './file-systems.ts'
import type { InterfaceUsage, NodeUsage } from './node-usage.ts'

export interface ContainerUsage {
  readonly name: string
  readonly id: string
  readonly image: string
  /** In ms since 1970. */
  readonly startedAt: number
  /** The path of its cgroup; '' if it is unknown. */
  readonly cgroup: string
  readonly usage: CgroupUsage | undefined
  /** In nanocores. */
  readonly cpuRate: number | undefined
  readonly writableLayer: FolderUsage | undefined
  readonly logs: FolderUsage | undefined
}

export interface VolumeUsage extends FileSystemUsage {
  readonly name: string
  readonly claim?: { readonly name: string; readonly namespace: string }
  /** True for volumes on the node's own disk. */
  readonly isEphemeral: boolean
}

export interface PodUsage {
  readonly identity: PodIdentity
  readonly startedAt: number
  readonly cgroup: string
  readonly usage: CgroupUsage | undefined
  readonly cpuRate: number | undefined
  readonly containers: readonly ContainerUsage[]
  /** The sandbox, whose interfaces are the pod's. */
  readonly sandbox: { readonly id: string; readonly image: string; readonly cgroup: string }
  /** Undefined for pods with the node's network. */
  readonly interfaces: readonly InterfaceUsage[] | undefined
  readonly volumes: readonly VolumeUsage[]
}

/** A cgroup of the node's own: `kubelet`, `pods`. */
export interface SystemUsage {
  readonly name: string
  readonly cgroup: string
  readonly usage: CgroupUsage
  readonly cpuRate: number | undefined
}

export interface UsageSnapshot {
  /** In ms since 1970. */
  readonly time: number
  readonly nodeName: string
  readonly node: NodeUsage
  readonly nodeCpuRate: number | undefined
  readonly interfaces: readonly InterfaceUsage[]
  /** The interface of the default route. */
  readonly defaultInterface: string
  /** The file system of the kubelet's folder. */
  readonly fileSystem: FileSystemUsage | undefined
  /** The file system of images, with the bytes and inodes that images use. */
  readonly imageFileSystem: FileSystemUsage | undefined
  readonly images: FolderUsage | undefined
  /** True if images and containers have another file system than the kubelet's folder. */
  readonly hasImageFileSystem: boolean
  readonly system: readonly SystemUsage[]
  readonly pods: readonly PodUsage[]
  /** True if a part could not be read. */
  readonly hasFailed: boolean
}
