/**
 * Keeps the simulated nodes of one owner alive, as their kubelets would: their status when it changes and every five
 * minutes, their leases every ten seconds. One watch and one timer serve all of them, and what they write is spread
 * over time.
 */
import { Informer } from '../../client/informers/informer.ts'
import { type Lease, leases, type Node, nodes } from '../../client/kinds.ts'
import type { RestClient } from '../../client/rest/rest-client.ts'
import { semanticallyEqual } from '../../machinery/equality.ts'
import { StatusError } from '../../machinery/status-error.ts'
import { Lane } from '../lane.ts'
import { leaseNamespace, nodeLabel, ownerLabel } from '../names.ts'
import { Alarms } from '../timing/alarms.ts'
import { microTimestamp } from '../timing/timestamp.ts'
import type { ToldEvents } from '../told-events.ts'
import { NodeAgent } from './agent.ts'
import { conditionsOf, eventOfCondition, type NodeCondition } from './conditions.ts'
import { completeStatus, type KubeletPlace, keptFeatures } from './node-object.ts'
import { ownRange } from './pod-addresses.ts'

/** What becomes of a node instead of its usual way, where stages say so. */
export interface NodeStages {
  /**
   * Whether a stage cares for the node: then its status is nobody else's. `again` has it looked at once more, in so
   * many ms.
   */
  handle(agent: NodeAgent, again: (ms: number) => void): Promise<void> | 'waiting' | undefined
  forget(uid: string): void
}

export interface NodeKeeperOptions {
  readonly client: RestClient
  readonly owner: string
  readonly events: ToldEvents
  readonly place: KubeletPlace
  /** A node that has come, has changed, or has gone. */
  readonly changed: (agent: NodeAgent, isGone: boolean) => void
  readonly stages?: NodeStages
  readonly log: (line: string) => void
  readonly now?: () => number
}

/**
 * A kubelet's: a quarter of the time for which its lease is good. Of a large fleet that would be most of what the
 * server does: it takes two fifths.
 */
const leaseSeconds = 40
const leaseMs = 10_000
const largeFleet = 1_000
const leaseOfManyMs = 25_000
/**
 * Leases are renewed together at steps of this: writes that come together cost the server a fraction of what each costs
 * alone.
 */
const leaseStepMs = 250
const statusMs = 300_000
/** A node to which nobody has given a range by then takes one itself. */
const rangeMs = 1_000
const againMs = 2_000
const writesAtOnce = 32

type Task = 'lease' | 'status' | 'range' | 'stage'
const tasks: readonly Task[] = ['lease', 'status', 'range', 'stage']

export class NodeKeeper {
  readonly #options: NodeKeeperOptions
  readonly #now: () => number
  readonly #informer: Informer<Node>
  readonly #agents = new Map<string, NodeAgent>()
  readonly #alarms: Alarms<`${Task}/${string}`>
  readonly #lane = new Lane(writesAtOnce)
  readonly #stopping = new AbortController()
  #running: Promise<void> | undefined
  #ownRanges = 0

  constructor(options: NodeKeeperOptions) {
    const { client, owner, log, stages, now = Date.now } = options
    this.#options = options
    this.#now = now
    this.#alarms = new Alarms((key) => this.#ring(key), now)
    const labelSelector = `${nodeLabel},${ownerLabel}=${owner}`
    this.#informer = new Informer({
      client,
      resource: nodes,
      labelSelector,
      transform: stages ? wholeNode : keptNode,
      log,
    })
    this.#informer.onChange((node, before) => this.#changed(node, before))
  }

  agent(name: string): NodeAgent | undefined {
    return this.#agents.get(name)
  }

  get agents(): Iterable<NodeAgent> {
    return this.#agents.values()
  }

  /** Resolves when all nodes are known. */
  async start(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#running = this.#informer.run(this.#stopping.signal, resolve)
    await promise
    const { client } = this.#options
    const { items } = await client.list(leases, { namespace: leaseNamespace })
    for (const { metadata } of items) {
      const agent = this.#agents.get(metadata.name ?? '')
      if (agent) agent.lease ??= { resourceVersion: metadata.resourceVersion }
    }
  }

  async stop(): Promise<void> {
    this.#alarms.stop()
    this.#lane.clear()
    this.#stopping.abort()
    await this.#running
  }

  #changed(node: Node | undefined, before: Node | undefined): void {
    const name = (node ?? before)?.metadata.name ?? ''
    if (!node) {
      const agent = this.#agents.get(name)
      this.#agents.delete(name)
      for (const task of tasks) this.#alarms.clear(`${task}/${name}`)
      this.#options.stages?.forget(before?.metadata.uid ?? '')
      if (agent) this.#options.changed(agent, true)
      return
    }
    const known = this.#agents.get(name)
    if (!known) {
      this.#begin(node)
      return
    }
    const [failed, had] = [known.failure, known.hasNetwork]
    known.update(node)
    if (failed && !known.failure) known.hasRecovered = true
    this.#stage(known)
    if (failed !== known.failure || had !== known.hasNetwork) this.#soon(known)
    else if (!semanticallyEqual(this.#wanted(known), conditionsWithoutTimes(node))) this.#soon(known)
    this.#options.changed(known, false)
  }

  #begin(node: Node): void {
    const agent = new NodeAgent(node)
    this.#agents.set(agent.name, agent)
    this.#stage(agent)
    // The first at once, the next ones spread.
    this.#alarms.set(`lease/${agent.name}`, this.#now())
    this.#alarms.set(`status/${agent.name}`, this.#now() + Math.random() * statusMs)
    // A node from before has its kubelet elsewhere now: who wants its logs has to know.
    if (agent.hasNetwork) this.#soon(agent)
    else this.#alarms.set(`range/${agent.name}`, this.#now() + rangeMs)
    this.#options.events.ofNode(node, 'Normal', 'Starting', 'Starting kubelet.')
    this.#options.changed(agent, false)
  }

  #soon(agent: NodeAgent): void {
    this.#alarms.clear(`range/${agent.name}`)
    this.#alarms.set(`status/${agent.name}`, this.#now())
  }

  /** Does what a stage says, now or later. A node that fails has none. */
  #stage(agent: NodeAgent): void {
    const { stages, log } = this.#options
    if (!stages) return
    const key = `stage/${agent.name}` as const
    if (agent.failure) {
      agent.isStaged = false
      this.#alarms.clear(key)
      return
    }
    const staged = stages.handle(agent, (ms) => this.#alarms.set(key, this.#now() + ms))
    if (!staged) return
    agent.isStaged = true
    if (staged === 'waiting') return
    this.#lane.add(() =>
      staged.catch((error: unknown) => {
        if (this.#stopping.signal.aborted || !(error instanceof StatusError) || error.code === 404) return
        this.#alarms.set(key, this.#now() + againMs)
        if (error.code !== 409) log(`a stage of ${agent.name} cannot be played: ${error.message}`)
      }),
    )
  }

  #ring(key: `${Task}/${string}`): void {
    const at = key.indexOf('/')
    const agent = this.#agents.get(key.slice(at + 1))
    if (!agent) return
    const task = key.slice(0, at) as Task
    if (task === 'stage') {
      this.#stage(agent)
      return
    }
    if (task === 'range') {
      const range = ownRange(this.#ownRanges++)
      agent.setRanges([range], 'own')
      this.#soon(agent)
      this.#options.changed(agent, false)
      return
    }
    this.#lane.add(() => (task === 'lease' ? this.#renew(agent) : this.#tellStatus(agent)))
  }

  async #renew(agent: NodeAgent): Promise<void> {
    const key = `lease/${agent.name}` as const
    // Times are spread anew each time, so that a fleet that began together does not stay together.
    const everyMs = this.#agents.size > largeFleet ? leaseOfManyMs : leaseMs
    const next = this.#now() + everyMs * (agent.lease ? 1 : Math.random())
    this.#alarms.set(key, Math.floor(next / leaseStepMs) * leaseStepMs)
    if (agent.failure === 'gone') return
    try {
      await this.#writeLease(agent)
    } catch (error) {
      agent.lease = undefined
      if (!this.#stopping.signal.aborted && this.#agents.has(agent.name)) this.#alarms.set(key, this.#now() + againMs)
      if (!(error instanceof StatusError)) return
      if (error.code !== 404 && error.code !== 409)
        this.#options.log(`the lease of ${agent.name} cannot be renewed: ${error.message}`)
    }
  }

  async #writeLease(agent: NodeAgent): Promise<void> {
    const { client } = this.#options
    const { name, node } = agent
    const spec = { holderIdentity: name, leaseDurationSeconds: leaseSeconds, renewTime: microTimestamp(this.#now()) }
    const ownerReferences = [{ apiVersion: 'v1', kind: 'Node', name, uid: node.metadata.uid ?? '' }]
    const lease: Lease = {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { name, namespace: leaseNamespace, ownerReferences },
      spec,
    }
    if (!agent.lease) {
      const present = await client.find(leases, leaseNamespace, name)
      if (present) agent.lease = { resourceVersion: present.metadata.resourceVersion }
    }
    const written = agent.lease
      ? await client.update(leases, {
          ...lease,
          metadata: { ...lease.metadata, resourceVersion: agent.lease.resourceVersion },
        })
      : await client.create(leases, lease)
    agent.lease = { resourceVersion: written.metadata.resourceVersion }
  }

  async #tellStatus(agent: NodeAgent): Promise<void> {
    const key = `status/${agent.name}` as const
    this.#alarms.set(key, this.#now() + statusMs)
    if (agent.failure === 'gone') return
    const { client, events, place, log } = this.#options
    const { node } = agent
    const before = node.status?.conditions ?? []
    // Where stages write the status, only what they cannot know is told: where the kubelet is.
    const isStaged = agent.isStaged && !agent.hasRecovered
    const conditions = isStaged ? [] : conditionsOf(before, agent.failure, agent.hasNetwork, this.#now())
    const status = { ...completeStatus(node, place), ...(!isStaged && { conditions }) }
    if (Object.keys(status).length === 0) return
    try {
      await client.patch(nodes, '', agent.name, { status }, 'strategic', 'status')
      agent.hasRecovered = false
      for (const condition of changedConditions(before, conditions))
        events.ofNode(
          node,
          'Normal',
          eventOfCondition(condition),
          `Node ${agent.name} status is now: ${eventOfCondition(condition)}`,
        )
    } catch (error) {
      if (this.#stopping.signal.aborted || !this.#agents.has(agent.name)) return
      this.#alarms.set(key, this.#now() + againMs)
      if (error instanceof StatusError && error.code !== 404)
        log(`the status of ${agent.name} cannot be written: ${error.message}`)
    }
  }

  /** What its conditions should say, without times; what they say already where nobody can tell anything. */
  #wanted(agent: NodeAgent): object {
    if (agent.failure === 'gone' || !agent.hasNetwork || agent.isStaged) return conditionsWithoutTimes(agent.node)
    return stated(conditionsOf([], agent.failure, true, 0))
  }
}

const stated = (conditions: readonly NodeCondition[]): object =>
  Object.fromEntries(conditions.map(({ type, status, reason }) => [type, `${status} ${reason}`]))

const toldHere = new Set(conditionsOf([], undefined, true, 0).map(({ type }) => type))

const conditionsWithoutTimes = ({ status }: Node): object =>
  stated((status?.conditions ?? []).filter(({ type }) => toldHere.has(type)))

const changedConditions = (before: readonly NodeCondition[], after: readonly NodeCondition[]): NodeCondition[] =>
  after.filter(({ type, status }) => before.find((one) => one.type === type)?.status !== status)

/** Stages may look at any field. */
function wholeNode(node: Node): Node {
  delete node.metadata.managedFields
  return node
}

/** What is kept of a node: thousands of them have to fit. */
function keptNode({ apiVersion, kind, metadata, spec, status }: Node): Node {
  const { name, uid, resourceVersion, labels, annotations, creationTimestamp } = metadata
  const { podCIDR, podCIDRs } = spec ?? {}
  const { conditions, capacity, allocatable, daemonEndpoints, nodeInfo, declaredFeatures } = status ?? {}
  return {
    apiVersion,
    kind,
    metadata: { name, uid, resourceVersion, labels, annotations, creationTimestamp },
    spec: { podCIDR, podCIDRs },
    status: {
      conditions,
      capacity,
      allocatable,
      daemonEndpoints,
      declaredFeatures: keptFeatures(declaredFeatures),
      nodeInfo: nodeInfo && { ...nodeInfo, machineID: '', systemUUID: '', bootID: '' },
    },
  }
}
