/** Writes the status of GatewayClasses, Gateways and routes. */
import { FailureLog } from '../../../client/controller/failure-log.ts'
import { updateStatus } from '../../../client/objects/create-or-update.ts'
import { WorkQueue } from '../../../client/queue/work-queue.ts'
import type { Resource } from '../../../client/resource.ts'
import { isNotFound } from '../../../client/rest/api-errors.ts'
import type { RestClient } from '../../../client/rest/rest-client.ts'
import { semanticallyEqual } from '../../../machinery/equality.ts'
import type { KubeObject } from '../../../machinery/object.ts'
import type { ParentConditions } from '../picture/gateway/attachments.ts'
import { mergeConditions, positive } from '../picture/gateway/conditions.ts'
import { type GatewayConditions, type GatewayPicture, gatewayController } from '../picture/gateway/gateway-picture.ts'
import {
  type AnyRoute,
  type Gateway,
  type GatewayClass,
  gatewayClasses,
  gateways,
  grpcRoutes,
  httpRoutes,
  type ParentReference,
} from '../picture/gateway/kinds.ts'

interface Pending {
  readonly namespace: string
  readonly name: string
  write(): Promise<unknown>
}

export class GatewayStatusWriter {
  readonly #client: RestClient
  readonly #addresses: readonly string[]
  /** RFC 3339, in seconds. */
  readonly #now: () => string
  readonly #pending = new Map<string, Pending>()
  readonly #queue: WorkQueue

  constructor(
    client: RestClient,
    addresses: readonly string[],
    log: (line: string) => void,
    now: () => string = () => `${new Date().toISOString().slice(0, 19)}Z`,
  ) {
    this.#client = client
    this.#addresses = addresses
    this.#now = now
    const failures = new FailureLog((line) => log(`ingress: ${line}`))
    this.#queue = new WorkQueue({
      work: (key) => this.#write(key),
      onFailure: (key, error) => failures.record(key, error, this.#queue.failures(key)),
    })
    this.#queue.start()
  }

  /** Writes the statuses that differ from those of the cached objects. */
  apply({ classes, gateways: all, routes }: GatewayPicture): void {
    for (const one of classes) this.#enqueue(gatewayClasses, one, (current) => this.#classWithStatus(current))
    for (const conditions of all)
      this.#enqueue(gateways, conditions.gateway, (current) => this.#gatewayWithStatus(current, conditions))
    for (const { route, parents } of routes)
      this.#enqueue<AnyRoute>(route.kind === 'GRPCRoute' ? grpcRoutes : httpRoutes, route, (current) =>
        this.#routeWithStatus(current, parents, route.metadata.generation),
      )
  }

  stop(): Promise<void> {
    return this.#queue.stop()
  }

  #enqueue<T extends KubeObject>(resource: Resource<T>, object: T, change: (current: T) => T): void {
    const { namespace = '', name = '' } = object.metadata
    const key = `${resource.plural}/${namespace}/${name}`
    if (semanticallyEqual(object, change(object))) {
      this.#pending.delete(key)
      return
    }
    const write = (): Promise<boolean> => updateStatus(this.#client, resource, { namespace, name }, change)
    this.#pending.set(key, { namespace, name, write })
    this.#queue.add(key)
  }

  async #write(key: string): Promise<void> {
    const pending = this.#pending.get(key)
    if (!pending) return
    try {
      await pending.write()
    } catch (error) {
      // The object was deleted.
      if (!isNotFound(error)) throw error
    }
    if (this.#pending.get(key) === pending) this.#pending.delete(key)
  }

  #classWithStatus(current: GatewayClass): GatewayClass {
    const { generation } = current.metadata
    const conditions = mergeConditions(current.status?.conditions, [positive('Accepted')], generation, this.#now())
    return { ...current, status: { ...current.status, conditions } }
  }

  #gatewayWithStatus(current: Gateway, { gateway, conditions, listeners }: GatewayConditions): Gateway {
    // The generation that the conditions are about, which may be older than the current one.
    const { generation } = gateway.metadata
    const now = this.#now()
    return {
      ...current,
      status: {
        ...current.status,
        addresses: this.#addresses.map((value) => ({ type: 'IPAddress', value })),
        conditions: mergeConditions(current.status?.conditions, conditions, generation, now),
        listeners: listeners.map(({ listener: { name }, supportedKinds, attachedRoutes, conditions: ofListener }) => ({
          name,
          supportedKinds,
          attachedRoutes,
          conditions: mergeConditions(
            current.status?.listeners?.find((one) => one.name === name)?.conditions,
            ofListener,
            generation,
            now,
          ),
        })),
      },
    }
  }

  /** Keeps the entries of other controllers. */
  #routeWithStatus(current: AnyRoute, parents: readonly ParentConditions[], generation: number | undefined): AnyRoute {
    const old = current.status?.parents ?? []
    const others = old.filter(({ controllerName }) => controllerName !== gatewayController)
    if (parents.length === 0 && others.length === old.length) return current
    const own = parents.map(({ parentRef, conditions }) => ({
      parentRef,
      controllerName: gatewayController,
      conditions: mergeConditions(
        old.find((one) => one.controllerName === gatewayController && isSame(one.parentRef, parentRef))?.conditions,
        conditions,
        generation,
        this.#now(),
      ),
    }))
    return { ...current, status: { ...current.status, parents: [...others, ...own] } }
  }
}

const isSame = (a: ParentReference, b: ParentReference): boolean =>
  a.name === b.name &&
  a.namespace === b.namespace &&
  a.sectionName === b.sectionName &&
  a.port === b.port &&
  (a.kind ?? 'Gateway') === (b.kind ?? 'Gateway')
