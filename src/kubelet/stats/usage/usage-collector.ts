/** Collects usage from the runtime, the cgroups of containers, `/proc` and file systems. */
import { readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type Container, ContainerState, type PodSandbox, PodSandboxState } from '#protobuf/cri-runtime_pb.js'
import { messageOf } from '../../../lib/message-of.ts'
import { CgroupReader } from '../../../node/cgroups/cgroup-reader.ts'
import type { CgroupUsage } from '../../../node/cgroups/cgroup-usage.ts'
import type { CriImages } from '../../cri/images.ts'
import { containerNameOf, identityOf } from '../../cri/labels.ts'
import type { CriRuntime } from '../../cri/runtime.ts'
import { CpuRates } from './cpu-rates.ts'
import { type FolderUsage, fileSystemUsage } from './file-systems.ts'
import { FolderUsages } from './folder-usages.ts'
import { hasNodeNetwork, readInterfaces, readNodeUsage } from './node-usage.ts'
import { RuntimeProcesses } from './runtime-processes.ts'
import type { ContainerUsage, PodUsage, SystemUsage, UsageSnapshot, VolumeUsage } from './usage-snapshot.ts'
import { volumeUsages } from './volume-usages.ts'

export interface UsageCollectorOptions {
  readonly runtime: Pick<CriRuntime, 'containers' | 'sandboxes' | 'containerStats' | 'containerInfo' | 'sandboxInfo'>
  readonly images: Pick<CriImages, 'fileSystems'>
  readonly nodeName: string
  /** The kubelet's folder, `/var/lib/kubelet`. */
  readonly root: string
  /** `/sys/fs/cgroup` and `/proc`. */
  readonly cgroupFolder: string
  readonly proc: string
  /** The cgroup of all pods, `/kubepods`. */
  readonly podsCgroup: string
  /** The folder of the logs of pods, `/var/log/pods`. */
  readonly podLogs: string
  /** The usages of volumes that drivers report. */
  readonly driverVolumes?: (uid: string) => readonly VolumeUsage[]
  /** The interval of measurements of volumes and logs, in ms. Default: a minute. */
  readonly folderMs?: number
  readonly log: (line: string) => void
  readonly now: () => number
}

export class UsageCollector {
  readonly #options: UsageCollectorOptions
  readonly #cgroups: CgroupReader
  readonly #rates = new CpuRates()
  readonly #folders: FolderUsages
  readonly #processes: RuntimeProcesses
  /** By namespace and name. */
  #claims: ReadonlyMap<string, VolumeUsage> = new Map()

  constructor(options: UsageCollectorOptions) {
    this.#options = options
    this.#cgroups = new CgroupReader(options.cgroupFolder, options.proc, options.now)
    this.#folders = new FolderUsages(options.now, options.folderMs)
    this.#processes = new RuntimeProcesses(options.runtime, this.#cgroups)
  }

  /** Collects everything; `withDisks` also file systems and what images and writable layers use. */
  async collect(withDisks: boolean): Promise<UsageSnapshot> {
    const { runtime, nodeName, now, proc, root } = this.#options
    const time = now()
    const node = readNodeUsage(proc, time)
    const failures: unknown[] = []
    const orEmpty = async <T>(reading: Promise<T[]>): Promise<T[]> =>
      reading.catch((error) => {
        failures.push(error)
        return []
      })
    const [sandboxes, containers, layers] = await Promise.all([
      orEmpty(runtime.sandboxes({ state: { state: PodSandboxState.SANDBOX_READY } })),
      orEmpty(runtime.containers({ state: { state: ContainerState.CONTAINER_RUNNING } })),
      withDisks ? orEmpty(runtime.containerStats()) : [],
    ])
    const layersById = new Map(layers.map((one) => [one.attributes?.id ?? '', layerUsage(one.writableLayer)]))
    await this.#processes.update(sandboxes, containers)
    const pods = sandboxes.flatMap(
      (sandbox) => this.#podUsage(sandbox, containers, withDisks ? layersById : undefined) ?? [],
    )
    if (withDisks) this.#claims = claimsOf(pods)
    this.#rates.prune(time)
    this.#folders.prune()
    for (const failure of failures) this.#options.log(`cannot read usage from the runtime: ${messageOf(failure)}`)
    return {
      time,
      nodeName,
      node,
      nodeCpuRate: this.#rates.add('/', time, node.cpuUsage),
      interfaces: readInterfaces(proc, 'self'),
      defaultInterface: defaultInterface(proc),
      fileSystem: withDisks ? await fileSystemUsage(root) : undefined,
      ...(withDisks ? await this.#imageUsage() : noImages),
      system: this.#systemUsage(),
      pods,
      hasFailed: failures.length > 0,
    }
  }

  /** Collects everything; volumes and logs that are new are measured first. */
  async collectMeasured(): Promise<UsageSnapshot> {
    const before = this.#folders.misses
    const snapshot = await this.collect(true)
    // A measurement may have ended since it was missed.
    if (this.#folders.misses === before) return snapshot
    await this.#folders.measureNew()
    return this.collect(true)
  }

  /** The volumes of claims when disks were collected last, one for each claim. */
  get claims(): Iterable<VolumeUsage> {
    return this.#claims.values()
  }

  /** The usage of the root cgroup; undefined if it cannot be read. */
  rootUsage(): CgroupUsage | undefined {
    return this.#cgroups.read('/')
  }

  /** The usage of a cgroup with its rate. */
  #usageOf(path: string): { readonly usage: CgroupUsage | undefined; readonly cpuRate: number | undefined } {
    const usage = path ? this.#cgroups.read(path) : undefined
    return { usage, cpuRate: usage && this.#rates.add(path, usage.time, usage.cpu.usage) }
  }

  #podUsage(
    sandbox: PodSandbox,
    containers: readonly Container[],
    /** By container; undefined without disks. */
    layers: ReadonlyMap<string, FolderUsage | undefined> | undefined,
  ): PodUsage | undefined {
    const identity = identityOf(sandbox.labels)
    if (!identity) return undefined
    const { proc, root, podLogs, driverVolumes } = this.#options
    const logs = join(podLogs, `${identity.namespace}_${identity.name}_${identity.uid}`)
    const inPod = containers.filter(({ podSandboxId }) => podSandboxId === sandbox.id)
    const own = this.#processes.find(sandbox.id)
    // A sandbox may have no process; its containers have the same parent and the same network.
    const any = [sandbox, ...inPod].flatMap(({ id }) => this.#processes.find(id) ?? [])[0]
    const cgroup = podCgroup(any?.cgroup ?? '', identity.uid)
    return {
      identity,
      startedAt: Number(sandbox.createdAt / 1_000_000n),
      cgroup,
      ...this.#usageOf(cgroup),
      containers: inPod.map((container) =>
        this.#containerUsage(container, layers && { logs, layer: layers.get(container.id) }),
      ),
      sandbox: { id: sandbox.id, image: own?.image ?? '', cgroup: own?.cgroup ?? cgroup },
      interfaces: any && !hasNodeNetwork(proc, any.pid) ? readInterfaces(proc, any.pid) : undefined,
      volumes: layers
        ? [...volumeUsages(root, identity.uid, this.#folders), ...(driverVolumes?.(identity.uid) ?? [])]
        : [],
    }
  }

  #containerUsage({ id, labels, image }: Container, disks: ContainerDisks | undefined): ContainerUsage {
    const own = this.#processes.find(id)
    return {
      name: containerNameOf(labels),
      id,
      image: own?.image || image?.image || '',
      startedAt: own?.startedAt ?? 0,
      cgroup: own?.cgroup ?? '',
      ...this.#usageOf(own?.cgroup ?? ''),
      writableLayer: disks?.layer,
      logs: disks && this.#folders.of(join(disks.logs, containerNameOf(labels))),
    }
  }

  #systemUsage(): SystemUsage[] {
    const own = this.#cgroups.pathOf(process.pid) ?? '/'
    const named = [
      { name: 'pods', cgroup: this.#options.podsCgroup },
      ...(own === '/' ? [] : [{ name: 'kubelet', cgroup: own }]),
    ]
    return named.flatMap(({ name, cgroup }) => {
      const { usage, cpuRate } = this.#usageOf(cgroup)
      return usage ? [{ name, cgroup, usage, cpuRate }] : []
    })
  }

  async #imageUsage(): Promise<Pick<UsageSnapshot, keyof typeof noImages>> {
    const answer = await this.#options.images.fileSystems().catch(() => undefined)
    const [used] = answer?.imageFilesystems ?? []
    const mountpoint = used?.fsId?.mountpoint
    return {
      imageFileSystem: mountpoint ? await fileSystemUsage(mountpoint) : undefined,
      images: layerUsage(used),
      hasImageFileSystem: mountpoint !== undefined && deviceOf(mountpoint) !== deviceOf(this.#options.root),
    }
  }
}

/** Several pods may use a claim. */
const claimsOf = (pods: readonly PodUsage[]): ReadonlyMap<string, VolumeUsage> =>
  new Map(
    pods
      .flatMap(({ volumes }) => volumes)
      .flatMap((volume) => (volume.claim ? [[`${volume.claim.namespace}/${volume.claim.name}`, volume]] : [])),
  )

const noImages = { imageFileSystem: undefined, images: undefined, hasImageFileSystem: false } as const

const deviceOf = (path: string): number | undefined => statSync(path, { throwIfNoEntry: false })?.dev

/** The writable layer of a container, and the folder of its pod's logs. */
interface ContainerDisks {
  readonly layer: FolderUsage | undefined
  readonly logs: string
}

interface LayerValues {
  readonly usedBytes?: { readonly value: bigint } | undefined
  readonly inodesUsed?: { readonly value: bigint } | undefined
}

const layerUsage = (layer: LayerValues | undefined): FolderUsage | undefined =>
  layer && { usedBytes: Number(layer.usedBytes?.value ?? 0), inodesUsed: Number(layer.inodesUsed?.value ?? 0) }

/** The cgroup of a pod is that around its sandbox or a container, if it is named after the pod. */
function podCgroup(child: string, uid: string): string {
  const parent = dirname(child)
  // systemd's names have no dashes.
  return parent.includes(uid) || parent.includes(uid.replaceAll('-', '_')) ? parent : ''
}

/** The interface of the node's default route. */
function defaultInterface(proc: string): string {
  try {
    const routes = readFileSync(join(proc, 'self/net/route'), 'utf8').split('\n').slice(1)
    const fields = routes.map((line) => line.split('\t'))
    return fields.find(([, destination]) => destination === '00000000')?.[0] ?? ''
  } catch {
    return ''
  }
}
