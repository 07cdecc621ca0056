/** All containers of the runtime. */
import { mkdirSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { RpcError } from '../../lib/grpc/grpc-error.ts'
import type { Log } from '../../lib/log/log.ts'
import { messageOf } from '../../lib/message-of.ts'
import type { Executor } from '../executors/executor.ts'
import { removeCgroup } from '../executors/remove-cgroup.ts'
import type { KernelKills } from '../host/kernel-kills.ts'
import { textOf } from '../host/processes.ts'
import type { ContainerImages } from '../images-interface.ts'
import { RecordStore } from '../state/record-store.ts'
import { type ContainerRecord, decodeContainer, encodeContainer } from '../state/records.ts'
import { Container, type ContainerParts } from './container.ts'
import { releaseKeeper } from './keeper.ts'

/** The file of a container's folder with the IDs of its image volumes, while it is created. */
export const unfinishedVolumes = 'volumes'

export type ContainerChange = 'created' | 'started' | 'stopped' | 'deleted'

export interface ContainersOptions {
  /** The folder of records, which survives a reboot. */
  readonly root: string
  /** The folder of what belongs to running containers. */
  readonly state: string
  readonly executor: Executor
  readonly kills: KernelKills
  readonly images: ContainerImages
  readonly log: Log
  readonly changed: (container: Container, change: ContainerChange) => void
}

export class Containers {
  readonly #options: ContainersOptions
  readonly #store: RecordStore<ContainerRecord>
  readonly #parts: ContainerParts
  readonly #containers = new Map<string, Container>()

  constructor(options: ContainersOptions) {
    this.#options = options
    const { root, state, executor, kills, log, changed } = options
    this.#store = new RecordStore(join(root, 'containers'), encodeContainer, decodeContainer)
    this.#parts = { executor, kills, log, changed, save: (record) => this.#store.save(record) }
    mkdirSync(join(state, 'containers'), { recursive: true, mode: 0o711 })
  }

  /** Goes on with the containers of an earlier runtime. Removes those that it has not finished to create or remove. */
  async recover(): Promise<void> {
    const { log } = this.#options
    for (const record of this.#store.load((file, error) => log(`cannot read ${file}: ${messageOf(error)}`, 'error'))) {
      const container = new Container(record, this.folderOf(record.id), this.#parts)
      this.#containers.set(record.id, container)
      const resumed = container.adopt().then(() => (record.isRemoved ? this.remove(container) : undefined))
      await resumed.catch((error) => log(`cannot resume container ${record.id}: ${messageOf(error)}`, 'error'))
    }
    for (const id of readdirSync(join(this.#options.state, 'containers')))
      if (!this.#containers.has(id))
        await this.#removeUnfinished(id).catch((error) =>
          log(`cannot remove the unfinished container ${id}: ${messageOf(error)}`, 'error'),
        )
  }

  folderOf(id: string): string {
    return join(this.#options.state, 'containers', id)
  }

  /** Adds a container whose folder is prepared. */
  add(record: ContainerRecord): Container {
    const container = new Container(record, this.folderOf(record.id), this.#parts)
    this.#store.save(record)
    this.#containers.set(record.id, container)
    this.#options.changed(container, 'created')
    return container
  }

  get all(): readonly Container[] {
    return [...this.#containers.values()]
  }

  ofSandbox(sandboxId: string): readonly Container[] {
    return this.all.filter(({ record }) => record.sandboxId === sandboxId)
  }

  /** Finds a container by its ID or a unique begin of it. */
  find(id: string): Container | undefined {
    const exact = this.#containers.get(id)
    if (exact || id === '') return exact
    const found = this.all.filter((container) => container.id.startsWith(id))
    return found.length === 1 ? found[0] : undefined
  }

  /** Throws NotFound if there is none. */
  get(id: string): Container {
    const container = this.find(id)
    if (container) return container
    throw new RpcError('NotFound', `an error occurred when try to find container ${JSON.stringify(id)}: not found`)
  }

  /** Ends a container if it runs, and removes all of it. */
  async remove(container: Container): Promise<void> {
    container.update({ isRemoved: true })
    await container.stop(0)
    await container.remove()
    for (const id of [...(container.record.volumes ?? []), container.id]) await this.#options.images.removeRoot(id)
    this.#store.remove(container.id)
    if (this.#containers.delete(container.id)) this.#options.changed(container, 'deleted')
  }

  /** Removes what a create that has not ended has left, or a container whose record was deleted. */
  async #removeUnfinished(id: string): Promise<void> {
    const { executor, images } = this.#options
    const folder = this.folderOf(id)
    await executor.remove(id)
    await removeCgroup(executor, folder)
    releaseKeeper(folder)
    const volumes = textOf(join(folder, unfinishedVolumes)).split('\n').filter(Boolean)
    for (const root of [...volumes, id]) await images.removeRoot(root)
    rmSync(folder, { recursive: true, force: true })
  }

  /** Stops to watch: containers run on. */
  release(): void {
    for (const container of this.#containers.values()) container.release()
  }
}
