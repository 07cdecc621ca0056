/** Sandboxes and containers of pods, as the engine has them: each call reads them again. */

import { setTimeout as delay } from 'node:timers/promises'
import { type DockerEngine, isConflict, isMissing } from '../../../lib/docker-engine/index.ts'
import { RpcError } from '../../../lib/grpc/grpc-error.ts'
import type { ContainerInspection, ContainerSummary } from '../engine-types.ts'
import {
  type ContainerLabels,
  labelFilter,
  readContainerLabels,
  readSandboxLabels,
  type SandboxLabels,
} from './labels.ts'

export interface Sandbox extends SandboxLabels {
  readonly id: string
  readonly isReady: boolean
}

export interface Container extends ContainerLabels {
  readonly id: string
  readonly imageId: string
  /** `created`, `running`, `exited` … */
  readonly state: string
  /** In bytes, if it was requested. */
  readonly writtenBytes: number | undefined
}

export interface InspectedSandbox extends Sandbox {
  readonly inspection: ContainerInspection
}

export interface InspectedContainer extends Container {
  readonly inspection: ContainerInspection
}

/** Another removal of the same container takes some time. In ms. */
const removalPauseMs = 50
const removalAttempts = 200

export class Pods {
  readonly owner: string
  readonly #engine: DockerEngine

  constructor(engine: DockerEngine, owner: string) {
    this.#engine = engine
    this.owner = owner
  }

  async sandboxes(): Promise<Sandbox[]> {
    const found = await this.#list(labelFilter(this.owner, 'podsandbox'))
    return found.flatMap(({ Id, State, Labels }) => {
      const labels = readSandboxLabels(this.owner, Labels)
      return labels ? [{ ...labels, id: Id, isReady: State === 'running' }] : []
    })
  }

  /** All containers, or those of a sandbox. `withSizes` makes the engine measure what they have written. */
  async containers(sandboxId?: string, withSizes = false): Promise<Container[]> {
    const found = await this.#list(labelFilter(this.owner, 'container', sandboxId), withSizes)
    return found.flatMap(({ Id, ImageID, State, Labels, SizeRw }) => {
      const labels = readContainerLabels(this.owner, Labels)
      return labels ? [{ ...labels, id: Id, imageId: ImageID, state: State, writtenBytes: SizeRw }] : []
    })
  }

  /** Undefined if it is missing, or not a sandbox. */
  async findSandbox(id: string): Promise<InspectedSandbox | undefined> {
    const inspection = await this.#inspect(id)
    const labels = inspection && readSandboxLabels(this.owner, inspection.Config.Labels)
    return labels && { ...labels, id: inspection.Id, isReady: inspection.State.Running, inspection }
  }

  async findContainer(id: string): Promise<InspectedContainer | undefined> {
    const inspection = await this.#inspect(id)
    const labels = inspection && readContainerLabels(this.owner, inspection.Config.Labels)
    if (!labels) return undefined
    const { Id, Image, State } = inspection
    return { ...labels, id: Id, imageId: Image, state: State.Status, writtenBytes: undefined, inspection }
  }

  /** Throws NotFound. */
  async sandbox(id: string): Promise<InspectedSandbox> {
    const found = await this.findSandbox(id)
    if (found) return found
    throw new RpcError('NotFound', `an error occurred when try to find sandbox ${JSON.stringify(id)}: not found`)
  }

  /** Throws NotFound. */
  async container(id: string): Promise<InspectedContainer> {
    const found = await this.findContainer(id)
    if (found) return found
    throw new RpcError('NotFound', `an error occurred when try to find container ${JSON.stringify(id)}: not found`)
  }

  /** Removes containers of an earlier runtime that was killed while it read their files. */
  async removeHelpers(): Promise<void> {
    for (const { Id } of await this.#list(labelFilter(this.owner, 'helper'))) await this.remove(Id)
  }

  /** Kills the processes of a container. Does nothing if it does not run. */
  async kill(id: string): Promise<void> {
    await this.#engine
      .json({ method: 'POST', path: `/containers/${id}/kill`, query: { signal: 'SIGKILL' } })
      .catch((error) => {
        if (!isMissing(error) && !isConflict(error)) throw error
      })
  }

  /** Kills and removes a container with its anonymous volumes. Does nothing if it is missing. */
  async remove(id: string): Promise<void> {
    for (let attempt = 0; ; attempt++)
      try {
        await this.#engine.json({ method: 'DELETE', path: `/containers/${id}`, query: { force: true, v: true } })
        return
      } catch (error) {
        if (isMissing(error)) return
        if (!isConflict(error) || attempt >= removalAttempts) throw error
        await delay(removalPauseMs)
      }
  }

  /** Creates a container and returns its ID. A container of this name that does not run is removed before. */
  async create(name: string | undefined, body: object): Promise<string> {
    const request = { method: 'POST', path: '/containers/create', query: { name }, body } as const
    try {
      return (await this.#engine.json<{ readonly Id: string }>(request)).Id
    } catch (error) {
      if (!isConflict(error) || name === undefined) throw error
      const other = await this.#inspect(name)
      if (other?.State.Running) throw error
      if (other) await this.remove(other.Id)
      return (await this.#engine.json<{ readonly Id: string }>(request)).Id
    }
  }

  #list(filters: object, size = false): Promise<ContainerSummary[]> {
    return this.#engine.json({ path: '/containers/json', query: { all: true, filters, ...(size && { size }) } })
  }

  #inspect(id: string): Promise<ContainerInspection | undefined> {
    if (!/^[\w.-]+$/.test(id)) return Promise.resolve(undefined)
    return this.#engine.json<ContainerInspection>({ path: `/containers/${id}/json` }).catch((error) => {
      if (isMissing(error)) return undefined
      throw error
    })
  }
}
