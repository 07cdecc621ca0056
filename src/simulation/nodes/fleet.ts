/**
 * The fleet of one owner: as many nodes as its ConfigMap requests, in groups. The ConfigMap is watched, so `t8s scale
 * nodes` resizes the fleet, and it outlives restarts. Nodes of other owners are ignored.
 */
import { Informer } from '../../client/informers/informer.ts'
import { type ConfigMap, configMaps, type Node, nodes } from '../../client/kinds.ts'
import { createOrUpdate } from '../../client/objects/create-or-update.ts'
import { ignoreNotFound, isAlreadyExists } from '../../client/rest/api-errors.ts'
import type { RestClient } from '../../client/rest/rest-client.ts'
import { semanticallyEqual } from '../../machinery/equality.ts'
import { fleetConfigMapOf, fleetGroupsKey, fleetLabelValue, fleetSizeKey, nodeLabel, ownerLabel } from '../names.ts'
import { type KubeletEndpoint, newNode } from './node-object.ts'
import { defaultGroup, type NodeGroup, type PlannedNode, planNodes } from './node-shape.ts'
import type { NodeTypes } from './node-types.ts'

/** The requested fleet. Default for both: the values in the ConfigMap. */
export interface WantedFleet {
  readonly size?: number
  /** The smallest size that the ConfigMap may give. Default: 0. */
  readonly atLeast?: number
  readonly groups?: readonly NodeGroup[]
}

export interface FleetOptions {
  readonly client: RestClient
  readonly owner: string
  readonly place: KubeletEndpoint
  readonly wanted: WantedFleet
  /** The taints of new nodes, beside those of their group. */
  readonly types: Pick<NodeTypes, 'taints'>
  /** In ms since 1970. */
  readonly now: () => number
  readonly log: (line: string) => void
}

const maxConcurrentWrites = 16
const defaultSize = 1
/** Larger numbers are probably a mistake. */
const maxNodes = 20_000
/** How often the names are planned once more after other nodes have taken them. */
const maxPlans = 5

export class Fleet {
  readonly #options: FleetOptions
  readonly #informer: Informer<ConfigMap>
  readonly #stopping = new AbortController()
  #running: Promise<void> | undefined
  #working: Promise<void> = Promise.resolve()
  #groups: readonly NodeGroup[] = [defaultGroup]

  constructor(options: FleetOptions) {
    this.#options = options
    const { client, owner, log } = options
    const { namespace, name } = fleetConfigMapOf(owner)
    this.#informer = new Informer({
      client,
      resource: configMaps,
      namespace,
      fieldSelector: `metadata.name=${name}`,
      log,
    })
  }

  /** The group of a node. */
  groupOf(nodeName: string): NodeGroup | undefined {
    return this.#groups.find(
      ({ name }) => nodeName.startsWith(`${name}-`) && /^\d+$/.test(nodeName.slice(name.length + 1)),
    )
  }

  /** Resolves when the fleet's nodes exist. */
  async start(): Promise<void> {
    const { client, owner, wanted } = this.#options
    await createOrUpdate(client, configMaps, fleetConfigMapOf(owner), (object) => {
      const { [fleetSizeKey]: size = `${defaultSize}`, [fleetGroupsKey]: groups } = object.data ?? {}
      const data = {
        [fleetSizeKey]: `${wanted.size ?? Math.max(Number(size), wanted.atLeast ?? 0)}`,
        ...((wanted.groups || groups) && {
          [fleetGroupsKey]: wanted.groups ? JSON.stringify(wanted.groups) : (groups ?? ''),
        }),
      }
      return {
        ...object,
        metadata: { ...object.metadata, labels: { ...object.metadata.labels, [ownerLabel]: owner } },
        data,
      }
    })
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#running = this.#informer.run(this.#stopping.signal, resolve)
    await promise
    this.#informer.onChange((configMap) => {
      if (configMap) this.#working = this.#working.then(() => this.#apply(configMap))
    })
    await this.#working
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#running
    await this.#working
  }

  /** Applies the ConfigMap. Logs errors and never rejects. */
  async #apply({ data = {} }: ConfigMap): Promise<void> {
    const { log, owner } = this.#options
    const { namespace, name } = fleetConfigMapOf(owner)
    const where = `the ConfigMap ${namespace}/${name}`
    const text = data[fleetSizeKey] ?? ''
    if (!/^\d{1,6}$/.test(text) || Number(text) > maxNodes) {
      log(
        `${where} requests ${JSON.stringify(text)} nodes: data.${fleetSizeKey} must be a number from 0 to ` +
          `${maxNodes}`,
      )
      return
    }
    try {
      const groups = data[fleetGroupsKey]
      if (groups) this.#groups = JSON.parse(groups) as readonly NodeGroup[]
      for (let plans = 1; !(await this.#reconcile(Number(text))); plans++)
        if (plans === maxPlans) throw new Error('other nodes took the names of its nodes: run t8s scale nodes to retry')
    } catch (error) {
      if (!this.#stopping.signal.aborted)
        log(`cannot resize the fleet to ${where}: ${error instanceof Error ? error.message : String(error)}`)
    }
  }

  /** Creates, resizes and deletes nodes. Resolves with false if other nodes took some of the names. */
  async #reconcile(size: number): Promise<boolean> {
    const { client, owner } = this.#options
    const { items } = await client.list(nodes)
    const isOwn = ({ metadata: { labels } }: Node): boolean =>
      labels?.[nodeLabel] === fleetLabelValue && labels[ownerLabel] === owner
    const own = new Map(items.filter(isOwn).map((node) => [node.metadata.name ?? '', node]))
    const taken = new Set(items.flatMap((node) => (isOwn(node) ? [] : (node.metadata.name ?? ''))))
    const planned = planNodes(this.#groups, size, { own: [...own.keys()], taken })
    const wanted = new Set(planned.map(({ name }) => name))
    const surplus = [...own.values()].filter(({ metadata }) => !wanted.has(metadata.name ?? ''))
    let isDone = true
    await this.#each(planned, async (one) => {
      const node = own.get(one.name)
      if (node) await this.#resize(node, one)
      else if (!(await this.#create(one))) isDone = false
    })
    await this.#each(surplus, ({ metadata: { name = '', uid } }) =>
      client.delete(nodes, '', name, { uid }).catch(ignoreNotFound),
    )
    return isDone
  }

  async #each<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
    const rest = items.values()
    const worker = async (): Promise<void> => {
      for (const item of rest) {
        if (this.#stopping.signal.aborted) return
        await work(item)
      }
    }
    await Promise.all(Array.from({ length: maxConcurrentWrites }, worker))
  }

  /** Resolves with false if the name is taken. */
  async #create(planned: PlannedNode): Promise<boolean> {
    const { client, owner, place, types, now } = this.#options
    const shape = { ...planned.shape, taints: types.taints(planned.shape.taints) }
    try {
      await client.create(nodes, newNode({ ...planned, shape }, owner, place, now()))
      return true
    } catch (error) {
      if (!isAlreadyExists(error)) throw error
      return false
    }
  }

  /** Resizes a node of an earlier start. */
  async #resize({ metadata, status }: Node, { shape }: PlannedNode): Promise<void> {
    const { capacity } = shape
    const allocatable = { ...capacity, ...shape.allocatable }
    if (semanticallyEqual(status?.capacity, capacity) && semanticallyEqual(status?.allocatable, allocatable)) return
    await this.#options.client.patch(
      nodes,
      '',
      metadata.name ?? '',
      { status: { capacity, allocatable } },
      'merge',
      'status',
    )
  }
}
