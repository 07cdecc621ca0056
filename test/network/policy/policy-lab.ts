/**
 * Pods as network namespaces on a bridge with addresses of both families, and objects in a cluster in memory. An agent
 * of network policies runs beside them. Needs root, and `inNamespaces`.
 */
import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'
import { policyRights, policyUser } from '../../../src/cluster/policy/cluster-policy.ts'
import { systemCalls } from '../../../src/lib/linux/system-calls.ts'
import { PodNetwork } from '../../../src/network/cni/pod-network.ts'
import { addressRange } from '../../../src/network/ipam/address-range.ts'
import { TableSocket } from '../../../src/network/netlink/nftables/table-socket.ts'
import { PolicyTable } from '../../../src/network/policy/nftables/policy-table.ts'
import { PolicyAgent } from '../../../src/network/policy/policy-agent.ts'
import type { PolicyBackend } from '../../../src/network/policy/rules/policy-state.ts'
import { apiControllers, type TestCluster, testCluster } from '../../support/test-cluster.ts'
import { waitFor } from '../../support/wait-for.ts'
import { createNetwork, removeNetwork } from '../network-namespaces.ts'
import { AskedPeer } from '../services/asked-peer.ts'

const node = 'here'
const server = `
for port in 80 81; do while :; do echo ok | busybox nc -l -p $port >/dev/null 2>&1; done & done
wait
`

export interface LabPod {
  readonly namespace: string
  readonly name: string
  /** Of IPv4. */
  readonly address: string
  readonly addresses: Readonly<Record<4 | 6, string>>
  readonly network: string
}

/** One way to connect to pods. */
export interface Traffic {
  readonly protocol: 'tcp' | 'udp'
  readonly family: 4 | 6
  readonly port: number
}

const peerPorts = [80, 81, 82] as const
/** Of the containers of each pod. */
const namedPorts = [
  { name: 'web', containerPort: 80 },
  { name: 'web-udp', containerPort: 80, protocol: 'UDP' },
]

/** Of the bridge, by which pods reach the node. */
const nodeAddresses = { 4: '10.244.0.1', 6: 'fd00:244::1' } as const

export interface LabOptions {
  /** Default: true. False: the test starts the program. */
  readonly hasAgent?: boolean
  /** Default: nftables. */
  readonly backend?: (family: 4 | 6) => PolicyBackend
}

export class PolicyLab {
  readonly cluster: TestCluster
  readonly folder = mkdtempSync(join(tmpdir(), 't8s-policy-'))
  readonly log: string[] = []
  readonly pods = new Map<string, LabPod>()
  readonly #network: PodNetwork
  #agent: PolicyAgent | undefined
  readonly #servers: ChildProcess[] = []
  readonly #peers = new Map<string, AskedPeer>()

  readonly #backend: LabOptions['backend']

  private constructor(cluster: TestCluster, { hasAgent = true, backend }: LabOptions) {
    this.cluster = cluster
    this.#backend = backend
    const directory = (name: string): string => join(this.folder, name)
    this.#network = new PodNetwork({
      calls: systemCalls(),
      ...{ name: 'lab', bridge: 'lab0', hairpin: true, masquerade: false },
      rangeSets: [[addressRange({ subnet: '10.244.0.0/24' })], [addressRange({ subnet: 'fd00:244::/112' })]],
      addressDirectory: directory('addresses'),
      recordDirectory: directory('records'),
    })
    if (hasAgent) this.#agent = this.#newAgent()
    after(() => this.#end())
  }

  static async start(options: LabOptions = {}): Promise<PolicyLab> {
    const lab = new PolicyLab(await testCluster({ after }, { controllers: apiControllers }), options)
    await lab.#grantRights()
    lab.#agent?.start()
    return lab
  }

  /** The agent is no administrator: its user has the rights that it has on a real node. */
  async #grantRights(): Promise<void> {
    const { call } = this.cluster
    const group = 'rbac.authorization.k8s.io'
    const metadata = { name: policyUser }
    await call('POST', `/apis/${group}/v1/clusterroles`, { metadata, rules: policyRights.rules })
    await call('POST', `/apis/${group}/v1/clusterrolebindings`, {
      metadata,
      subjects: [{ kind: 'User', apiGroup: group, name: policyUser }],
      roleRef: { kind: 'ClusterRole', apiGroup: group, name: policyUser },
    })
  }

  /** Ends the agent, and starts another one after `meanwhile`. */
  async restartAgent(meanwhile: () => Promise<void>): Promise<void> {
    await this.#agent?.stop()
    await meanwhile()
    this.#agent = this.#newAgent()
    this.#agent.start()
  }

  async namespace(name: string, labels: Readonly<Record<string, string>> = {}): Promise<void> {
    await this.cluster.call('POST', '/api/v1/namespaces', { metadata: { name, labels: { ns: name, ...labels } } })
  }

  /** Creates a pod, connects it as a node does, and starts its servers. Its status gets the address only afterwards. */
  async pod(namespace: string, name: string, labels: Readonly<Record<string, string>> = {}): Promise<LabPod> {
    const { call } = this.cluster
    const path = `/api/v1/namespaces/${namespace}/pods`
    const containers = [{ name: 'c', image: 'x', ports: namedPorts }]
    const spec = { nodeName: node, automountServiceAccountToken: false, containers }
    const metadata = { name, labels: { pod: name, ...labels } }
    const { metadata: created } = await call('POST', path, { metadata, spec })
    const network = join(this.folder, `${namespace}-${name}`)
    createNetwork(network)
    const id = `${namespace}-${name}`
    const { ips } = await this.#network.add({ id, namespace: network, interfaceName: 'eth0' })
    const [address = '', ipv6 = ''] = ips.map((one) => one.address.split('/')[0]!)
    const pod = { namespace, name, address, addresses: { 4: address, 6: ipv6 }, network }
    this.pods.set(`${namespace}/${name}`, pod)
    await this.#agent?.admit({ namespace, name, uid: created.uid, addresses: [address, ipv6] })
    return pod
  }

  /** Starts a program in the pod that serves and asks for `reachesBy`, and reports its addresses. */
  async startPeer(pod: LabPod): Promise<void> {
    const name = `${pod.namespace}/${pod.name}`
    this.#peers.set(name, await AskedPeer.start(name, pod.network, peerPorts))
    await this.#report(pod)
  }

  /** Starts the same program outside of pods: `node` for `reachesBy`. */
  async startNode(): Promise<void> {
    this.#peers.set('node', await AskedPeer.start('node', undefined, peerPorts))
  }

  /** Starts the servers of a pod, on the TCP ports 80 and 81, and reports its addresses. */
  async serve(pod: LabPod): Promise<void> {
    const { network } = pod
    const enter = ['--pdeathsig', 'KILL', 'nsenter', `--net=${network}`]
    this.#servers.push(spawn('setpriv', [...enter, 'sh', '-c', server], { stdio: 'ignore', detached: true }))
    await this.#report(pod)
    await waitFor('the servers listen', () =>
      Promise.all([80, 81].map((port) => connects(network, '127.0.0.1', port))).then((all) => all.every(Boolean)),
    )
  }

  async policy(namespace: string, name: string, spec: object): Promise<void> {
    const path = `/apis/networking.k8s.io/v1/namespaces/${namespace}/networkpolicies`
    await this.cluster.call('POST', path, { metadata: { name }, spec })
  }

  async removePolicies(): Promise<void> {
    for (const namespace of ['x', 'y'])
      await this.cluster.call('DELETE', `/apis/networking.k8s.io/v1/namespaces/${namespace}/networkpolicies`)
  }

  /** True if the pod reaches the other one: `x/a` and `y/b`. */
  reaches(from: string, to: string, port = 80): Promise<boolean> {
    return connects(this.pods.get(from)!.network, this.pods.get(to)!.address, port)
  }

  /** As `reaches`, between pods with `startPeer`. */
  async reachesBy(from: string, to: string, { protocol, family, port }: Traffic): Promise<boolean> {
    const addressOf = (name: string): string => (this.pods.get(name)?.addresses ?? nodeAddresses)[family]
    const answer = await this.#peers.get(from)![protocol](addressOf(to), port)
    return answer === `${to} ${addressOf(from)}`
  }

  async #report({ namespace, name, addresses }: LabPod): Promise<void> {
    const podIPs = [{ ip: addresses[4] }, { ip: addresses[6] }]
    const path = `/api/v1/namespaces/${namespace}/pods/${name}/status`
    const status = { phase: 'Running', podIP: addresses[4], podIPs }
    await this.cluster.call('PATCH', path, { status }, 'application/merge-patch+json')
  }

  #newAgent(): PolicyAgent {
    const { url, client } = this.cluster
    const table =
      this.#backend ?? ((family) => new PolicyTable(new TableSocket(systemCalls(), family, 't8s_policy_lab'), family))
    return new PolicyAgent({
      server: { ...client, url, impersonate: { userName: policyUser } },
      node,
      tables: { 4: table(4), 6: table(6) },
      ownPods: [],
      log: (line) => void this.log.push(line),
    })
  }

  async #end(): Promise<void> {
    await Promise.all([...this.#peers.values()].map((peer) => peer.stop()))
    for (const { pid } of this.#servers) if (pid) process.kill(-pid, 'SIGKILL')
    await this.#agent?.stop()
    for (const { network } of this.pods.values()) removeNetwork(network)
    rmSync(this.folder, { recursive: true, force: true })
  }
}

/** All rules of policies. Empty without policies. */
export function policyRules(): string {
  const list = (...words: string[]): string => execFileSync('nft', ['list', ...words], { encoding: 'utf8' })
  const tables = list('tables').match(/(?<=^table )\S+ t8s_policy_\S+/gm) ?? []
  const saves = ['iptables', 'ip6tables'].flatMap((name) => [`${name}-nft-save`, `${name}-legacy-save`])
  const lines = saves.flatMap(
    (save) =>
      execFileSync(save, ['-t', 'filter'], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).match(
        /^.*T8S-NWPLCY.*$/gm,
      ) ?? [],
  )
  return [...tables.map((table) => list('table', ...table.split(' '))), ...lines].join('\n')
}

const timeoutSeconds = 1

/** Opens a connection from a network. */
const connects = (network: string, address: string, port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const nc = ['busybox', 'nc', '-w', String(timeoutSeconds), address, String(port)]
    const child = execFile('nsenter', [`--net=${network}`, ...nc], (_error, stdout) => resolve(stdout === 'ok\n'))
    child.stdin?.end()
  })
