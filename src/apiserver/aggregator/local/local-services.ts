/**
 * The APIServices of local group versions. Built-in ones are ensured at the start; those of custom resources are
 * created and deleted with their group versions, and corrected after each change.
 */
import { semanticallyEqual } from '../../../machinery/equality.ts'
import type { KubeObject } from '../../../machinery/object.ts'
import { StatusError } from '../../../machinery/status-error.ts'
import type { ServedResource } from '../../registry/served-resource.ts'
import type { StoredObject } from '../../registry/stored-object.ts'
import { createObject } from '../../registry/write/create-object.ts'
import { deleteObject } from '../../registry/write/delete-object.ts'
import { updateObject } from '../../registry/write/update-object.ts'
import type { Writer } from '../../registry/write/write-context.ts'
import { type APIService, apiServiceName, type GroupVersion, localVerdict, withVerdict } from '../api-service.ts'
import { builtInPriority, customPriority, type Priority } from './priorities.ts'

const automanaged = 'kube-aggregator.kubernetes.io/automanaged'
/** Managed always, or only at the start. */
type Management = 'true' | 'onstart'

export interface LocalServicesOptions {
  readonly apiServices: ServedResource
  readonly builtIn: readonly GroupVersion[]
  readonly context: Writer
  readonly log: (line: string) => void
}

export class LocalServices {
  readonly #options: LocalServicesOptions
  /** Undefined until the first `ensureCustom`: until then, APIServices of an earlier run are not deleted. */
  #custom: ReadonlyMap<string, APIService> | undefined
  #running: Promise<void> = Promise.resolve()
  /** A sync that has not started: it will see all changes until then. */
  #next: Promise<void> | undefined
  /** Objects that were checked and are correct, so that a sync checks only changed ones. */
  readonly #verified = new WeakSet<StoredObject>()

  constructor(options: LocalServicesOptions) {
    this.#options = options
  }

  /** Ensures the built-in ones, and deletes those of groups that are no longer built in. */
  async start(): Promise<void> {
    const wanted = new Map(
      this.#options.builtIn.map((one) => [apiServiceName(one), local(one, builtInPriority(one), 'onstart')]),
    )
    await this.#sync(wanted, 'onstart')
  }

  /**
   * Sets the group versions of custom resources. Resolves when their APIServices exist and others are deleted.
   */
  ensureCustom(groupVersions: readonly GroupVersion[]): Promise<void> {
    this.#custom = new Map(groupVersions.map((one) => [apiServiceName(one), local(one, customPriority, 'true')]))
    return this.resync()
  }

  /** Corrects changed APIServices. Syncs run one after the other, so that none undoes a later one. */
  resync(): Promise<void> {
    const custom = this.#custom
    if (!custom) return Promise.resolve()
    this.#next ??= this.#running = this.#begin(this.#running, custom)
    return this.#next
  }

  async #begin(before: Promise<void>, custom: ReadonlyMap<string, APIService>): Promise<void> {
    // This sync retries failures of the last one.
    await before.catch(() => undefined)
    // One of two servers may not know a definition yet: while they undo each other's writes, it needs time to receive
    // the event.
    await new Promise(setImmediate)
    this.#next = undefined
    await this.#sync(this.#custom ?? custom, 'true')
  }

  /** True if changes of this object are corrected. */
  isManaged(name: string, object: APIService | undefined): boolean {
    return this.#custom?.has(name) || object?.metadata.labels?.[automanaged] === 'true'
  }

  async #sync(wanted: ReadonlyMap<string, APIService>, management: Management): Promise<void> {
    const { apiServices, context } = this.#options
    const view = await context.registry.cacher(apiServices).ready()
    const stale = view.objects
      .slice(apiServices.range(''))
      .filter(({ name, summary }) => summary.labels[automanaged] === management && !wanted.has(name))
    const unverified = [...wanted].flatMap(([name, one]) => {
      const live = view.objects.get(apiServices.key('', name))
      return live && this.#verified.has(live) ? [] : [{ one, live }]
    })
    await Promise.all([
      ...stale.map(({ name }) => this.#attempt(() => this.#remove(name))),
      ...unverified.map(({ one, live }) => this.#attempt(() => this.#put(one, live))),
    ])
  }

  async #put(wanted: APIService, live: StoredObject | undefined): Promise<void> {
    const { apiServices, context } = this.#options
    const name = wanted.metadata.name!
    const place = { ...context, resource: apiServices, namespace: '', name }
    const present = live?.parse<APIService>()
    if (!present) {
      const object = structuredClone(wanted)
      apiServices.applyDefaults(object)
      await createObject({ ...place, subresource: '' }, object)
    } else if (present.metadata.labels?.[automanaged] === 'true' && !semanticallyEqual(present.spec, wanted.spec)) {
      await updateObject(
        { ...place, subresource: '' },
        { startsFromLive: true, change: (object) => ({ object: { ...object!, spec: wanted.spec } as KubeObject }) },
      )
    } else if (withVerdict(present, localVerdict, '') === undefined) {
      this.#verified.add(live!)
      return
    }
    await updateObject(
      { ...place, subresource: 'status' },
      {
        startsFromLive: true,
        change: (object) => {
          const service = object as APIService
          const conditions = withVerdict(service, localVerdict, context.now())
          return {
            object:
              conditions && !service.spec?.service
                ? ({ ...service, status: { ...service.status, conditions } } as APIService)
                : service,
          }
        },
      },
    )
  }

  async #remove(name: string): Promise<void> {
    const { apiServices, context } = this.#options
    await deleteObject({ ...context, resource: apiServices, namespace: '', name, subresource: '' }, { dryRun: false })
  }

  /** Ignores conflicts with another server on the store; the next sync does the rest. */
  async #attempt(action: () => Promise<void>): Promise<void> {
    try {
      await action()
    } catch (error) {
      if (!(error instanceof StatusError && (error.code === 409 || error.code === 404)))
        this.#options.log(`an APIService is not as it should be: ${error}`)
    }
  }
}

const local = ({ group, version }: GroupVersion, priority: Priority, management: Management): APIService => ({
  kind: 'APIService',
  apiVersion: 'apiregistration.k8s.io/v1',
  metadata: { name: apiServiceName({ group, version }), labels: { [automanaged]: management } },
  spec: { ...(group && { group }), version, groupPriorityMinimum: priority.group, versionPriority: priority.version },
})
