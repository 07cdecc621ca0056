/** A node of a lab: its namespace, its pods, and the flannel that runs there. */
import assert from 'node:assert/strict'
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { createNetwork, removeNetwork } from '../network/network-namespaces.ts'
import { waitFor } from '../support/wait-for.ts'
import { repository } from '../up/t8s-process.ts'

export interface FlannelNodeOptions {
  readonly name: string
  /** The file of the network namespace. */
  readonly namespace: string
  /** For files of flannel and of the CNI plug-in. */
  readonly folder: string
  readonly kubeconfig: string
}

/** A pod: a network namespace with addresses of the node's subnet. */
export interface LabPod {
  readonly id: string
  readonly namespace: string
  readonly addresses: readonly string[]
}

const launcher = join(repository, 't8s')

export class FlannelNode {
  readonly name: string
  readonly namespace: string
  readonly folder: string
  readonly #options: FlannelNodeOptions
  #child: ChildProcess | undefined
  #output = ''
  /** The process whose mounts flannel has; undefined: those of the test. */
  mountsOf: number | undefined
  readonly #pods: string[] = []

  constructor(options: FlannelNodeOptions) {
    this.#options = options
    this.name = options.name
    this.namespace = options.namespace
    this.folder = options.folder
    mkdirSync(options.folder, { recursive: true })
  }

  /** The path of subnet.env. */
  get subnetFile(): string {
    return join(this.folder, 'subnet.env')
  }

  /** The lines that flannel has printed since it was started last. */
  get output(): string {
    return this.#output
  }

  get pid(): number | undefined {
    return this.#child?.pid
  }

  /** Returns the output of a program in the node's network. Throws with its errors if it fails. */
  run(program: string, ...args: readonly string[]): string {
    return execFileSync('nsenter', [`--net=${this.namespace}`, program, ...args], { encoding: 'utf8', stdio: 'pipe' })
  }

  /** The command line of a program in the node's network, for `spawn`. */
  command(program: string, ...args: readonly string[]): readonly [string, string[]] {
    return ['nsenter', [`--net=${this.namespace}`, program, ...args]]
  }

  /** Starts `t8s flannel`. Does not wait. */
  spawn(configFile: string, ...flags: readonly string[]): void {
    assert.equal(this.#child, undefined, `flannel of ${this.name} runs`)
    const given = ['--kube-subnet-mgr', '--kubeconfig-file', this.#options.kubeconfig, '--net-config-path', configFile]
    const args = ['flannel', ...given, '--subnet-file', this.subnetFile, ...flags]
    this.#output = ''
    const mounts = this.mountsOf === undefined ? [] : ['nsenter', `--mount=/proc/${this.mountsOf}/ns/mnt`]
    const [first = '', ...rest] = [...mounts, launcher, ...args]
    const [program, all] = this.command(first, ...rest)
    const child = spawn(program, all, {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, NODE_NAME: this.name },
    })
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => {
        this.#output += text
      })
    child.once('exit', () => {
      if (this.#child === child) this.#child = undefined
    })
    this.#child = child
  }

  /** Starts flannel. Resolves when all leases that exist are in effect. */
  async start(configFile: string, ...flags: readonly string[]): Promise<void> {
    this.spawn(configFile, ...flags)
    await this.waitForOutput('the leases of all nodes are in effect')
  }

  /** Resolves when flannel has printed a text. Rejects if it ends before. */
  async waitForOutput(text: string): Promise<void> {
    await waitFor(`flannel of ${this.name} prints “${text}”`, () => {
      assert.ok(this.#child, `flannel of ${this.name} ended:\n${this.#output}`)
      assert.ok(this.#output.includes(text), this.#output)
      return true
    })
  }

  /** Resolves when flannel has ended by itself. */
  async ended(): Promise<void> {
    await waitFor(`flannel of ${this.name} ends`, () => this.#child === undefined)
  }

  async stop(): Promise<void> {
    this.#child?.kill('SIGTERM')
    await this.ended()
  }

  /** Ends flannel without any chance to clean up. */
  async kill(): Promise<void> {
    this.#child?.kill('SIGKILL')
    await this.ended()
  }

  /** Ends flannel, and the namespaces of the node and its pods. */
  async end(): Promise<void> {
    await this.kill()
    for (const network of [...this.#pods, this.namespace]) removeNetwork(network)
  }

  /** Connects a pod by the CNI plug-in, as a container runtime does. */
  pod(id: string, { delegate = {} }: { readonly delegate?: object } = {}): LabPod {
    const namespace = join(this.folder, id)
    createNetwork(namespace)
    this.#pods.push(namespace)
    const result = this.cni('ADD', id, delegate) as { readonly ips: readonly { readonly address: string }[] }
    return { id, namespace, addresses: result.ips.map(({ address }) => address.split('/')[0]!) }
  }

  /** Calls the CNI plug-in `flannel` for a pod. Returns its output; throws with its error. */
  cni(command: string, id: string, delegate: object = {}): unknown {
    const config = {
      cniVersion: '1.0.0',
      // Nodes are namespaces of one machine: the name distinguishes their records of addresses.
      name: `pods-${this.name}`,
      type: 'flannel',
      subnetFile: this.subnetFile,
      dataDir: join(this.folder, 'cni'),
      ipam: { dataDir: join(this.folder, 'networks') },
      delegate: { isDefaultGateway: true, hairpinMode: true, ...delegate },
    }
    const [program, args] = this.command(launcher, 'cni')
    const { stdout, stderr, status } = spawnSync(program, args, {
      input: JSON.stringify(config),
      encoding: 'utf8',
      env: {
        ...process.env,
        CNI_COMMAND: command,
        CNI_CONTAINERID: id,
        CNI_NETNS: join(this.folder, id),
        CNI_IFNAME: 'eth0',
        CNI_PATH: '/usr/lib/cni',
      },
    })
    assert.equal(status, 0, stdout + stderr)
    return stdout === '' ? undefined : JSON.parse(stdout)
  }

  /** The text of subnet.env. */
  subnetEnvironment(): string {
    return readFileSync(this.subnetFile, 'utf8')
  }

  /** Removes the node's files, as a new installation does. */
  forget(): void {
    rmSync(this.folder, { recursive: true, force: true })
    mkdirSync(this.folder, { recursive: true })
  }
}

/** Returns the output of a program in a pod. Throws with its errors if it fails. */
export function inPod({ namespace }: LabPod, program: string, ...args: readonly string[]): string {
  return execFileSync('nsenter', [`--net=${namespace}`, program, ...args], { encoding: 'utf8', stdio: 'pipe' })
}

/** True if the pod gets an answer of an address to one ping. */
export function pings({ namespace }: LabPod, address: string, ...flags: readonly string[]): boolean {
  const ping = address.includes(':') ? ['ping', '-6'] : ['ping']
  const args = [`--net=${namespace}`, ...ping, '-n', '-c1', '-W1', ...flags, address]
  return spawnSync('nsenter', args, { encoding: 'utf8' }).status === 0
}

/** Resolves when each pod gets an answer of all addresses of each other one. */
export async function reachEachOther(pods: readonly LabPod[]): Promise<void> {
  for (const pod of pods)
    for (const { addresses } of pods.filter((other) => other !== pod))
      for (const address of addresses) await waitFor(`an answer of ${address}`, () => pings(pod, address))
}

/** Returns how many bytes a pod gets from another one through a connection of TCP. The server sends a megabyte. */
export async function receivedBytes(server: LabPod, client: LabPod, address: string): Promise<number> {
  const script = 'head -c 1048576 /dev/zero | busybox nc -l -p 8080'
  const child = spawn('nsenter', [`--net=${server.namespace}`, 'sh', '-c', script], { stdio: 'ignore' })
  try {
    await waitFor('the server listens', () => /:8080 /.test(inPod(server, 'busybox', 'netstat', '-ltn')))
    // Its input stays open: the server ends when a client has nothing more to say.
    const args = [`--net=${client.namespace}`, 'busybox', 'nc', address, '8080']
    const receiver = spawn('nsenter', args, { stdio: ['pipe', 'pipe', 'ignore'], timeout: 20_000 })
    let size = 0
    for await (const piece of receiver.stdout) size += (piece as Buffer).length
    return size
  } finally {
    child.kill('SIGKILL')
  }
}
