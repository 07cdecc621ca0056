/** The images of a node: pulls for pods, the list for the node's status, and collection. Puts their parts together. */
import { statfs } from 'node:fs/promises'
import type { Secret } from '../../client/kinds.ts'
import { BackOff, pullBackOff } from '../containers/back-off.ts'
import type { PodEvents } from '../containers/container-events.ts'
import type { PresentImage } from '../containers/start-container.ts'
import type { CriImages } from '../cri/images.ts'
import type { CriRuntime, SandboxConfig } from '../cri/runtime.ts'
import type { Container, Pod } from '../pod-types.ts'
import { CollectionLoop } from './collection/collection-loop.ts'
import type { DiskUsage } from './collection/eviction-order.ts'
import { type CollectorPolicy, ImageCollector } from './collection/image-collector.ts'
import { nodeImages } from './collection/node-images.ts'
import { sandboxImageOf } from './collection/sandbox-image.ts'
import { ImageCredentials } from './credentials/image-credentials.ts'
import { NodeConfig, nodeConfigFolders } from './credentials/node-config.ts'
import type { ProviderSettings } from './credentials/provider-config.ts'
import { CredentialProvider, providerRunner } from './credentials/provider-plugin.ts'
import { ImageManager } from './image-manager.ts'
import { type PullLimits, PullQueue } from './pull-queue.ts'
import { PullAccess } from './records/pull-access.ts'
import { PullRecords } from './records/pull-records.ts'
import type { VerificationPolicy } from './records/verification-policy.ts'

export interface ImageServiceOptions {
  readonly images: CriImages
  readonly runtime: CriRuntime
  readonly events: PodEvents
  /** The kubelet's folder. */
  readonly root: string
  readonly limits: PullLimits
  readonly verification: VerificationPolicy
  readonly collection: CollectorPolicy
  readonly maxNodeImages: number
  /** Credential providers, and the folder with their programs. */
  readonly providers: readonly ProviderSettings[]
  readonly providerFolder: string
  readonly environment: NodeJS.ProcessEnv
  readonly workingFolder: string
  readonly log: (line: string) => void
  readonly now: () => number
  readonly schedule: (callback: () => void, ms: number) => () => void
  secret(namespace: string, name: string): Promise<Secret | undefined>
  /** Records a warning of the node. */
  record(reason: string, message: string): void
  countRemoved(reason: 'age' | 'space'): void
}

/** The list for the node's status is read again after this time, in ms. */
const listFreshMs = 30_000

export class ImageService {
  readonly #options: ImageServiceOptions
  readonly #access: PullAccess
  readonly #manager: ImageManager
  readonly #collector: ImageCollector
  readonly #loop: CollectionLoop
  #listed: { readonly images: ReturnType<typeof nodeImages>; readonly at: number } | undefined

  private constructor(options: ImageServiceOptions, sandboxImage: string | undefined) {
    this.#options = options
    const { images, runtime, root, verification, limits, events, now, log, record, schedule } = options
    this.#access = new PullAccess({ records: new PullRecords(root, log), policy: verification, log, now })
    this.#manager = new ImageManager({
      images,
      credentials: credentialsOf(options),
      access: this.#access,
      queue: new PullQueue(limits, now),
      backOff: new BackOff(pullBackOff, now),
      events,
      now,
    })
    this.#collector = new ImageCollector({
      images,
      runtime,
      policy: options.collection,
      ...(sandboxImage && { sandboxImage }),
      now,
      log,
      disk: () => diskOf(images, root),
      record,
      onCollected: (refs, listedAt) => this.#access.prune(refs, listedAt),
      countRemoved: options.countRemoved,
    })
    this.#loop = new CollectionLoop({ collector: this.#collector, log, schedule, record })
  }

  /** Resumes the records of an earlier kubelet, and begins to collect. Rejects if the runtime does not answer. */
  static async start(options: ImageServiceOptions): Promise<ImageService> {
    const service = new ImageService(options, await sandboxImageOf(options.runtime))
    service.#access.resume(await options.images.all())
    service.#loop.start()
    return service
  }

  /** Makes the image of a container present. Rejects with a StartError, after events. */
  ensure(pod: Pod, container: Container, sandbox: SandboxConfig): Promise<PresentImage> {
    return this.#manager.ensure(pod, container, sandbox)
  }

  /** Makes the image of a volume present, as `ensure`. */
  ensureVolume(pod: Pod, image: string, pullPolicy: string | undefined, sandbox: SandboxConfig): Promise<PresentImage> {
    return this.#manager.ensureVolume(pod, image, pullPolicy, sandbox)
  }

  /** Cancels the pulls of a pod that ends. */
  cancel({ metadata: { uid = '' } }: Pod): void {
    this.#manager.cancel(uid)
  }

  /** The images for the node's status. */
  async forStatus(): Promise<ReturnType<typeof nodeImages>> {
    const { images, now, maxNodeImages } = this.#options
    if (!this.#listed || now() - this.#listed.at >= listFreshMs)
      this.#listed = { images: nodeImages(await images.all(), maxNodeImages), at: now() }
    return this.#listed.images
  }

  /** Removes all images that are not used, as under disk pressure. */
  removeUnused(): Promise<void> {
    return this.#collector.removeUnused()
  }

  stop(): void {
    this.#loop.stop()
  }
}

function credentialsOf(options: ImageServiceOptions): ImageCredentials {
  const { root, environment, workingFolder, providers, providerFolder, events, log, now } = options
  const run = providerRunner(providerFolder, environment)
  return new ImageCredentials({
    node: new NodeConfig({ ...nodeConfigFolders(root, environment.HOME ?? '/', workingFolder), now }),
    providers: providers.map((settings) => new CredentialProvider(settings, { run, log, now })),
    events,
    log,
    secret: options.secret,
  })
}

/** The disk with the images; that of the kubelet if the runtime does not say where they are. */
async function diskOf(images: CriImages, root: string): Promise<DiskUsage> {
  const [first] = (await images.fileSystems()).imageFilesystems
  const { bsize, blocks, bavail } = await statfs(first?.fsId?.mountpoint || root)
  return { capacity: bsize * blocks, available: bsize * bavail }
}
