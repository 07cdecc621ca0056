/**
 * The fleet of one owner: as many nodes as its ConfigMap asks for, each as its group is. The ConfigMap is followed
 * while the simulation runs, so that a change of it changes the fleet (`t8s scale nodes`), and holds over restarts.
 * Nodes of other owners are left alone.
 */
import { Informer } from '../../client/informers/informer.ts'
import { type ConfigMap, configMaps, type Node, nodes } from '../../client/kinds.ts'
import { createOrUpdate } from '../../client/objects/create-or-update.ts'
import { ignoreNotFound, isAlreadyExists } from '../../client/rest/api-errors.ts'
import type { RestClient } from '../../client/rest/rest-client.ts'
import { semanticallyEqual } from '../../machinery/equality.ts'
import { fleetConfigMapOf, fleetGroupsKey, fleetLabelValue, fleetSizeKey, nodeLabel, ownerLabel } from '../names.ts'
import { type KubeletPlace, newNode } from './node-object.ts'
import { type NodeGroup, type PlannedNode, planNodes, usualGroup } from './node-shape.ts'

/** What somebody wants now; what is not said stays as the ConfigMap has it. */
export interface WantedFleet {
  readonly size?: number
  readonly groups?: readonly NodeGroup[]
}

export interface FleetOptions {
  readonly client: RestClient
  readonly owner: string
  readonly place: KubeletPlace
  readonly wanted: WantedFleet
  readonly log: (line: string) => void
}

const writesAtOnce = 16
const usualSize = 1
/** More nodes than this are a slip of the finger. */
const mostNodes = 20_000
/** How often a fleet looks for free names when others take those that it has chosen. */
const mostPlans = 5

export class Fleet {
  readonly #options: FleetOptions
  readonly #informer: Informer<ConfigMap>
  readonly #stopping = new AbortController()
  #running: Promise<void> | undefined
  #working: Promise<void> = Promise.resolve()
  #groups: readonly NodeGroup[] = [usualGroup]

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

  /** The group that a node is of. */
  groupOf(nodeName: string): NodeGroup | undefined {
    return this.#groups.find(
      ({ name }) => nodeName.startsWith(`${name}-`) && /^\d+$/.test(nodeName.slice(name.length + 1)),
    )
  }

  /** Resolves when the fleet's nodes are there. */
  async start(): Promise<void> {
    const { client, owner, wanted } = this.#options
    await createOrUpdate(client, configMaps, fleetConfigMapOf(owner), (object) => {
      const { [fleetSizeKey]: size = `${usualSize}`, [fleetGroupsKey]: groups } = object.data ?? {}
      const data = {
        [fleetSizeKey]: wanted.size === undefined ? size : `${wanted.size}`,
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
      if (configMap) this.#working = this.#working.then(() => this.#follow(configMap))
    })
    await this.#working
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#running
    await this.#working
  }

  /** Never rejects: what cannot be done is said. */
  async #follow({ data = {} }: ConfigMap): Promise<void> {
    const { log, owner } = this.#options
    const { namespace, name } = fleetConfigMapOf(owner)
    const where = `the ConfigMap ${namespace}/${name}`
    const text = data[fleetSizeKey] ?? ''
    if (!/^\d{1,6}$/.test(text) || Number(text) > mostNodes) {
      log(
        `${where} asks for ${JSON.stringify(text)} nodes: data.${fleetSizeKey} has to be a number from 0 to ` +
          `${mostNodes}`,
      )
      return
    }
    try {
      const groups = data[fleetGroupsKey]
      if (groups) this.#groups = JSON.parse(groups) as readonly NodeGroup[]
      for (let plans = 1; !(await this.#make(Number(text))); plans++)
        if (plans === mostPlans) throw new Error('other nodes took the names of its nodes: t8s scale nodes tries again')
    } catch (error) {
      if (!this.#stopping.signal.aborted)
        log(`the fleet is not as ${where} wants it: ${error instanceof Error ? error.message : String(error)}`)
    }
  }

  /** Creates, resizes and deletes nodes. Resolves with false if other nodes took names meanwhile. */
  async #make(size: number): Promise<boolean> {
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
    await Promise.all(Array.from({ length: writesAtOnce }, worker))
  }

  /** Resolves with false if another node has the name. */
  async #create(planned: PlannedNode): Promise<boolean> {
    const { client, owner, place } = this.#options
    try {
      await client.create(nodes, newNode(planned, owner, place, Date.now()))
      return true
    } catch (error) {
      if (!isAlreadyExists(error)) throw error
      return false
    }
  }

  /** Nodes of an earlier start are made as large as this one wants them. */
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
