/** The objects that network policies are made of: policies, pods and nodes with addresses, and labels of namespaces. */
import { isDeepStrictEqual } from 'node:util'
import { keyOf } from '../../../client/informers/informer.ts'
import type { Namespace, NetworkPolicy, Node, Pod } from '../../../client/kinds.ts'
import type { Labels } from '../../../machinery/selectors/label-selector.ts'
import type { AdminPolicy } from './admin/admin-policy.ts'
import { compiledAdminPolicy } from './admin/compiled-admin-policy.ts'
import { type CompiledPolicy, compiledPolicy, type NodeSelector } from './compiled-policy.ts'

export interface NamedPort {
  readonly name: string
  /** `TCP`, `UDP` or `SCTP`. */
  readonly protocol: string
  readonly port: number
}

/** A pod with a network of its own. */
export interface PolicyPod {
  readonly namespace: string
  readonly name: string
  readonly labels: Labels
  /** Of both families; empty until the pod is connected. */
  readonly addresses: readonly string[]
  readonly ports: readonly NamedPort[]
  /** The node that it runs on. */
  readonly node: string
}

interface PolicyNode {
  readonly labels: Labels
  readonly addresses: readonly string[]
}

interface KnownAdminPolicy {
  readonly policy: AdminPolicy
  /** Undefined: it has no effect. */
  readonly compiled: CompiledPolicy | undefined
}

/** Keys of objects. Those of policies begin with the namespace of their subjects; empty: of all. */
export interface PolicyChanges {
  readonly policies: ReadonlySet<string>
  readonly pods: ReadonlySet<string>
  readonly namespaces: ReadonlySet<string>
  readonly nodes: ReadonlySet<string>
}

const noChanges = () => ({
  policies: new Set<string>(),
  pods: new Set<string>(),
  namespaces: new Set<string>(),
  nodes: new Set<string>(),
})

export class PolicyObjects {
  readonly #policies = new Map<string, NetworkPolicy>()
  readonly #adminPolicies = new Map<string, KnownAdminPolicy>()
  readonly #nodes = new Map<string, PolicyNode>()
  readonly #pods = new Map<string, PolicyPod>()
  readonly #namespaces = new Map<string, Labels>()
  /** Addresses that the node gave to pods, until their status has them, by UID. */
  readonly #connected = new Map<string, readonly string[]>()
  /** UIDs of the pods that the node gave addresses to, by address: others had them before. */
  readonly #owners = new Map<string, string>()
  #changes = noChanges()

  /** Returns the objects that have changed since the last call. */
  takeChanges(): PolicyChanges {
    const changes = this.#changes
    this.#changes = noChanges()
    return changes
  }

  /** Undefined for a policy that does not exist, or has no effect. */
  policy(key: string): CompiledPolicy | undefined {
    const policy = this.#policies.get(key)
    return policy ? compiledPolicy(policy) : this.#adminPolicies.get(key)?.compiled
  }

  /** Those of administrators, also without effect. */
  get adminPolicies(): readonly AdminPolicy[] {
    return [...this.#adminPolicies.values()].map(({ policy }) => policy)
  }

  /** True if a policy has nodes as peers. */
  get needsNodes(): boolean {
    return this.adminPolicies.some(({ rules }) => rules.Egress.some(({ nodes }) => nodes.length > 0))
  }

  /** The addresses of the nodes that a selector selects, of both families. */
  addressesOfNodes({ matches }: NodeSelector): readonly string[] {
    return [...this.#nodes.values()].flatMap(({ labels, addresses }) => (matches(labels) ? addresses : []))
  }

  pod(key: string): PolicyPod | undefined {
    return this.#pods.get(key)
  }

  get podsByKey(): Iterable<readonly [string, PolicyPod]> {
    return this.#pods
  }

  get policies(): Iterable<NetworkPolicy> {
    return this.#policies.values()
  }

  get pods(): Iterable<PolicyPod> {
    return this.#pods.values()
  }

  /** The labels of a namespace; undefined if it does not exist. */
  labelsOf(namespace: string): Labels | undefined {
    return this.#namespaces.get(namespace)
  }

  /** Handles a change: `policy` is undefined after a deletion, `old` for a new one. */
  setPolicy(policy: NetworkPolicy | undefined, old: NetworkPolicy | undefined): void {
    const key = keyOf((policy ?? old)!)
    if (policy) this.#policies.set(key, policy)
    else this.#policies.delete(key)
    this.#changes.policies.add(key)
  }

  /** Handles a change of a policy of an administrator; undefined after a deletion. `title` is that of the policy. */
  setAdminPolicy(title: string, policy: AdminPolicy | undefined): void {
    const key = `/${title}`
    if (policy) this.#adminPolicies.set(key, { policy, compiled: compiledAdminPolicy(policy) })
    else this.#adminPolicies.delete(key)
    this.#changes.policies.add(key)
  }

  /** As `setPolicy`. */
  setNode(node: Node | undefined, old: Node | undefined): void {
    const name = (node ?? old)?.metadata.name ?? ''
    const known = node && policyNode(node)
    if (isDeepStrictEqual(known, this.#nodes.get(name))) return
    if (known) this.#nodes.set(name, known)
    else this.#nodes.delete(name)
    this.#changes.nodes.add(name)
  }

  /** As `setPolicy`. Pods in the network of the node, and those that have ended, have no address of their own. */
  setPod(pod: Pod | undefined, old: Pod | undefined): void {
    const known = (pod ?? old)!
    const uid = known.metadata.uid ?? ''
    const phase = pod?.status?.phase
    const hasNetwork = pod && !pod.spec?.hostNetwork && phase !== 'Succeeded' && phase !== 'Failed'
    if (hasNetwork) {
      const reported = reportedAddresses(pod)
      const connected = this.#connected.get(uid)
      // Until then, the status may have addresses of an earlier sandbox.
      if (connected?.every((address) => reported.includes(address))) this.#connected.delete(uid)
      this.#set(keyOf(known), policyPod(pod, connected ?? reported.filter((each) => this.#isOwn(each, uid))))
    } else {
      this.#set(keyOf(known), undefined)
      this.#connected.delete(uid)
      for (const [address, owner] of this.#owners) if (owner === uid) this.#owners.delete(address)
    }
  }

  /** Notes the addresses of a pod that the node has connected. `pod` is its object. */
  connect(pod: Pod, addresses: readonly string[]): void {
    const uid = pod.metadata.uid ?? ''
    this.#connected.set(uid, addresses)
    for (const address of addresses) this.#owners.set(address, uid)
    for (const [key, other] of this.#pods) {
      const left = other.addresses.filter((address) => !addresses.includes(address))
      if (left.length < other.addresses.length) this.#set(key, { ...other, addresses: left })
    }
    this.#set(keyOf(pod), policyPod(pod, addresses))
  }

  #set(key: string, pod: PolicyPod | undefined): void {
    const old = this.#pods.get(key)
    // Most changes of pods are about their conditions.
    if (isDeepStrictEqual(old, pod)) return
    if (pod) this.#pods.set(key, pod)
    else this.#pods.delete(key)
    this.#changes.pods.add(key)
  }

  #isOwn(address: string, uid: string): boolean {
    const owner = this.#owners.get(address)
    return owner === undefined || owner === uid
  }

  /** As `setPolicy`. */
  setNamespace(namespace: Namespace | undefined, old: Namespace | undefined): void {
    const name = (namespace ?? old)?.metadata.name ?? ''
    if (namespace) this.#namespaces.set(name, namespace.metadata.labels ?? {})
    else this.#namespaces.delete(name)
    this.#changes.namespaces.add(name)
  }
}

const reportedAddresses = ({ status }: Pod): string[] =>
  status?.podIPs?.map(({ ip }) => ip) ?? (status?.podIP ? [status.podIP] : [])

const nodeAddressTypes: ReadonlySet<string> = new Set(['InternalIP', 'ExternalIP'])

const policyNode = ({ metadata, status }: Node): PolicyNode => ({
  labels: metadata.labels ?? {},
  addresses: (status?.addresses ?? []).flatMap(({ type, address }) => (nodeAddressTypes.has(type) ? [address] : [])),
})

function policyPod({ metadata, spec }: Pod, addresses: readonly string[]): PolicyPod {
  const containers = [...(spec?.initContainers ?? []), ...(spec?.containers ?? [])]
  return {
    namespace: metadata.namespace ?? '',
    name: metadata.name ?? '',
    labels: metadata.labels ?? {},
    addresses,
    ports: containers.flatMap(({ ports = [] }) =>
      ports.flatMap(({ name, protocol = 'TCP', containerPort: port }) => (name ? [{ name, protocol, port }] : [])),
    ),
    node: spec?.nodeName ?? '',
  }
}
