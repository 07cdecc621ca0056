/**
 * Removes images that no container uses: when the disk is full, least recently used first, and when they were not used
 * for long.
 */
import type { Image } from '#protobuf/cri-images_pb.js'
import { aggregated } from '../../../lib/go/aggregate.ts'
import { goDuration } from '../../../lib/go/go-duration.ts'
import { messageOf } from '../../../lib/message-of.ts'
import type { CriImages } from '../../cri/images.ts'
import type { CriRuntime } from '../../cri/runtime.ts'
import {
  bytesToFree,
  type DiskUsage,
  evictionOrder,
  formatSize,
  type ImageRecord,
  isTooOld,
  isTooYoung,
  usedPercent,
} from './eviction-order.ts'

export interface CollectorPolicy {
  /** `imageGCHighThresholdPercent` and `imageGCLowThresholdPercent`. */
  readonly highPercent: number
  readonly lowPercent: number
  /** `imageMinimumGCAge`, in ms. */
  readonly minAgeMs: number
  /** `imageMaximumGCAge`, in ms; 0: none. */
  readonly maxAgeMs: number
}

export const defaultCollectorPolicy: CollectorPolicy = {
  highPercent: 85,
  lowPercent: 80,
  minAgeMs: 120_000,
  maxAgeMs: 0,
}

export interface CollectorOptions {
  readonly images: Pick<CriImages, 'all' | 'remove'>
  readonly runtime: Pick<CriRuntime, 'containers'>
  readonly policy: CollectorPolicy
  /** The image of sandboxes, for runtimes that do not pin it. */
  readonly sandboxImage?: string
  readonly now: () => number
  readonly log: (line: string) => void
  /** The disk with the images. */
  disk(): Promise<DiskUsage>
  /** Records an event of the node. */
  record(reason: string, message: string): void
  /** Takes all images that remain, and the time (ms since 1970) of their list. */
  onCollected(imageRefs: ReadonlySet<string>, listedAt: number): void
  /** Counts removed images: `kubelet_image_garbage_collected_total`. */
  countRemoved(reason: 'age' | 'space'): void
}

export class ImageCollector {
  readonly #options: CollectorOptions
  readonly #started: number
  #records = new Map<string, ImageRecord>()
  /** Runs are one after the other. */
  #last: Promise<unknown> = Promise.resolve()

  /** Throws an Error if the thresholds are not valid. */
  constructor(options: CollectorOptions) {
    checkPolicy(options.policy)
    this.#options = options
    this.#started = options.now()
  }

  /** True if images are never removed, so that collection need not run. */
  get isDisabled(): boolean {
    const { highPercent, maxAgeMs } = this.#options.policy
    return highPercent === 100 && maxAgeMs === 0
  }

  /** Updates the records: which images there are, and which are used. Resolves with the images. */
  detect(): Promise<readonly Image[]> {
    return this.#next(() => this.#detect())
  }

  /** Removes old images, and others if the disk is too full. Rejects with an Error if that does not free enough. */
  collect(): Promise<void> {
    return this.#next(() => this.#collect())
  }

  /** Removes all images that are not used, as under disk pressure. */
  removeUnused(): Promise<void> {
    return this.#next(async () => {
      const now = this.#options.now()
      await this.#detect(now)
      await this.#free(evictionOrder(this.#records.values()), Number.POSITIVE_INFINITY, now)
      await this.#finish()
    })
  }

  #next<T>(run: () => Promise<T>): Promise<T> {
    const result = this.#last.then(run)
    this.#last = result.catch(() => {})
    return result
  }

  /** New images were first seen at `startedAt`, so that a run whose time that is finds none that is younger. */
  async #detect(startedAt = this.#options.now()): Promise<readonly Image[]> {
    const { images, runtime, now } = this.#options
    // Images first: one that is pulled and used meanwhile is not in the list.
    const present = await images.all()
    const used = new Set(
      (await runtime.containers()).flatMap(({ image, imageRef, imageId }) => [imageRef, imageId, image?.image ?? '']),
    )
    used.delete('')
    const time = now()
    this.#records = new Map(present.map((image) => [image.id, this.#recordOf(image, used, startedAt, time)]))
    return present
  }

  #recordOf(image: Image, used: ReadonlySet<string>, startedAt: number, now: number): ImageRecord {
    const { sandboxImage } = this.#options
    const known = this.#records.get(image.id)
    const names = [image.id, ...image.repoTags, ...image.repoDigests]
    const isUsed = names.some((name) => used.has(name))
    return {
      id: image.id,
      size: Number(image.size),
      firstSeen: known?.firstSeen ?? startedAt,
      lastUsed: isUsed ? now : (known?.lastUsed ?? 0),
      isProtected: isUsed || image.pinned || (sandboxImage !== undefined && names.includes(sandboxImage)),
    }
  }

  async #collect(): Promise<void> {
    const { disk, record, policy, now } = this.#options
    const time = now()
    await this.#detect(time)
    const order = await this.#removeOld(evictionOrder(this.#records.values()), time)
    const usage = await disk()
    if (usage.capacity === 0) {
      const message = 'invalid capacity 0 on image filesystem'
      record('InvalidDiskCapacity', message)
      throw new Error(message)
    }
    const wanted = bytesToFree(usage, policy)
    if (wanted > 0) {
      const freed = await this.#free(order, wanted, time)
      await this.#finish()
      if (freed < wanted) {
        const message = insufficient(usage, freed)
        record('FreeDiskSpaceFailed', message)
        throw new Error(message)
      }
    }
  }

  /** Removes images that were not used for long; not before the kubelet has run for that time. */
  async #removeOld(order: readonly ImageRecord[], now: number): Promise<readonly ImageRecord[]> {
    const { maxAgeMs } = this.#options.policy
    if (maxAgeMs === 0 || now - this.#started <= maxAgeMs) return order
    const failures: string[] = []
    const left: ImageRecord[] = []
    for (const image of order)
      if (!isTooOld(image, maxAgeMs, now)) left.push(image)
      else if (!(await this.#remove(image, 'age', failures))) left.push(image)
    if (failures.length > 0)
      throw new Error(
        `wanted to free images older than ${goDuration(maxAgeMs)}, encountered ${deletionErrors(failures)}`,
      )
    return left
  }

  /** Removes images until so many bytes are free. Resolves with the bytes that were freed. */
  async #free(order: readonly ImageRecord[], wanted: number, now: number): Promise<number> {
    const failures: string[] = []
    let freed = 0
    for (const image of order) {
      if (freed >= wanted) break
      if (isTooYoung(image, this.#options.policy.minAgeMs, now)) continue
      if (await this.#remove(image, 'space', failures)) freed += image.size
    }
    if (failures.length > 0) {
      // Go's largest integer stands for all.
      const amount = Number.isFinite(wanted) ? wanted : '9223372036854775807'
      throw new Error(`wanted to free ${amount} bytes, but freed ${freed} bytes space with ${deletionErrors(failures)}`)
    }
    return freed
  }

  async #remove({ id, size }: ImageRecord, reason: 'age' | 'space', failures: string[]): Promise<boolean> {
    const { images, log, countRemoved } = this.#options
    try {
      await images.remove(id)
    } catch (error) {
      failures.push(messageOf(error))
      return false
    }
    log(`removed the image ${id} of ${formatSize(size)}`)
    this.#records.delete(id)
    countRemoved(reason)
    return true
  }

  async #finish(): Promise<void> {
    const listedAt = this.#options.now()
    const present = await this.#detect()
    this.#options.onCollected(new Set(present.flatMap(({ id, repoDigests }) => [id, ...repoDigests])), listedAt)
  }
}

const deletionErrors = (failures: readonly string[]): string => `errors in image deletion: ${aggregated(failures)}`

const insufficient = (usage: DiskUsage, freed: number): string =>
  [
    `Insufficient free disk space on the node's image filesystem`,
    `(${usedPercent(usage)}% of ${formatSize(usage.capacity)} used).`,
    `Failed to free sufficient space by deleting unused images (freed ${freed} bytes).`,
    'Investigate disk usage, as it could be used by active images, logs, volumes, or other data.',
  ].join(' ')

function checkPolicy({ highPercent, lowPercent }: CollectorPolicy): void {
  const check = (name: string, percent: number): void => {
    if (percent < 0 || percent > 100) throw new Error(`invalid ${name} ${percent}, must be in range [0-100]`)
  }
  check('HighThresholdPercent', highPercent)
  check('LowThresholdPercent', lowPercent)
  if (lowPercent > highPercent)
    throw new Error(`LowThresholdPercent ${lowPercent} can not be higher than HighThresholdPercent ${highPercent}`)
}
