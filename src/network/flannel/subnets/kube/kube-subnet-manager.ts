/** The subnet manager of Kubernetes: subnets are `spec.podCIDRs` of Nodes, attributes are their annotations. */
import { readFile } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { Connection, type ServerAccess } from '../../../../client/connection/connection.ts'
import { EventRecorder } from '../../../../client/events/event-recorder.ts'
import { SharedInformers, transformed } from '../../../../client/informers/shared-informers.ts'
import { type Node, nodes } from '../../../../client/kinds.ts'
import { RestClient } from '../../../../client/rest/rest-client.ts'
import { reasonOf } from '../../../../lib/explained-error.ts'
import { messageOf } from '../../../../lib/message-of.ts'
import { type NetworkConfig, parseNetworkConfig } from '../../config/network-config.ts'
import type { Lease, LeaseAttributes, LeaseEvent, StoredNode, SubnetManager } from '../subnet-manager.ts'
import { type AnnotationNames, annotatedData, annotationChanges, annotationsOf } from './annotations.ts'
import { checkSubnets, nodeSubnets } from './node-lease.ts'
import { NodeLeases } from './node-leases.ts'

export interface KubeSubnetManagerOptions {
  readonly server: ServerAccess
  /** The name of this machine's Node. */
  readonly node: string
  readonly names: AnnotationNames
  /** The path of net-conf.json. */
  readonly configFile: string
  /** True to set the condition NetworkUnavailable of the Node to False. */
  readonly setsNetworkUnavailable: boolean
  readonly log: (line: string) => void
}

/** How long a node may take to exist and to get its subnet, in ms. */
const acquireMs = 30_000
const retryMs = 1000
/** The first pause until the node has its subnet, which doubles up to `retryMs`. */
const firstRetryMs = 50

export class KubeSubnetManager implements SubnetManager {
  readonly #options: KubeSubnetManagerOptions
  readonly #connection: Connection
  readonly #client: RestClient
  readonly #events: EventRecorder
  readonly #informers: SharedInformers
  /** Rejects when this node's subnet has changed. */
  readonly #lost = Promise.withResolvers<never>()
  #config: NetworkConfig | undefined
  #attributes: LeaseAttributes | undefined
  #own: Lease | undefined
  #publishing: Promise<void> | undefined

  constructor(options: KubeSubnetManagerOptions) {
    const { server, names, log } = options
    this.#options = options
    this.#connection = new Connection({ ...server, userAgent: 't8s-flannel' })
    this.#client = new RestClient(this.#connection)
    this.#events = new EventRecorder(this.#client, 'flannel', log)
    this.#informers = new SharedInformers(this.#client, log, [
      transformed({ resource: nodes, transform: (node: Node) => trimmedNode(node, names) }),
    ])
    this.#lost.promise.catch(() => {})
  }

  get name(): string {
    return `Kubernetes Subnet Manager - ${this.#options.node}`
  }

  async networkConfig(): Promise<NetworkConfig> {
    const { configFile } = this.#options
    const text = await readFile(configFile, 'utf8').catch((error) => {
      throw new Error(`failed to read net conf ${configFile} (--net-config-path): ${reasonOf(error)}`)
    })
    this.#config = parseNetworkConfig(text)
    return this.#config
  }

  async storedNode(signal: AbortSignal): Promise<StoredNode> {
    const { names } = this.#options
    const { annotations = {} } = (await this.#foundNode(signal, () => true)).metadata
    return {
      publicIP: annotations[names.nodePublicIP] || undefined,
      publicIPv6: annotations[names.nodePublicIPv6] || undefined,
      backendData: annotatedData(annotations[names.backendData]),
      backendV6Data: annotatedData(annotations[names.backendV6Data]),
    }
  }

  async acquireLease(attributes: LeaseAttributes, signal: AbortSignal): Promise<Lease> {
    const { node: name } = this.#options
    const config = this.#config ?? (await this.networkConfig())
    const node = await this.#foundNode(signal, (found) => Boolean(found.spec?.podCIDR))
    const subnets = nodeSubnets(node, config)
    checkSubnets(name, subnets, config)
    await this.#publish(node, attributes)
    this.#attributes = attributes
    this.#own = { node: name, ...subnets, attributes }
    return this.#own
  }

  async completeLease(_: Lease, signal: AbortSignal): Promise<void> {
    const { setsNetworkUnavailable, log } = this.#options
    for (let hasFailed = false; setsNetworkUnavailable && !signal.aborted; hasFailed = true)
      try {
        await this.#setCondition()
        break
      } catch (error) {
        if (!hasFailed) log(`cannot set the condition NetworkUnavailable of the node: ${messageOf(error)}`)
        await delay(retryMs, undefined, { signal }).catch(() => {})
      }
    await Promise.race([aborted(signal), this.#lost.promise])
  }

  async watchLeases(notify: (event: LeaseEvent) => void, signal: AbortSignal): Promise<void> {
    const { names, node: ownName, log } = this.#options
    const config = this.#config ?? (await this.networkConfig())
    const leases = new NodeLeases({ names, config, log })
    let isComplete = false
    const remove = this.#informers.of(nodes).onChange((node, old) => {
      const name = node?.metadata.name ?? old?.metadata.name ?? ''
      const events = leases.set(name, node)
      if (isComplete) for (const event of events) notify(event)
      if (name === ownName && node) this.#checkOwn(node, config)
    })
    await this.#informers.synced(nodes)
    isComplete = true
    if (!signal.aborted) notify({ type: 'snapshot', leases: leases.all })
    await aborted(signal)
    remove()
  }

  recordEvent(reason: string, message: string): void {
    const { node: name } = this.#options
    // As for events of the kubelet, the uid of a node is its name.
    this.#events.record({ apiVersion: 'v1', kind: 'Node', name, uid: name }, 'Warning', reason, message, name)
  }

  async stop(): Promise<void> {
    this.#events.stop()
    await this.#informers.stop()
    this.#connection.close()
  }

  /** Waits until the node exists and is as wanted. Rejects with what it lacks. */
  async #foundNode(signal: AbortSignal, isReady: (node: Node) => boolean): Promise<Node> {
    const { node: name } = this.#options
    const deadline = performance.now() + acquireMs
    for (let pauseMs = firstRetryMs; ; pauseMs = Math.min(2 * pauseMs, retryMs)) {
      let problem: string
      try {
        const node = await this.#client.find(nodes, '', name)
        if (node && isReady(node)) return node
        problem = node
          ? `node "${name}" pod cidr not assigned: start kube-controller-manager with --allocate-node-cidrs and ` +
            '--cluster-cidr'
          : `node "${name}" does not exist: set NODE_NAME to its name, and start its kubelet`
      } catch (error) {
        problem = messageOf(error)
      }
      if (performance.now() > deadline) throw new Error(problem)
      await delay(pauseMs, undefined, { signal })
    }
  }

  /** Resolves with true if annotations were missing or different. */
  async #publish(node: Node, attributes: LeaseAttributes): Promise<boolean> {
    const { names, node: name } = this.#options
    const present = node.metadata.annotations ?? {}
    const annotations = annotationChanges(annotationsOf(names, attributes, present), present)
    if (!annotations) return false
    await this.#client.patch(nodes, '', name, { metadata: { annotations } }, 'strategic', 'status')
    return true
  }

  /** A Node that was deleted and created again has no annotations, and may have another subnet. */
  #checkOwn(node: Node, config: NetworkConfig): void {
    const [attributes, own] = [this.#attributes, this.#own]
    if (!attributes || !own || !node.spec?.podCIDR) return
    const { subnet, ipv6Subnet } = nodeSubnets(node, config)
    if (subnet !== own.subnet || ipv6Subnet !== own.ipv6Subnet) {
      const [before, now] = [own.subnet ?? own.ipv6Subnet, subnet ?? ipv6Subnet]
      this.#lost.reject(
        new Error(`the subnet of the node ${own.node} was ${before}, and is ${now} now: restart flannel`),
      )
      return
    }
    const { setsNetworkUnavailable } = this.#options
    this.#publishing ??= this.#publish(node, attributes)
      .then((isChanged) => (isChanged && setsNetworkUnavailable ? this.#setCondition() : undefined))
      .catch((error) => this.#options.log(`cannot annotate the node: ${messageOf(error)}`))
      .finally(() => {
        this.#publishing = undefined
      })
  }

  async #setCondition(): Promise<void> {
    const now = `${new Date().toISOString().slice(0, 19)}Z`
    const condition = {
      type: 'NetworkUnavailable',
      status: 'False',
      reason: 'FlannelIsUp',
      message: 'Flannel is running on this node',
      lastTransitionTime: now,
      lastHeartbeatTime: now,
    }
    const patch = { status: { conditions: [condition] } }
    await this.#client.patch(nodes, '', this.#options.node, patch, 'strategic', 'status')
  }
}

/** A Node with the fields of leases only. */
function trimmedNode({ apiVersion, kind, metadata, spec }: Node, names: AnnotationNames): Node {
  const { name, uid, resourceVersion, annotations = {} } = metadata
  const used = new Set<string>(Object.values(names))
  return {
    apiVersion,
    kind,
    metadata: {
      name,
      uid,
      resourceVersion,
      annotations: Object.fromEntries(Object.entries(annotations).filter(([key]) => used.has(key))),
    },
    spec: { podCIDR: spec?.podCIDR, podCIDRs: spec?.podCIDRs },
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve()
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
}
