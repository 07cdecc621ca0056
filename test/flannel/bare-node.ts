/**
 * Nodes without Kubernetes: network namespaces on one bridge, each with the flannel that a user starts, and pods on a
 * bridge that has flannel's address and MTU, as Docker makes it. Needs root, and `inNamespaces`.
 */
import assert from 'node:assert/strict'
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createNetwork, removeNetwork } from '../network/network-namespaces.ts'
import type { Lifetime } from '../support/test-cluster.ts'
import { waitFor } from '../support/wait-for.ts'
import { repository } from '../up/t8s-process.ts'

export interface BarePod {
  readonly namespace: string
  readonly address: string
}

/** The files and namespaces of all nodes of a test. */
export class BareLab {
  readonly folder = mkdtempSync(join(tmpdir(), 't8s-bare-nodes-'))
  readonly #networks: string[] = []
  readonly #nodes: BareNode[] = []

  /** Makes the bridge `switch` in the network of the test's process; its address is 192.168.33.1. */
  constructor(t: Lifetime) {
    execFileSync('sh', [
      '-ec',
      `ip link set lo up; ip link add switch type bridge; ip address add 192.168.33.1/24 dev switch
      ip link set switch up; sysctl -qw net.bridge.bridge-nf-call-iptables=0 net.ipv4.ip_forward=1
      sysctl -qw net.ipv4.conf.all.send_redirects=0 net.ipv4.conf.switch.send_redirects=0`,
    ])
    t.after(async () => {
      for (const node of this.#nodes) await node.stop()
      for (const network of this.#networks) removeNetwork(network)
      rmSync(this.folder, { recursive: true })
    })
  }

  network(name: string): string {
    const file = join(this.folder, name)
    createNetwork(file)
    this.#networks.push(file)
    return file
  }

  /** A node with the address 192.168.33.NUMBER on `eth0`. */
  node(name: string, number: number): BareNode {
    const node = new BareNode(this, name, `192.168.33.${number}`)
    this.#nodes.push(node)
    return node
  }
}

export class BareNode {
  readonly name: string
  readonly address: string
  readonly #lab: BareLab
  readonly #namespace: string
  #output = ''
  #child: ChildProcess | undefined

  constructor(lab: BareLab, name: string, address: string) {
    this.#lab = lab
    this.name = name
    this.address = address
    this.#namespace = lab.network(name)
    const port = `port-${name}`
    execFileSync('ip', ['link', 'add', port, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', this.#namespace])
    execFileSync('ip', ['link', 'set', port, 'master', 'switch', 'up'])
    this.run(`ip link set lo up; ip address add ${address}/24 dev eth0; ip link set eth0 up
      ip route add default via 192.168.33.1; sysctl -qw net.ipv4.ip_forward=1`)
  }

  /** The lines of flannel since its last start. */
  get output(): string {
    return this.#output
  }

  /** Returns the output of a command of the shell in the node's network. */
  run(command: string): string {
    return inNetwork(this.#namespace, command)
  }

  /** A variable of the subnet file. */
  variable(name: string): string {
    return new RegExp(`^${name}=(.*)$`, 'm').exec(readFileSync(this.#subnetFile, 'utf8'))?.[1] ?? ''
  }

  /** Starts flannel. Resolves when the leases of all nodes are in effect. */
  async start(flags: readonly string[], environment: Readonly<Record<string, string>> = {}): Promise<void> {
    const program = [join(repository, 't8s'), 'flannel', '--subnet-file', this.#subnetFile, ...flags]
    const child = spawn('nsenter', [`--net=${this.#namespace}`, ...program], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, ...environment },
    })
    this.#child = child
    this.#output = ''
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => {
        this.#output += text
      })
    await waitFor(`flannel of ${this.name}`, () => {
      assert.equal(child.exitCode, null, this.#output)
      return this.#output.includes('the leases of all nodes are in effect') && existsSync(this.#subnetFile)
    })
  }

  async stop(): Promise<void> {
    if (this.hasEnded()) return
    this.#child?.kill('SIGTERM')
    await once(this.#child!, 'exit')
  }

  /** True if flannel does not run. */
  hasEnded(): boolean {
    return this.#child === undefined || this.#child.exitCode !== null || this.#child.signalCode !== null
  }

  /** Makes a pod: a namespace on the bridge `docker0`. */
  pod(): BarePod {
    const namespace = this.#lab.network(`pod-${this.name}`)
    const gateway = this.variable('FLANNEL_SUBNET').split('/')[0]!
    const address = gateway.replace(/1$/, '2')
    const mtu = this.variable('FLANNEL_MTU')
    this.run(`ip link add docker0 mtu ${mtu} type bridge; ip address add ${gateway}/24 dev docker0
      ip link set docker0 up
      ip link add pod mtu ${mtu} type veth peer name eth0 mtu ${mtu} netns ${namespace}
      ip link set pod master docker0 up`)
    inNetwork(namespace, `ip link set lo up; ip address add ${address}/24 dev eth0; ip link set eth0 up`)
    inNetwork(namespace, `ip route add default via ${gateway}`)
    return { namespace, address }
  }

  get #subnetFile(): string {
    return join(this.#lab.folder, `${this.name}.env`)
  }
}

const inNetwork = (namespace: string, command: string): string =>
  execFileSync('nsenter', [`--net=${namespace}`, 'sh', '-ec', command], { encoding: 'utf8', stdio: 'pipe' })

/** Resolves when each pod gets an answer of each other one. */
export async function reachEachOther(pods: readonly BarePod[]): Promise<void> {
  for (const { namespace } of pods)
    for (const { address } of pods)
      await waitFor(`an answer of ${address}`, () => {
        const args = [`--net=${namespace}`, 'ping', '-n', '-c1', '-W1', address]
        return spawnSync('nsenter', args).status === 0
      })
}
