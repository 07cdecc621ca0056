/** Registers this machine as a node, and reports its status and Lease. */
import type { EventRecorder } from '../../client/events/event-recorder.ts'
import { type Node, nodes } from '../../client/kinds.ts'
import type { RestClient } from '../../client/rest/rest-client.ts'
import { semanticallyEqual } from '../../machinery/equality.ts'
import { StatusError } from '../../machinery/status-error.ts'
import {
  changedConditions,
  conditionState,
  eventOfCondition,
  healthyConditions,
  type NodeConditionState,
  nodeConditions,
} from '../../node/status/conditions.ts'
import { type KnownLease, renewLease } from '../../node/status/lease.ts'
import type { Machine } from './machine.ts'
import { type NodeSettings, newNode, nodeStatus, type RuntimeFacts } from './node-object.ts'

export interface RegistrationOptions {
  readonly client: RestClient
  readonly machine: Machine
  readonly settings: NodeSettings
  /** False leaves the creation of the node to somebody else (`registerNode`). */
  readonly creates: boolean
  readonly intervals: NodeIntervals
  readonly events: Pick<EventRecorder, 'record'>
  readonly log: (line: string) => void
  readonly now: () => number
  readonly schedule: (callback: () => void, ms: number) => () => void
  runtime(): Promise<RuntimeFacts>
  /** The volumes that must stay attached to the node. */
  volumesInUse(): readonly string[]
  /** The reasons why the node is not ready, in upstream's words. */
  problems(): readonly string[]
  /** The conditions of pressure that are true. */
  pressures(): readonly NodeConditionState[]
}

export interface NodeIntervals {
  /** Between checks of the status, which is written if it has changed (`nodeStatusUpdateFrequency`), in ms. */
  readonly checkMs: number
  /** Between writes without a change (`nodeStatusReportFrequency`), in ms. */
  readonly reportMs: number
  /** How long the Lease holds; it is renewed four times as often. */
  readonly leaseSeconds: number
}

const retryMs = 1_000

export class NodeRegistration {
  readonly #options: RegistrationOptions
  readonly #timers = new Map<string, () => void>()
  readonly #problems: (() => string | undefined)[] = []
  #node: Node | undefined
  #lease: KnownLease | undefined
  #written = 0
  #isStarting = false
  #isStopped = false

  constructor(options: RegistrationOptions) {
    this.#options = options
  }

  /** The node as last read or written. */
  get node(): Node | undefined {
    return this.#node
  }

  /** The node as it is registered, or as it will be. */
  async current(): Promise<Node> {
    const { machine, settings } = this.#options
    return this.#node ?? newNode(machine, settings, await this.#status(undefined))
  }

  /**
   * Registers the node; retries until the API server answers. Resolves when it exists and its status is written.
   *
   * `prepare` runs between: a node that was ready before a restart of the kubelet stays ready meanwhile. Otherwise, all
   * of its pods would leave their Services (kubernetes/kubernetes#122338).
   */
  async start(prepare: () => Promise<void>): Promise<void> {
    this.#isStarting = true
    this.#record('Normal', 'Starting', 'Starting kubelet.')
    for (;;) {
      try {
        this.#node = await this.#register()
        break
      } catch (error) {
        if (this.#isStopped) return
        this.#options.log(`cannot register the node ${this.#options.settings.name}: ${(error as Error).message}`)
        await new Promise<void>((resolve) => this.#after('register', retryMs, resolve))
      }
    }
    await this.#renewLease()
    await prepare()
    this.#isStarting = false
    await this.#writeStatus()
  }

  /** Adds a reason of another part of the kubelet why the node is not ready, in upstream's words. */
  addProblem(problem: () => string | undefined): void {
    this.#problems.push(problem)
  }

  /** Reports the status now, as after a change. The start reports it at its end. */
  report(): void {
    if (!this.#isStarting) void this.#writeStatus()
  }

  stop(): void {
    this.#isStopped = true
    for (const cancel of this.#timers.values()) cancel()
  }

  async #register(): Promise<Node> {
    const { client, machine, settings, creates } = this.#options
    if (!creates) return client.get(nodes, '', settings.name)
    const wanted = newNode(machine, settings, await this.#status(undefined))
    try {
      return await client.create(nodes, wanted)
    } catch (error) {
      if (!(error instanceof StatusError) || error.code !== 409) throw error
    }
    // It existed before: labels of this kubelet are brought up to date, all others remain.
    const present = await client.get(nodes, '', settings.name)
    const labels = wanted.metadata.labels ?? {}
    if (Object.entries(labels).every(([key, value]) => present.metadata.labels?.[key] === value)) return present
    return client.patch(nodes, '', settings.name, { metadata: { labels } })
  }

  async #status(node: Node | undefined): Promise<NonNullable<Node['status']>> {
    const { machine, settings, now } = this.#options
    // The conditions depend on what the runtime reports now.
    const runtime = await this.#options.runtime()
    const conditions = nodeConditions(node?.status?.conditions ?? [], this.#conditions(), now())
    const status = nodeStatus(machine, runtime, settings, conditions)
    const volumesInUse = [...this.#options.volumesInUse()]
    // Most nodes have no attached volumes, and then no such field.
    return volumesInUse.length > 0 || node?.status?.volumesInUse ? { ...status, volumesInUse } : status
  }

  #conditions(): readonly NodeConditionState[] {
    const added = this.#problems.map((problem) => problem()).filter((problem) => problem !== undefined)
    const problems = [...this.#options.problems(), ...added]
    const unhealthy = [
      ...this.#options.pressures(),
      ...(problems.length > 0 ? [conditionState('Ready', 'False', 'KubeletNotReady', listed(problems))] : []),
    ]
    return healthyConditions.map((condition) => unhealthy.find(({ type }) => type === condition.type) ?? condition)
  }

  async #writeStatus(): Promise<void> {
    const { client, settings, now, log, intervals } = this.#options
    try {
      const before = this.#node ?? (await client.get(nodes, '', settings.name))
      const status = await this.#status(before)
      const isDue = now() - this.#written >= intervals.reportMs
      if (isDue || hasChanged(before, status)) {
        this.#node = await client.patch(nodes, '', settings.name, statusPatch(status), 'strategic', 'status')
        this.#written = now()
        for (const condition of changedConditions(before.status?.conditions ?? [], status.conditions ?? []))
          this.#record(
            'Normal',
            eventOfCondition(condition),
            `Node ${settings.name} status is now: ${eventOfCondition(condition)}`,
          )
      }
    } catch (error) {
      this.#node = undefined
      if (!this.#isStopped) log(`cannot write the status of the node ${settings.name}: ${(error as Error).message}`)
    }
    this.#after('status', intervals.checkMs, () => void this.#writeStatus())
  }

  async #renewLease(): Promise<void> {
    const { client, settings, now, log, intervals } = this.#options
    const { leaseSeconds } = intervals
    let delayMs = (leaseSeconds * 1000) / 4
    try {
      const uid = this.#node?.metadata.uid ?? ''
      if (uid) this.#lease = await renewLease(client, { name: settings.name, uid }, this.#lease, now(), leaseSeconds)
    } catch (error) {
      this.#lease = undefined
      delayMs = retryMs
      if (!this.#isStopped) log(`cannot renew the Lease of the node ${settings.name}: ${(error as Error).message}`)
    }
    this.#after('lease', delayMs, () => void this.#renewLease())
  }

  #record(type: 'Normal' | 'Warning', reason: string, message: string): void {
    const { name } = this.#options.settings
    // As upstream, the node's name stands for its UID in events.
    this.#options.events.record({ apiVersion: 'v1', kind: 'Node', name, uid: name }, type, reason, message, name)
  }

  #after(name: string, ms: number, callback: () => void): void {
    this.#timers.get(name)?.()
    if (!this.#isStopped) this.#timers.set(name, this.#options.schedule(callback, ms))
  }
}

/**
 * A strategic merge patch of the status. It replaces the addresses: their merge key is the type, and a node with
 * addresses of both families has two of one type (kubernetes/kubernetes#79391).
 */
const statusPatch = (status: NonNullable<Node['status']>): object => ({
  status: { ...status, ...(status.addresses && { addresses: [...status.addresses, { $patch: 'replace' }] }) },
})

/** Several problems as Go prints a list of errors. */
const listed = (problems: readonly string[]): string =>
  problems.length === 1 ? problems[0]! : `[${problems.join(', ')}]`

/** Compares statuses without the times of heartbeats. */
function hasChanged(node: Node, status: NonNullable<Node['status']>): boolean {
  const comparable = ({ conditions = [], ...rest }: NonNullable<Node['status']>): object => ({
    ...rest,
    conditions: conditions.map(({ type, status, reason, message }) => ({ type, status, reason, message })),
  })
  const { volumesAttached: _attached, ...before } = node.status ?? {}
  return !semanticallyEqual(comparable(before), comparable(status))
}
