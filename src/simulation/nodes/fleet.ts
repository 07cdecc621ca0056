/**
 * The fleet: as many nodes as the ConfigMap `kube-system/simulated-nodes` asks for, each as its group is. What is said there is followed
 * while the simulation runs, so that whoever may write it changes the fleet (`t8s scale nodes`), and holds over restarts.
 */
import { Informer } from '../../client/informers/informer.ts'
import { type ConfigMap, configMaps, type Node, nodes } from '../../client/kinds.ts'
import { createOrUpdate } from '../../client/objects/write-state.ts'
import { unlessGone } from '../../client/rest/refusals.ts'
import type { RestClient } from '../../client/rest/rest-client.ts'
import { semanticallyEqual } from '../../machinery/equality.ts'
import { StatusError } from '../../machinery/status-error.ts'
import { fleetConfigMap, fleetGroupsKey, fleetLabelValue, fleetSizeKey, nodeLabel } from '../names.ts'
import { type KubeletPlace, newNode } from './node-object.ts'
import { type NodeGroup, type PlannedNode, planNodes, usualGroup } from './node-shape.ts'

/** What somebody wants now; what is not said stays as the ConfigMap has it. */
export interface WantedFleet {
  readonly size?: number
  readonly groups?: readonly NodeGroup[]
}

export interface FleetOptions {
  readonly client: RestClient
  readonly place: KubeletPlace
  readonly wanted: WantedFleet
  readonly log: (line: string) => void
}

const writesAtOnce = 16
const usualSize = 1
/** More nodes than this are a slip of the finger. */
const mostNodes = 20_000

export class Fleet {
  readonly #options: FleetOptions
  readonly #informer: Informer<ConfigMap>
  readonly #stopping = new AbortController()
  #running: Promise<void> | undefined
  #working: Promise<void> = Promise.resolve()
  #groups: readonly NodeGroup[] = [usualGroup]

  constructor(options: FleetOptions) {
    this.#options = options
    const { client, log } = options
    const { namespace, name } = fleetConfigMap
    this.#informer = new Informer({ client, resource: configMaps, namespace, fieldSelector: `metadata.name=${name}`, log })
  }

  /** The group that a node is of. */
  groupOf(nodeName: string): NodeGroup | undefined {
    return this.#groups.find(({ name }) => nodeName.startsWith(`${name}-`) && /^\d+$/.test(nodeName.slice(name.length + 1)))
  }

  /** Resolves when the fleet's nodes are there. */
  async start(): Promise<void> {
    const { client, wanted } = this.#options
    await createOrUpdate(client, configMaps, fleetConfigMap, (object) => {
      const { [fleetSizeKey]: size = `${usualSize}`, [fleetGroupsKey]: groups } = object.data ?? {}
      const data = {
        [fleetSizeKey]: wanted.size === undefined ? size : `${wanted.size}`,
        ...((wanted.groups || groups) && { [fleetGroupsKey]: wanted.groups ? JSON.stringify(wanted.groups) : (groups ?? '') }),
      }
      return { ...object, data }
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
    const { log } = this.#options
    const where = `the ConfigMap ${fleetConfigMap.namespace}/${fleetConfigMap.name}`
    const text = data[fleetSizeKey] ?? ''
    if (!/^\d{1,6}$/.test(text) || Number(text) > mostNodes) {
      log(`${where} asks for ${JSON.stringify(text)} nodes: data.${fleetSizeKey} has to be a number from 0 to ${mostNodes}`)
      return
    }
    try {
      const groups = data[fleetGroupsKey]
      if (groups) this.#groups = JSON.parse(groups) as readonly NodeGroup[]
      await this.#make(planNodes(this.#groups, Number(text)))
    } catch (error) {
      if (!this.#stopping.signal.aborted) log(`the fleet is not as ${where} wants it: ${error instanceof Error ? error.message : String(error)}`)
    }
  }

  async #make(planned: readonly PlannedNode[]): Promise<void> {
    const { client } = this.#options
    const { items } = await client.list(nodes, { labelSelector: `${nodeLabel}=${fleetLabelValue}` })
    const present = new Map(items.map((node) => [node.metadata.name ?? '', node]))
    const wanted = new Set(planned.map(({ name }) => name))
    const surplus = items.filter(({ metadata }) => !wanted.has(metadata.name ?? ''))
    await this.#each(planned, (one) => {
      const node = present.get(one.name)
      return node ? this.#resize(node, one) : this.#create(one)
    })
    await this.#each(surplus, ({ metadata: { name = '', uid } }) => client.delete(nodes, '', name, { uid }).catch(unlessGone))
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

  async #create(planned: PlannedNode): Promise<void> {
    await this.#options.client.create(nodes, newNode(planned, this.#options.place, Date.now())).catch((error) => {
      if (!(error instanceof StatusError && error.reason === 'AlreadyExists')) throw error
      this.#options.log(`the node ${planned.name} is there already, and none of the fleet: it is left alone`)
    })
  }

  /** Nodes of an earlier start are made as large as this one wants them. */
  async #resize({ metadata, status }: Node, { shape }: PlannedNode): Promise<void> {
    const { capacity } = shape
    const allocatable = { ...capacity, ...shape.allocatable }
    if (semanticallyEqual(status?.capacity, capacity) && semanticallyEqual(status?.allocatable, allocatable)) return
    await this.#options.client.patch(nodes, '', metadata.name ?? '', { status: { capacity, allocatable } }, 'merge', 'status')
  }
}
