/**
 * The APIServices of what this server serves itself. Built-in ones are seen to at the start; those of custom resources
 * come and go with their group versions, and are put right whenever somebody changes them.
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
/** Managed at all times, or only when the server starts. */
type Management = 'true' | 'onstart'

export interface LocalServicesOptions {
  readonly apiServices: ServedResource
  readonly builtIn: readonly GroupVersion[]
  readonly context: Writer
  readonly log: (line: string) => void
}

export class LocalServices {
  readonly #options: LocalServicesOptions
  /** Unknown until somebody has told: what an earlier run has left is not removed before. */
  #custom: ReadonlyMap<string, APIService> | undefined
  #running: Promise<void> = Promise.resolve()
  /** A sync that has not begun: it will see what has happened meanwhile. */
  #next: Promise<void> | undefined
  /** Objects that were found to be right: with many custom resources, only what is new is looked at. */
  readonly #right = new WeakSet<StoredObject>()

  constructor(options: LocalServicesOptions) {
    this.#options = options
  }

  /** Makes sure of the built-in ones, and removes those of groups that are not built in any more. */
  async start(): Promise<void> {
    const wanted = new Map(
      this.#options.builtIn.map((one) => [apiServiceName(one), local(one, builtInPriority(one), 'onstart')]),
    )
    await this.#sync(wanted, 'onstart')
  }

  /**
   * From now on these are the group versions of custom resources. Resolves when their APIServices are there, and the
   * others gone.
   */
  ensureCustom(groupVersions: readonly GroupVersion[]): Promise<void> {
    this.#custom = new Map(groupVersions.map((one) => [apiServiceName(one), local(one, customPriority, 'true')]))
    return this.resync()
  }

  /** Puts right what somebody has changed. One after the other: none undoes what a later one did. */
  resync(): Promise<void> {
    const custom = this.#custom
    if (!custom) return Promise.resolve()
    this.#next ??= this.#running = this.#begin(this.#running, custom)
    return this.#next
  }

  async #begin(before: Promise<void>, custom: ReadonlyMap<string, APIService>): Promise<void> {
    // What failed then is tried again now.
    await before.catch(() => undefined)
    // Of two servers one may not have heard of a definition yet: while they undo what the other does, it has to get its
    // turn to hear.
    await new Promise(setImmediate)
    this.#next = undefined
    await this.#sync(this.#custom ?? custom, 'true')
  }

  /** Whether a change of this object is to be put right. */
  isManaged(name: string, object: APIService | undefined): boolean {
    return this.#custom?.has(name) || object?.metadata.labels?.[automanaged] === 'true'
  }

  async #sync(wanted: ReadonlyMap<string, APIService>, management: Management): Promise<void> {
    const { apiServices, context } = this.#options
    const view = await context.registry.cacher(apiServices).ready()
    const stale = view.objects
      .slice(apiServices.range(''))
      .filter(({ name, summary }) => summary.labels[automanaged] === management && !wanted.has(name))
    const wrong = [...wanted].flatMap(([name, one]) => {
      const live = view.objects.get(apiServices.key('', name))
      return live && this.#right.has(live) ? [] : [{ one, live }]
    })
    await Promise.all([
      ...stale.map(({ name }) => this.#attempt(() => this.#remove(name))),
      ...wrong.map(({ one, live }) => this.#attempt(() => this.#put(one, live))),
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
      this.#right.add(live!)
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

  /** Another server on the same store may be faster; the next sync sees what is left to do. */
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
