/**
 * Watches CustomResourceDefinitions: serves their resources, updates their status, and deletes the objects of deleted
 * definitions. Every API server of a store does this; the result does not depend on their order.
 */

import { createHash } from 'node:crypto'
import type { Definition } from '../../../api/apiextensions/custom-resource-definition.ts'
import { cleanupFinalizer } from '../../../api/apiextensions/custom-resource-definition.ts'
import { writeJson } from '../../../lib/exact-json.ts'
import { StatusError } from '../../../machinery/status-error.ts'
import type { ServiceSources } from '../../outgoing/index.ts'
import { Informer } from '../../registry/informer.ts'
import type { Registry } from '../../registry/registry.ts'
import type { ServedApis } from '../../registry/served-apis.ts'
import type { ServedResource } from '../../registry/served-resource.ts'
import type { StoredObject } from '../../registry/stored-object.ts'
import { updateObject } from '../../registry/write/update-object.ts'
import type { Writer } from '../../registry/write/write-context.ts'
import { type CustomResources, customResourcesOf } from '../custom-resource.ts'
import { type Names, usedNames } from './accepted-names.ts'
import { deleteInstances } from './cleanup.ts'
import { conditionOf, isTrue, type Verdict, withCondition } from './conditions.ts'
import { plannedStatus } from './definition-status.ts'

export interface DefinitionControllerOptions {
  readonly registry: Registry
  readonly apis: ServedApis
  /** The resource of the definitions themselves. */
  readonly definitions: ServedResource
  /** The writer of status. */
  readonly writer: Writer
  /** Resolves the Services of conversion webhooks. */
  readonly webhooks: ServiceSources
  readonly log: (line: string) => void
}

/** The cached state of a definition. */
interface DefinitionState {
  readonly object: StoredObject
  readonly group: string
  readonly names: Partial<Names>
  /** True if some of its names are in use by others. */
  readonly isWaiting: boolean
  readonly served: Served | undefined
}

/** Identifies the served resources of an established definition. */
interface Served {
  /** A digest of the fields that its resources depend on. */
  readonly shape: string
  /** True if it is being deleted: creations are rejected. */
  readonly isTerminating: boolean
}

/** The delay before a failed reconciliation is retried, in ms. */
const retryMs = 1000

const digest = (value: unknown): string => createHash('sha256').update(writeJson(value)).digest('base64')

function servedBy(definition: Definition, names: Partial<Names>): Served | undefined {
  if (!isTrue(definition, 'Established')) return undefined
  return {
    shape: digest([definition.metadata.uid, definition.spec, names]),
    isTerminating: isTrue(definition, 'Terminating'),
  }
}

export class DefinitionController {
  readonly #options: DefinitionControllerOptions
  readonly #informer: Informer<StoredObject>
  readonly #states = new Map<string, DefinitionState>()
  readonly #serving = new Map<string, CustomResources>()
  /** Replaced resources that still have watches. */
  readonly #retired = new Map<string, CustomResources[]>()
  /** Names of definitions to reconcile. */
  readonly #queue = new Set<string>()
  readonly #cleaning = new Map<string, AbortController>()
  readonly #stopping = new AbortController()
  #processing: Promise<void> | undefined

  constructor(options: DefinitionControllerOptions) {
    this.#options = options
    const { registry, definitions: resource, log } = options
    this.#informer = new Informer<StoredObject>({
      registry,
      resource,
      read: (object) => object,
      changed: (value, _old, { name }) => {
        if (value) this.#handleChange(value)
        else this.#handleDelete(name)
      },
      log,
    })
  }

  /** Resolves when all established definitions are served. */
  async start(): Promise<void> {
    await this.#informer.start()
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    this.#informer.stop()
    for (const cleaning of this.#cleaning.values()) cleaning.abort()
    await this.#processing
    await Promise.all([...this.#retired.keys()].map((name) => this.#endWatches(name)))
    for (const { webhook } of this.#serving.values()) webhook?.stop()
  }

  #handleChange(object: StoredObject): void {
    const definition = object.parse<Definition>()
    const { name } = object
    const old = this.#states.get(name)
    const names = definition.status?.acceptedNames ?? {}
    const served = servedBy(definition, names)
    const isWaiting = conditionOf(definition, 'NamesAccepted')?.status === 'False'
    this.#states.set(name, { object, group: definition.spec.group, names, isWaiting, served })
    const isSameShape = served?.shape === old?.served?.shape
    if (!isSameShape || served?.isTerminating !== old?.served?.isTerminating) {
      this.#serve(name, served && customResourcesOf(definition, object, this.#options.webhooks))
      // Termination alone does not change the objects' form: watches continue and get every deletion.
      if (!isSameShape) void this.#endWatches(name)
    }
    this.#enqueue(name)
    // Another definition may wait for a name that this one released.
    if (old && JSON.stringify(old.names) !== JSON.stringify(names)) this.#enqueueWaiting(definition.spec.group)
  }

  #handleDelete(name: string): void {
    const state = this.#states.get(name)
    this.#states.delete(name)
    this.#serve(name, undefined)
    void this.#endWatches(name, state?.object.revision)
    this.#cleaning.get(name)?.abort()
    if (state) this.#enqueueWaiting(state.group)
  }

  #serve(name: string, resources: CustomResources | undefined): void {
    const { registry, apis } = this.#options
    const old = this.#serving.get(name)
    if (resources) this.#serving.set(name, resources)
    else this.#serving.delete(name)
    apis.setCustom(name, resources?.served ?? [])
    if (!old) return
    registry.retire(old.storage, resources?.storage.definition.createNotAllowedMessage)
    this.#retired.set(name, [...(this.#retired.get(name) ?? []), old])
  }

  /** Ends the watches of replaced resources after they have sent all events up to `revision`. */
  async #endWatches(name: string, revision?: number): Promise<void> {
    const watched = this.#retired.get(name) ?? []
    this.#retired.delete(name)
    await Promise.all(
      watched.map(async ({ storage, webhook }) => {
        await this.#options.registry.endWatches(storage, revision)
        webhook?.retire()
      }),
    )
  }

  #enqueueWaiting(group: string): void {
    for (const [name, state] of this.#states) if (state.isWaiting && state.group === group) this.#enqueue(name)
  }

  #enqueue(name: string): void {
    this.#queue.add(name)
    this.#processing ??= this.#processQueue().finally(() => {
      this.#processing = undefined
    })
  }

  async #processQueue(): Promise<void> {
    // Batches changes that arrive in the same turn.
    await null
    for (let [name] = this.#queue; name !== undefined && !this.#stopping.signal.aborted; [name] = this.#queue) {
      this.#queue.delete(name)
      try {
        await this.#reconcile(name)
      } catch (error) {
        if (error instanceof StatusError && (error.code === 404 || error.code === 409)) continue
        this.#options.log(`custom resource definition ${name}: ${error instanceof Error ? error.message : error}`)
        setTimeout(() => this.#states.has(name) && this.#enqueue(name), retryMs).unref()
      }
    }
  }

  async #reconcile(name: string): Promise<void> {
    const state = this.#states.get(name)
    if (!state) return
    const definition = state.object.parse<Definition>()
    if (definition.metadata.deletionTimestamp !== undefined) {
      this.#cleanUp(name, definition)
      return
    }
    const { apis } = this.#options
    const otherNames = [...this.#states].flatMap(([other, { group, names }]) =>
      group === state.group && other !== name ? [names] : [],
    )
    const used = usedNames([...otherNames, ...apis.builtIn(state.group)])
    const now = this.#options.writer.now()
    if (plannedStatus(definition, used, now)) await this.#writeStatus(name, (live) => plannedStatus(live, used, now))
  }

  async #writeStatus(name: string, plan: (live: Definition) => Definition['status'] | undefined): Promise<void> {
    const { definitions, writer } = this.#options
    await updateObject(
      { ...writer, resource: definitions, namespace: '', name, subresource: 'status' },
      {
        startsFromLive: true,
        change: (live) => {
          const definition = live as Definition
          const status = plan(definition)
          return { object: status ? { ...definition, status } : definition }
        },
      },
    )
  }

  /** Runs in the background, because finalizers of the objects may delay it for long. */
  #cleanUp(name: string, { metadata }: Definition): void {
    if (!metadata.finalizers?.includes(cleanupFinalizer) || this.#cleaning.has(name)) return
    const cleaning = new AbortController()
    this.#cleaning.set(name, cleaning)
    this.#deleteAll(name, cleaning.signal)
      .catch(async (error) => {
        if (cleaning.signal.aborted) return
        const message = error instanceof Error ? error.message : String(error)
        const failed: Verdict = {
          type: 'Terminating',
          status: 'True',
          reason: 'InstanceDeletionFailed',
          message: `could not list instances: ${message}`,
        }
        await this.#setCondition(name, failed).catch(() => undefined)
        await this.#pause(retryMs)
      })
      .finally(() => {
        this.#cleaning.delete(name)
        if (!this.#stopping.signal.aborted && this.#states.has(name)) this.#enqueue(name)
      })
  }

  async #deleteAll(name: string, signal: AbortSignal): Promise<void> {
    const { registry, definitions, writer } = this.#options
    const storage = this.#serving.get(name)?.storage
    if (storage) {
      await this.#setCondition(name, {
        type: 'Terminating',
        status: 'True',
        reason: 'InstanceDeletionInProgress',
        message: 'CustomResource deletion is in progress',
      })
      // Setting the condition may have replaced the served resources.
      await deleteInstances(registry, this.#serving.get(name)?.storage ?? storage, writer, signal)
      if (signal.aborted) return
      await this.#setCondition(name, {
        type: 'Terminating',
        status: 'False',
        reason: 'InstanceDeletionCompleted',
        message: 'removed all instances',
      })
      // Creations in progress when creating was forbidden have been stored before the condition was.
      if ((await registry.storeOf(storage).count(storage.range(''))) > 0) return this.#deleteAll(name, signal)
    }
    await updateObject(
      { ...writer, resource: definitions, namespace: '', name, subresource: '' },
      {
        startsFromLive: true,
        change: (live) => {
          const { metadata } = live!
          return {
            object: {
              ...live!,
              metadata: { ...metadata, finalizers: metadata.finalizers?.filter((one) => one !== cleanupFinalizer) },
            },
          }
        },
      },
    )
  }

  #setCondition(name: string, verdict: Verdict): Promise<void> {
    const now = this.#options.writer.now()
    return this.#writeStatus(name, ({ status }) => ({
      ...status!,
      conditions: withCondition(status?.conditions ?? [], verdict, now),
    }))
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const { signal } = this.#stopping
      const timer = setTimeout(resolve, ms)
      signal.addEventListener('abort', () => {
        clearTimeout(timer)
        resolve()
      })
    })
  }
}
