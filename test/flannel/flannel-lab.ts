/**
 * Nodes as network namespaces, joined by a bridge (one link) or by a router (a link for each node), and one cluster in
 * the process of the test. flannel runs in each node as a user starts it. Needs root, and `inNamespaces`.
 */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createNetwork } from '../network/network-namespaces.ts'
import type { Lifetime, TestCluster } from '../support/test-cluster.ts'
import { apiControllers, testCluster } from '../support/test-cluster.ts'
import { FlannelNode } from './flannel-node.ts'

/**
 * `bridge`: 192.168.33.101 and so on, on one link. `router`: 192.168.101.2 and fd33:101::2, and so on, each behind a
 * router of its own link, 192.168.101.1.
 */
export type LabShape = 'bridge' | 'router'

/** A Node before flannel runs there. */
export interface LabNodeObject {
  readonly name: string
  readonly podCIDRs: readonly string[]
}

const switchName = 'switch'
/** The address of the test's own process, and of the API server, for all nodes. */
export const hostAddress = '192.168.33.1'

export class FlannelLab {
  readonly cluster: TestCluster
  readonly folder: string
  readonly #nodes = new Map<string, FlannelNode>()

  private constructor(cluster: TestCluster, folder: string) {
    this.cluster = cluster
    this.folder = folder
  }

  /** Prepares the network of the test's process, and starts the cluster. */
  static async start(t: Lifetime): Promise<FlannelLab> {
    for (const command of [
      'ip link set lo up',
      `ip link add ${switchName} type bridge`,
      `ip address add ${hostAddress}/24 dev ${switchName}`,
      `ip address add fd33::1/64 dev ${switchName} nodad`,
      `ip link set ${switchName} up`,
      'sysctl -qw net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1',
      // Frames between nodes pass no rules of this machine.
      'sysctl -qw net.bridge.bridge-nf-call-iptables=0 net.bridge.bridge-nf-call-ip6tables=0',
    ])
      execFileSync('sh', ['-c', command])
    // Records of the CNI plug-in, shared by nodes that are namespaces of one machine: each has its own bridge.
    mkdirSync('/var/lib/typernetes', { recursive: true })
    execFileSync('mount', ['-t', 'tmpfs', 'records', '/var/lib/typernetes'])
    const folder = mkdtempSync(join(tmpdir(), 't8s-flannel-'))
    let lab: FlannelLab | undefined
    // Programs of nodes end before their cluster.
    t.after(async () => {
      await lab?.end()
      rmSync(folder, { recursive: true })
    })
    const cluster = await testCluster(t, { bindAddress: hostAddress, controllers: apiControllers, nodes: 0 })
    lab = new FlannelLab(cluster, folder)
    return lab
  }

  /** Ends all programs, and the namespaces of nodes and pods. */
  async end(): Promise<void> {
    for (const node of this.#nodes.values()) await node.end()
  }

  /** A node's name, its number, the link that it is on, and its ranges of pods. Creates the Node in the API, too. */
  async node(name: string, number: number, shape: LabShape, podCIDRs: readonly string[]): Promise<FlannelNode> {
    const namespace = join(this.folder, `node-${name}`)
    const known = this.#nodes.get(name)
    assert.equal(known, undefined, `the node ${name} exists`)
    createNetwork(namespace)
    const node = new FlannelNode({
      name,
      namespace,
      folder: join(this.folder, `files-${name}`),
      kubeconfig: this.cluster.kubeconfigFile,
    })
    this.#nodes.set(name, node)
    for (const command of ['ip link set lo up', 'sysctl -qw net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1'])
      node.run('sh', '-c', command)
    if (shape === 'bridge') this.joinBridge(node, number)
    else this.joinRouter(node, number)
    await this.addNode({ name, podCIDRs })
    return node
  }

  /** Creates the object of a node. */
  async addNode({ name, podCIDRs }: LabNodeObject): Promise<void> {
    await this.cluster.call('POST', '/api/v1/nodes', { metadata: { name }, spec: { podCIDR: podCIDRs[0], podCIDRs } })
  }

  /** Deletes the object of a node; returns it as it was created. */
  async removeNode(name: string): Promise<LabNodeObject> {
    const { spec } = await this.cluster.call('GET', `/api/v1/nodes/${name}`)
    await this.cluster.call('DELETE', `/api/v1/nodes/${name}`)
    return { name, podCIDRs: (spec as { podCIDRs: readonly string[] }).podCIDRs }
  }

  /** The status, reason and message of a condition of a Node; undefined if it is missing. */
  async condition(name: string, type: string): Promise<readonly string[] | undefined> {
    const { status } = await this.cluster.call('GET', `/api/v1/nodes/${name}`)
    const { conditions = [] } = status as {
      conditions?: { type: string; status: string; reason: string; message: string }[]
    }
    const found = conditions.find((one) => one.type === type)
    return found && [found.status, found.reason, found.message]
  }

  /** Connects a node to the common link: 192.168.33.NUMBER and fd33::NUMBER, as `eth0`. */
  joinBridge(node: FlannelNode, number: number): void {
    const port = `port-${node.name}`
    this.#connect(node, port)
    execFileSync('ip', ['link', 'set', port, 'master', switchName, 'up'])
    node.run('ip', 'address', 'add', `192.168.33.${number}/24`, 'dev', 'eth0')
    node.run('ip', 'address', 'add', `fd33::${number}/64`, 'dev', 'eth0', 'nodad')
    node.run('ip', 'link', 'set', 'eth0', 'up')
    node.run('ip', 'route', 'add', 'default', 'via', hostAddress)
    node.run('ip', 'route', 'add', 'default', 'via', 'fd33::1')
  }

  /** Connects a node to a link of its own, whose router is the test's process: 192.168.NUMBER.2 and fd33:NUMBER::2. */
  joinRouter(node: FlannelNode, number: number): void {
    const port = `port-${node.name}`
    this.#connect(node, port)
    execFileSync('ip', ['address', 'add', `192.168.${number}.1/24`, 'dev', port])
    execFileSync('ip', ['address', 'add', `fd33:${number}::1/64`, 'dev', port, 'nodad'])
    execFileSync('ip', ['link', 'set', port, 'up'])
    node.run('ip', 'address', 'add', `192.168.${number}.2/24`, 'dev', 'eth0')
    node.run('ip', 'address', 'add', `fd33:${number}::2/64`, 'dev', 'eth0', 'nodad')
    node.run('ip', 'link', 'set', 'eth0', 'up')
    node.run('ip', 'route', 'add', 'default', 'via', `192.168.${number}.1`)
    node.run('ip', 'route', 'add', 'default', 'via', `fd33:${number}::1`)
  }

  /** Writes a configuration of the network. Returns its path. */
  configure(name: string, config: object): string {
    const file = join(this.folder, `${name}.json`)
    writeFileSync(file, JSON.stringify(config))
    return file
  }

  /** The message of an event about a Node; undefined if it is missing. */
  async event(name: string, reason: string): Promise<string | undefined> {
    const { items } = await this.cluster.call('GET', '/api/v1/namespaces/default/events')
    const events = items as readonly { reason: string; message: string; involvedObject: { name: string } }[]
    return events.find((one) => one.reason === reason && one.involvedObject.name === name)?.message
  }

  /** The annotations of a Node. */
  async annotations(name: string): Promise<Readonly<Record<string, string>>> {
    const { metadata } = await this.cluster.call('GET', `/api/v1/nodes/${name}`)
    return (metadata as { annotations?: Record<string, string> }).annotations ?? {}
  }

  /** Replaces an earlier interface `eth0` of the node. */
  #connect({ namespace }: FlannelNode, port: string): void {
    execFileSync('sh', ['-c', `ip link delete ${port} 2>/dev/null || true`])
    const peer = ['peer', 'name', 'eth0', 'netns', namespace]
    execFileSync('ip', ['link', 'add', port, 'type', 'veth', ...peer])
  }
}
