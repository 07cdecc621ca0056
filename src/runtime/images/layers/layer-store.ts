/** Unpacked layers: each is unpacked once, whatever number of images and processes want it. */
import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdirSync, readFileSync, renameSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { errorCode } from '../../../lib/explained-error.ts'
import { hasOtherUsers, isInUserNamespace } from '../../../lib/linux/user-namespace.ts'
import { bootId } from '../../../lib/process/start-time.ts'
import type { Digest } from '../formats/digest.ts'
import { ImageError } from '../image-error.ts'
import { canceled } from '../registry/transport/http-exchange.ts'
import type { ImageStore } from '../store/image-store.ts'
import { ownName } from '../store/leases.ts'
import { layerPath } from '../store/store-paths.ts'
import type { StoredLayer } from '../stored-image.ts'
import { type LowerLayer, layerStates } from './layer-paths.ts'
import type { LayerFormat, LayerLimits } from './layer-writer.ts'
import { UnpackPool } from './unpack-pool.ts'

const run = promisify(execFile)

export interface LayerStoreOptions {
  readonly store: ImageStore
  readonly format: LayerFormat
  /** Default: 64 GiB and 4 million files a layer, and never more than nine tenths of the free space. */
  readonly limits?: Partial<LayerLimits>
}

const defaultLimits: LayerLimits = { maxBytes: 64 * 2 ** 30, maxEntries: 4_000_000 }
/** The part of the free space that one layer may take. */
const freeShare = 0.9

/** The record of an unpacked layer. */
interface LayerRecord {
  readonly format: LayerFormat
  readonly bytes: number
  /** The boot in which it was unpacked, until its files are on the disk. */
  readonly boot?: string
}

interface Unpacking {
  readonly state: Int32Array
  readonly done: Promise<void>
}

const recordFile = 'layer.json'

export class LayerStore {
  readonly #options: LayerStoreOptions
  readonly #pool = new UnpackPool()
  readonly #unpacking = new Map<Digest, Unpacking>()

  constructor(options: LayerStoreOptions) {
    this.#options = options
  }

  /**
   * Unpacks the missing layers of an image, several at a time, and returns the folders of all, the lowest first. Hold
   * a lease on the chain IDs. Rejects with an ImageError if a layer is damaged.
   */
  async ensure(layers: readonly StoredLayer[], signal?: AbortSignal): Promise<string[]> {
    const started = layers.map((layer, i) => this.#ensureLayer(layer, layers.slice(0, i), signal))
    const results = await Promise.allSettled(started)
    // The failure of a lower layer is the cause of those above it.
    for (const result of results) if (result.status === 'rejected') throw result.reason
    return layers.map(({ chainId }) => this.folder(chainId))
  }

  /** The folder with the files of a layer. */
  folder(chainId: Digest): string {
    return join(layerPath(this.#options.store.paths, chainId), 'fs')
  }

  /** True if the layer is unpacked in this format and complete. */
  has(chainId: Digest): boolean {
    const record = readRecord(join(layerPath(this.#options.store.paths, chainId), recordFile))
    // Files that were not on the disk before the machine stopped may be empty.
    return record?.format === this.#options.format && (record.boot === undefined || record.boot === bootId())
  }

  #ensureLayer(layer: StoredLayer, below: readonly StoredLayer[], signal: AbortSignal | undefined): Promise<void> {
    const running = this.#unpacking.get(layer.chainId)
    if (running) return running.done.catch(() => this.#ensureLayer(layer, below, signal))
    if (this.has(layer.chainId)) return Promise.resolve()
    const state = new Int32Array(new SharedArrayBuffer(4))
    const report = (value: number): void => {
      this.#unpacking.delete(layer.chainId)
      Atomics.store(state, 0, value)
      Atomics.notify(state, 0)
    }
    const done = this.#unpack(layer, below, signal).then(
      () => report(layerStates.complete),
      (error: unknown) => {
        report(layerStates.failed)
        throw error
      },
    )
    this.#unpacking.set(layer.chainId, { state, done })
    return done
  }

  async #unpack(layer: StoredLayer, below: readonly StoredLayer[], signal: AbortSignal | undefined): Promise<void> {
    const { store, format } = this.#options
    const { unfinished, layers } = store.paths
    const folder = join(unfinished, `${ownName()}.${randomBytes(6).toString('hex')}`)
    const root = join(folder, 'fs')
    mkdirSync(root, { recursive: true, mode: 0o755 })
    try {
      const lower = [...below].reverse().map(({ chainId }) => this.#lower(chainId))
      if (format === 'copy') await this.#copyBelow(below, root)
      if (signal?.aborted) throw canceled(signal)
      const { bytes } = await this.#pool.run(
        {
          blob: store.blobs.path(layer.digest),
          diffId: layer.diffId,
          root,
          lower: format === 'copy' ? [] : lower,
          format,
          limits: this.#limits(folder),
          isRoot: process.geteuid?.() === 0 && hasOtherUsers(),
          hasDevices: !isInUserNamespace(),
        },
        signal,
      )
      writeRecord(folder, { format, bytes, boot: bootId() })
      mkdirSync(layers, { recursive: true, mode: 0o700 })
      const target = layerPath(store.paths, layer.chainId)
      await publish(folder, target, () => this.has(layer.chainId))
      void syncLater(target, { format, bytes })
    } catch (error) {
      await rm(folder, { recursive: true, force: true })
      if (!(error instanceof ImageError) || error.code === 'Canceled') throw error
      throw new ImageError(error.code, `failed to extract layer ${layer.diffId}: ${error.message}`, { cause: error })
    }
  }

  #lower(chainId: Digest): LowerLayer {
    const state = this.#unpacking.get(chainId)?.state
    return { path: this.folder(chainId), ...(state && { state }) }
  }

  /** Folders that are complete begin as a copy of the one below. */
  async #copyBelow(below: readonly StoredLayer[], root: string): Promise<void> {
    const parent = below.at(-1)
    if (!parent) return
    await this.#unpacking.get(parent.chainId)?.done
    await run('cp', ['-a', `${this.folder(parent.chainId)}/.`, root])
  }

  #limits(folder: string): LayerLimits {
    const { maxBytes, maxEntries } = { ...defaultLimits, ...this.#options.limits }
    const { bavail, bsize } = statfsSync(folder)
    return { maxBytes: Math.min(maxBytes, Math.floor(bavail * bsize * freeShare)), maxEntries }
  }
}

/** Gives a complete folder its name, unless another process has been faster. */
async function publish(folder: string, target: string, isPresent: () => boolean): Promise<void> {
  try {
    renameSync(folder, target)
  } catch (error) {
    if (!['EEXIST', 'ENOTEMPTY'].includes(errorCode(error) ?? '')) throw error
    if (!isPresent()) {
      // A layer of another format, or from before a crash.
      rmSync(target, { recursive: true })
      renameSync(folder, target)
    } else await rm(folder, { recursive: true })
  }
}

/** Records that the files are on the disk, once they are. Without it, a reboot makes the layer void. */
async function syncLater(folder: string, record: LayerRecord): Promise<void> {
  try {
    await run('sync', ['-f', folder])
    writeRecord(folder, record)
  } catch {
    // The layer has been removed, or the system has no such program: it is unpacked once more after a reboot.
  }
}

function writeRecord(folder: string, record: LayerRecord): void {
  const file = join(folder, recordFile)
  writeFileSync(`${file}.new`, JSON.stringify(record), { flush: true, mode: 0o600 })
  renameSync(`${file}.new`, file)
}

function readRecord(file: string): LayerRecord | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as LayerRecord
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined
    throw error
  }
}
