/**
 * Runs the simulated nodes of one owner as their kubelets would: writes the status when it changes and every five
 * minutes, and leases every ten seconds. All nodes share one watch and one timer, and writes are spread over time.
 */
import { Informer } from '../../client/informers/informer.ts'
import { leases, type Node, nodes } from '../../client/kinds.ts'
import type { RestClient } from '../../client/rest/rest-client.ts'
import { type Clock, systemClock } from '../../lib/clock/clock.ts'
import { semanticallyEqual } from '../../machinery/equality.ts'
import { StatusError } from '../../machinery/status-error.ts'
import { changedConditions, eventOfCondition, type NodeCondition } from '../../node/status/conditions.ts'
import { leaseMs, leaseNamespace, renewLease, statusMs } from '../../node/status/lease.ts'
import type { KubeletEvents } from '../kubelet-events.ts'
import { nodeLabel, ownerLabel } from '../names.ts'
import { TaskQueue } from '../task-queue.ts'
import { Alarms } from '../timing/alarms.ts'
import { NodeAgent } from './agent.ts'
import { conditionsOf } from './failures.ts'
import { completeStatus, type KubeletEndpoint, sharedFeatures } from './node-object.ts'
import { ownRange } from './pod-addresses.ts'

/** Runs nodes by stages instead of the default lifecycle. */
export interface NodeStages {
  /**
   * Returns undefined if no stage applies to the node; otherwise stages own its status. `requeueAfter` requeues the
   * node after so many ms.
   */
  handle(agent: NodeAgent, requeueAfter: (ms: number) => void): Promise<void> | 'waiting' | undefined
  forget(uid: string): void
}

export interface NodeRunnerOptions {
  readonly client: RestClient
  readonly owner: string
  readonly events: KubeletEvents
  readonly place: KubeletEndpoint
  /** Called when a node is added, changed or deleted. */
  readonly onNodeChange: (agent: NodeAgent, isDeleted: boolean) => void
  readonly stages?: NodeStages
  readonly log: (line: string) => void
  /** Default: the machine's. */
  readonly clock?: Clock
}

/** For a large fleet, a kubelet's interval would be most of the server's load. */
const largeFleet = 1_000
const largeFleetLeaseMs = 25_000
/** Renewals are aligned to multiples of this, in ms: writes in one batch cost the server a fraction of single ones. */
const leaseStepMs = 250
/** A node without podCIDRs after this time gets a range from us. In ms. */
const rangeMs = 1_000
const retryMs = 2_000
const maxConcurrentWrites = 32

type Task = 'lease' | 'status' | 'range' | 'stage'
const tasks: readonly Task[] = ['lease', 'status', 'range', 'stage']

export class NodeRunner {
  readonly #options: NodeRunnerOptions
  readonly #clock: Clock
  readonly #informer: Informer<Node>
  readonly #agents = new Map<string, NodeAgent>()
  readonly #alarms: Alarms<`${Task}/${string}`>
  /** Retries, and waits for others: by the machine's clock, so that a paused or fast clock does not change them. */
  readonly #retries = new Alarms<`${Task}/${string}`>((key) => this.#ring(key))
  readonly #writes = new TaskQueue(maxConcurrentWrites)
  readonly #stopping = new AbortController()
  #running: Promise<void> | undefined
  #ownRanges = 0

  constructor(options: NodeRunnerOptions) {
    const { client, owner, log, stages, clock = systemClock } = options
    this.#options = options
    this.#clock = clock
    this.#alarms = new Alarms((key) => this.#ring(key), clock)
    const labelSelector = `${nodeLabel},${ownerLabel}=${owner}`
    this.#informer = new Informer({
      client,
      resource: nodes,
      labelSelector,
      transform: stages ? wholeNode : transformNode,
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

  /** Resolves when all nodes are cached. */
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
    this.#retries.stop()
    this.#writes.clear()
    this.#stopping.abort()
    await this.#running
  }

  #changed(node: Node | undefined, before: Node | undefined): void {
    const name = (node ?? before)?.metadata.name ?? ''
    if (!node) {
      const agent = this.#agents.get(name)
      this.#agents.delete(name)
      for (const alarms of [this.#alarms, this.#retries]) for (const task of tasks) alarms.clear(`${task}/${name}`)
      this.#options.stages?.forget(before?.metadata.uid ?? '')
      if (agent) this.#options.onNodeChange(agent, true)
      return
    }
    const known = this.#agents.get(name)
    if (!known) {
      this.#add(node)
      return
    }
    const [failed, had] = [known.failure, known.hasNetwork]
    known.update(node)
    if (failed && !known.failure) known.hasRecovered = true
    this.#stage(known)
    if (failed !== known.failure || had !== known.hasNetwork) this.#writeStatusSoon(known)
    else if (!semanticallyEqual(this.#expectedConditions(known), conditionsWithoutTimes(node)))
      this.#writeStatusSoon(known)
    this.#options.onNodeChange(known, false)
  }

  #add(node: Node): void {
    const agent = new NodeAgent(node)
    this.#agents.set(agent.name, agent)
    this.#stage(agent)
    // The first lease immediately, later ones spread over time.
    this.#alarms.setAfter(`lease/${agent.name}`, 0)
    this.#alarms.setAfter(`status/${agent.name}`, Math.random() * statusMs)
    // The kubelet of a node from an earlier process has a new address, which log requests need.
    if (agent.hasNetwork) this.#writeStatusSoon(agent)
    else this.#retries.setAfter(`range/${agent.name}`, rangeMs)
    this.#options.events.ofNode(node, 'Normal', 'Starting', 'Starting kubelet.')
    this.#options.onNodeChange(agent, false)
  }

  #writeStatusSoon(agent: NodeAgent): void {
    this.#retries.clear(`range/${agent.name}`)
    this.#alarms.setAfter(`status/${agent.name}`, 0)
  }

  /** Runs a stage now or later. A failing node has no stages. */
  #stage(agent: NodeAgent): void {
    const { stages, log } = this.#options
    if (!stages) return
    const key = `stage/${agent.name}` as const
    if (agent.failure) {
      agent.isStaged = false
      this.#alarms.clear(key)
      this.#retries.clear(key)
      return
    }
    const staged = stages.handle(agent, (ms) => this.#alarms.setAfter(key, ms))
    if (!staged) return
    agent.isStaged = true
    if (staged === 'waiting') return
    this.#writes.add(() =>
      staged.catch((error: unknown) => {
        if (this.#stopping.signal.aborted || !(error instanceof StatusError) || error.code === 404) return
        this.#retries.setAfter(key, retryMs)
        if (error.code !== 409) log(`a stage of ${agent.name} failed: ${error.message}`)
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
      this.#writeStatusSoon(agent)
      this.#options.onNodeChange(agent, false)
      return
    }
    this.#writes.add(() => (task === 'lease' ? this.#renew(agent) : this.#writeStatus(agent)))
  }

  async #renew(agent: NodeAgent): Promise<void> {
    const key = `lease/${agent.name}` as const
    // Randomized, so that a fleet that was started at once does not stay in step.
    const everyMs = this.#agents.size > largeFleet ? largeFleetLeaseMs : leaseMs
    const next = this.#clock.now() + everyMs * (agent.lease ? 1 : Math.random())
    this.#alarms.set(key, Math.floor(next / leaseStepMs) * leaseStepMs)
    if (agent.failure === 'gone') return
    try {
      const { name, node } = agent
      const uid = node.metadata.uid ?? ''
      agent.lease = await renewLease(this.#options.client, { name, uid }, agent.lease, this.#clock.now())
    } catch (error) {
      agent.lease = undefined
      if (!this.#stopping.signal.aborted && this.#agents.has(agent.name)) this.#retries.setAfter(key, retryMs)
      if (!(error instanceof StatusError)) return
      if (error.code !== 404 && error.code !== 409)
        this.#options.log(`cannot renew the lease of ${agent.name}: ${error.message}`)
    }
  }

  async #writeStatus(agent: NodeAgent): Promise<void> {
    const key = `status/${agent.name}` as const
    this.#alarms.setAfter(key, statusMs)
    if (agent.failure === 'gone') return
    const { client, events, place, log } = this.#options
    const { node } = agent
    const before = node.status?.conditions ?? []
    // With stages, only what these cannot know is written: the address of the kubelet.
    const isStaged = agent.isStaged && !agent.hasRecovered
    const conditions = isStaged ? [] : conditionsOf(before, agent.failure, agent.hasNetwork, this.#clock.now())
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
      this.#retries.setAfter(key, retryMs)
      if (error instanceof StatusError && error.code !== 404)
        log(`cannot write the status of ${agent.name}: ${error.message}`)
    }
  }

  /** The conditions that it should have, without times; the current ones if it cannot report any. */
  #expectedConditions(agent: NodeAgent): object {
    if (agent.failure === 'gone' || !agent.hasNetwork || agent.isStaged) return conditionsWithoutTimes(agent.node)
    return conditionTexts(conditionsOf([], agent.failure, true, 0))
  }
}

const conditionTexts = (conditions: readonly NodeCondition[]): object =>
  Object.fromEntries(conditions.map(({ type, status, reason }) => [type, `${status} ${reason}`]))

const ownConditionTypes = new Set(conditionsOf([], undefined, true, 0).map(({ type }) => type))

const conditionsWithoutTimes = ({ status }: Node): object =>
  conditionTexts((status?.conditions ?? []).filter(({ type }) => ownConditionTypes.has(type)))

/** Stages may read any field. */
function wholeNode(node: Node): Node {
  delete node.metadata.managedFields
  return node
}

/** Reduces a node to the fields that are read: there may be thousands. */
function transformNode({ apiVersion, kind, metadata, spec, status }: Node): Node {
  const { name, uid, resourceVersion, labels, annotations, creationTimestamp } = metadata
  const { podCIDR, podCIDRs, taints } = spec ?? {}
  const { conditions, capacity, allocatable, daemonEndpoints, nodeInfo, declaredFeatures } = status ?? {}
  return {
    apiVersion,
    kind,
    metadata: { name, uid, resourceVersion, labels, annotations, creationTimestamp },
    spec: { podCIDR, podCIDRs, ...(taints && { taints }) },
    status: {
      conditions,
      capacity,
      allocatable,
      daemonEndpoints,
      declaredFeatures: sharedFeatures(declaredFeatures),
      nodeInfo: nodeInfo && { ...nodeInfo, machineID: '', systemUUID: '', bootID: '' },
    },
  }
}
