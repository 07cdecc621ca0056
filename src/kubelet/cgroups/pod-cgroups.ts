/**
 * The cgroups of pods below `kubepods`: those of the QoS classes Burstable and BestEffort, and one for each pod. Those
 * of Guaranteed pods are directly below `kubepods`.
 */
import { podRequests } from '../../api/core/pod/resources/pod-resources.ts'
import { milliValue } from '../../machinery/values/quantity.ts'
import type { CgroupTree } from '../../node/cgroups/tree/cgroup-tree.ts'
import type { CgroupValues } from '../../node/cgroups/tree/cgroup-values.ts'
import { type Pod, podName } from '../pod-types.ts'
import { cpuShares } from '../resources/cgroup-values.ts'
import { type CgroupDriver, type CgroupName, cgroupPath, partOfFolder } from './cgroup-names.ts'
import { podCgroupValues, qosClassOf } from './pod-cgroup-values.ts'

export interface PodCgroupsOptions {
  /** Undefined if the kubelet makes no cgroups: the runtime does as it sees fit. */
  readonly tree: CgroupTree | undefined
  readonly driver: CgroupDriver
  /** The cgroup of all pods; empty if pods have no cgroups (`cgroupsPerQOS: false`). */
  readonly root: CgroupName
  /** The processes of a pod; 0 or less means no limit. */
  readonly podPidsLimit: number
  /** True if limits of CPU time are enforced (`cpuCFSQuota`). */
  readonly hasQuota: boolean
  /** The names of the node's sizes of huge pages, such as `2MB`. */
  readonly hugePageSizes: readonly string[]
  readonly log: (line: string) => void
}

const prefix = 'pod'
const unlimitedHugePages = 1n << 62n
/** The runtime may end a process at the same time. */
const killAttempts = 5

export class PodCgroups {
  readonly #options: PodCgroupsOptions

  constructor(options: PodCgroupsOptions) {
    this.#options = options
  }

  /** The cgroup of all pods, such as `/kubepods`. */
  get rootPath(): string {
    return this.#path(this.#options.root)
  }

  /** The cgroup of a pod as runtimes expect it; '' if pods have none. */
  pathOf(pod: Pod): string {
    if (this.#options.root.length === 0) return ''
    return this.#path([...this.#classOf(qosClassOf(pod)), `${prefix}${pod.metadata.uid}`])
  }

  /** Makes the cgroups of the QoS classes. Throws the errors of the file system. */
  createClasses(): void {
    const { tree } = this.#options
    if (!tree) return
    for (const qos of ['Burstable', 'BestEffort']) {
      const path = this.#path(this.#classOf(qos))
      if (tree.missing(path).length > 0) tree.create(path)
      const shares = qos === 'BestEffort' ? { cpuShares: cpuShares(undefined) } : {}
      tree.set(path, { ...shares, hugePages: this.#hugePages(unlimitedHugePages) })
    }
  }

  /** Sets the weights of the QoS classes: Burstable has that of the requests of its pods, BestEffort the smallest. */
  updateClasses(pods: readonly Pod[]): void {
    const { tree } = this.#options
    if (!tree) return
    const milli = pods
      .filter((pod) => qosClassOf(pod) === 'Burstable')
      .reduce((sum, pod) => sum + milliValue(podRequests(pod, { overhead: true }).cpu ?? '0'), 0n)
    tree.set(this.#path(this.#classOf('Burstable')), { cpuShares: cpuShares(`${milli}m`) })
    tree.set(this.#path(this.#classOf('BestEffort')), { cpuShares: cpuShares(undefined) })
  }

  has(pod: Pod): boolean {
    const { tree } = this.#options
    return !tree || tree.missing(this.pathOf(pod)).length === 0
  }

  /** Makes the cgroup of a pod with its values. Throws the errors of the file system. */
  create(pod: Pod): void {
    const { tree, podPidsLimit, hasQuota } = this.#options
    if (!tree) return
    const path = this.pathOf(pod)
    const { hugePages, ...values } = podCgroupValues(pod, hasQuota)
    tree.create(path)
    tree.set(path, {
      ...values,
      hugePages: new Map([...this.#hugePages(0n), ...(hugePages ?? [])]),
      ...(podPidsLimit > 0 && { pids: BigInt(podPidsLimit) }),
    })
  }

  /** Undefined if pods have no cgroups. Throws the errors of the file system. */
  read(pod: Pod): CgroupValues | undefined {
    return this.#options.tree?.read(this.pathOf(pod))
  }

  set(pod: Pod, values: CgroupValues): void {
    this.#options.tree?.set(this.pathOf(pod), values)
  }

  /** The memory in use by a pod, in bytes; undefined if pods have no cgroups. */
  memoryUsage(pod: Pod): bigint | undefined {
    return this.#options.tree?.memoryUsage(this.pathOf(pod))
  }

  /** The UIDs of the pods that have a cgroup. */
  uids(): string[] {
    return [...this.#places().keys()]
  }

  /** Ends what runs in the cgroup of a pod, and removes it. Rejects if the kernel refuses. */
  async remove(uid: string): Promise<void> {
    const { tree } = this.#options
    if (!tree) return
    for (const path of this.#places().get(uid) ?? []) {
      this.#kill(tree, path)
      await tree.remove(path)
    }
  }

  /** Removes the cgroups of pods that are not known any more. Failures are logged. */
  async removeOrphans(isKnown: (uid: string) => boolean): Promise<void> {
    for (const uid of this.uids())
      if (!isKnown(uid))
        await this.remove(uid).catch((error: Error) =>
          this.#options.log(`cannot remove the cgroup of the pod ${uid}: ${error.message}`),
        )
  }

  /** The text of a failed `create` in the events of a pod, in upstream's words. */
  describeFailure(pod: Pod, error: Error): string {
    const name = [...this.#classOf(qosClassOf(pod)), `${prefix}${pod.metadata.uid}`].join(' ')
    this.#options.log(`cannot make the cgroup of the pod ${podName(pod)}: ${error.message}`)
    return `unable to ensure pod container exists: failed to create container for [${name}] : ${error.message}`
  }

  #kill(tree: CgroupTree, path: string): void {
    for (let attempt = 0; attempt < killAttempts; attempt++) {
      const pids = tree.processes(path)
      if (pids.length === 0) return
      for (const pid of pids)
        try {
          process.kill(pid, 'SIGKILL')
        } catch (error) {
          if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
        }
    }
  }

  #classOf(qos: string): CgroupName {
    const { root } = this.#options
    return qos === 'Guaranteed' ? root : [...root, qos.toLowerCase()]
  }

  #path(name: CgroupName): string {
    return cgroupPath(this.#options.driver, name)
  }

  #hugePages(limit: bigint): ReadonlyMap<string, bigint> {
    return new Map(this.#options.hugePageSizes.map((size) => [size, limit]))
  }

  /** The paths of pods' cgroups, by UID. */
  #places(): Map<string, string[]> {
    const { tree, driver } = this.#options
    const places = new Map<string, string[]>()
    if (!tree) return places
    for (const qos of ['Guaranteed', 'Burstable', 'BestEffort']) {
      const parent = this.#path(this.#classOf(qos))
      for (const folder of tree.children(parent)) {
        const part = partOfFolder(driver, folder)
        if (!part.startsWith(prefix)) continue
        const uid = part.slice(prefix.length)
        places.set(uid, [...(places.get(uid) ?? []), `${parent}/${folder}`])
      }
    }
    return places
  }
}
