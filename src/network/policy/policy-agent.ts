/**
 * Brings network policies into effect for the pods of a node. A pod that the node connects waits until its rules, and
 * its address in the rules of others, are in effect: policies hold from its first packet.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { Connection, type ServerAccess } from '../../client/connection/connection.ts'
import { SharedInformers, transformed } from '../../client/informers/shared-informers.ts'
import { namespaces, networkPolicies, nodes, type Pod, pods } from '../../client/kinds.ts'
import { RestClient } from '../../client/rest/rest-client.ts'
import { messageOf } from '../../lib/message-of.ts'
import type { MetricsRegistry } from '../../lib/metrics/registry.ts'
import { AdminPolicyWatches } from './admin-policy-watches.ts'
import { PolicyObjects } from './picture/policy-objects.ts'
import { trimmedNamespace, trimmedNode, trimmedPod, trimmedPolicy } from './picture/trimmed-objects.ts'
import { PolicyMetrics } from './policy-metrics.ts'
import { NodePolicies } from './rules/node-policies.ts'
import type { PolicyBackend } from './rules/policy-state.ts'

export interface PolicyAgentOptions {
  readonly server: ServerAccess
  readonly node: string
  /** By IP family. */
  readonly tables: Readonly<Partial<Record<4 | 6, PolicyBackend>>>
  /** Pods that are no objects of the API: servers of this process that policies can name. */
  readonly ownPods: readonly Pod[]
  readonly metrics?: MetricsRegistry
  readonly log: (line: string) => void
}

/** A pod whose network is connected. */
export interface NewPod {
  readonly namespace: string
  readonly name: string
  readonly uid: string
  readonly addresses: readonly string[]
}

/** Changes of this time in ms are one transaction. */
const collectMs = 20
const retryMs = 1000
/** The longest time in ms until the rules of a new pod are in effect. */
const admitMs = 10_000
const pollMs = 10

export class PolicyAgent {
  readonly #options: PolicyAgentOptions
  readonly #objects = new PolicyObjects()
  readonly #policies: NodePolicies
  readonly #connection: Connection
  readonly #informers: SharedInformers
  readonly #adminWatches: AdminPolicyWatches
  readonly #stopping = new AbortController()
  #timer: NodeJS.Timeout | undefined
  /** The objects that policies are about. */
  #followed: Promise<unknown> | undefined
  #followedNodes: Promise<unknown> | undefined
  readonly #metrics: PolicyMetrics | undefined
  /** Syncs run one after another. */
  #running: Promise<void> = Promise.resolve()
  #problem: string | undefined = 'policies are not known yet'
  readonly #firstSync = Promise.withResolvers<void>()

  constructor(options: PolicyAgentOptions) {
    const { server, log, ownPods } = options
    this.#options = options
    this.#policies = new NodePolicies(this.#objects, options.node)
    this.#connection = new Connection({ ...server, userAgent: 't8s-network-policy' })
    const client = new RestClient(this.#connection)
    this.#adminWatches = new AdminPolicyWatches(
      client,
      (title, policy) => {
        this.#objects.setAdminPolicy(title, policy)
        this.#policiesChanged()
      },
      log,
    )
    this.#informers = new SharedInformers(client, log, [
      transformed({ resource: networkPolicies, transform: trimmedPolicy }),
      transformed({ resource: pods, transform: trimmedPod }),
      transformed({ resource: namespaces, transform: trimmedNamespace }),
      transformed({ resource: nodes, transform: trimmedNode }),
    ])
    for (const pod of ownPods) this.#objects.setPod(pod, undefined)
    this.#metrics =
      options.metrics &&
      new PolicyMetrics(options.metrics, {
        policies: () => this.#informers.of(networkPolicies).size,
        adminPolicies: () => this.#objects.adminPolicies.length,
      })
  }

  /** Resolves when the policies are in effect for the first time. */
  get synced(): Promise<void> {
    return this.#firstSync.promise
  }

  /** The reason why the last changes are not in effect; undefined if they are. */
  get problem(): string | undefined {
    return this.#problem
  }

  /** Follows the policies; pods and namespaces only while there is one, and nodes while one has them as peers. */
  start(): void {
    this.#informers.of(networkPolicies).onChange((policy, old) => {
      this.#objects.setPolicy(policy, old)
      this.#policiesChanged()
    })
    this.#adminWatches.start()
    // Rules of an earlier process go if there is no policy any more.
    void this.#policiesKnown().then(() => this.#changed())
  }

  /** Ends; the rules remain. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    clearTimeout(this.#timer)
    await this.#running.catch(() => {})
    await Promise.all([this.#adminWatches.stop(), this.#informers.stop()])
    this.#connection.close()
  }

  /** Removes the rules. */
  async removeRules(): Promise<void> {
    for (const table of Object.values(this.#options.tables)) await table.remove()
  }

  /**
   * Resolves when the policies hold for a pod, and for others that talk to it. Resolves at once without policies.
   * @throws if the rules cannot be changed, or the pod is not known in time.
   */
  async admit(pod: NewPod): Promise<void> {
    const signal = AbortSignal.any([this.#stopping.signal, AbortSignal.timeout(admitMs)])
    try {
      await withSignal(this.#policiesKnown(), signal)
      if (!this.#hasPolicies) return
      await withSignal(this.#follow(), signal)
      const known = await this.#find(pod, signal)
      this.#objects.connect(known, pod.addresses)
      await this.#sync()
    } catch (error) {
      if (this.#stopping.signal.aborted) return
      throw new Error(
        `network policies for the pod ${pod.namespace}/${pod.name} are not in effect: ${messageOf(error)}`,
      )
    }
  }

  /** The kubelet's watch may be ahead of this one. */
  async #find({ namespace, name, uid }: NewPod, signal: AbortSignal): Promise<Pod> {
    for (;;) {
      const pod = this.#informers.of(pods).get(namespace, name)
      if (pod?.metadata.uid === uid) return pod
      await delay(pollMs, undefined, { signal })
    }
  }

  get #hasPolicies(): boolean {
    return this.#informers.of(networkPolicies).size > 0 || this.#objects.adminPolicies.length > 0
  }

  /** Resolves when all policies were read once. */
  #policiesKnown(): Promise<unknown> {
    return Promise.all([this.#informers.synced(networkPolicies), this.#adminWatches.synced()])
  }

  #policiesChanged(): void {
    void this.#follow()
    this.#changed()
  }

  /** Resolves when the objects that the policies are about were read once. */
  #follow(): Promise<unknown> {
    if (this.#hasPolicies) this.#followed ??= this.#followPods()
    if (this.#objects.needsNodes) this.#followedNodes ??= this.#followNodes()
    return Promise.all([this.#followed, this.#followedNodes])
  }

  #followPods(): Promise<unknown> {
    this.#informers.of(pods).onChange((pod, old) => {
      this.#objects.setPod(pod, old)
      this.#changed()
    })
    this.#informers.of(namespaces).onChange((namespace, old) => {
      this.#objects.setNamespace(namespace, old)
      this.#changed()
    })
    return Promise.all([pods, namespaces].map((resource) => this.#informers.synced(resource)))
  }

  #followNodes(): Promise<unknown> {
    this.#informers.of(nodes).onChange((node, old) => {
      this.#objects.setNode(node, old)
      this.#changed()
    })
    return this.#informers.synced(nodes)
  }

  /** Syncs soon: after the first lists, and with the changes that follow immediately. */
  #changed(afterMs = collectMs): void {
    if (this.#stopping.signal.aborted) return
    this.#timer ??= setTimeout(() => void this.#syncWhenKnown(), afterMs)
  }

  async #syncWhenKnown(): Promise<void> {
    await this.#policiesKnown()
    await this.#follow()
    this.#timer = undefined
    if (this.#stopping.signal.aborted) return
    try {
      await this.#sync()
      this.#firstSync.resolve()
    } catch (error) {
      this.#options.log(`network policies are not in effect: ${messageOf(error)}`)
      this.#changed(retryMs)
    }
  }

  #sync(): Promise<void> {
    const run = this.#running.catch(() => {}).then(() => this.#apply())
    this.#running = run
    return run
  }

  async #apply(): Promise<void> {
    const started = performance.now()
    try {
      const { tables } = this.#options
      if (!this.#hasPolicies) await this.removeRules()
      else for (const family of [4, 6] as const) await tables[family]?.apply(this.#policies.state(family))
      this.#problem = undefined
      this.#metrics?.synced(Date.now(), performance.now() - started)
    } catch (error) {
      this.#problem = messageOf(error)
      this.#metrics?.failed()
      throw error
    }
  }
}

/** Rejects when the signal is aborted first. */
async function withSignal<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise: aborted, reject } = Promise.withResolvers<never>()
  const onAbort = (): void => reject(new Error('the API server has not answered in time'))
  if (signal.aborted) onAbort()
  signal.addEventListener('abort', onAbort, { once: true })
  try {
    return await Promise.race([promise, aborted])
  } finally {
    signal.removeEventListener('abort', onAbort)
    aborted.catch(() => {})
  }
}
