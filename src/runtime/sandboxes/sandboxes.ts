/** All sandboxes of the runtime: they are run, stopped and removed. */
import { randomBytes } from 'node:crypto'
import { existsSync, readdirSync, rmSync } from 'node:fs'
import { hostname as hostName } from 'node:os'
import { join } from 'node:path'
import { type PodSandboxConfig, Protocol } from '#protobuf/cri-runtime_pb.js'
import { KeyedQueue } from '../../lib/flow/keyed-queue.ts'
import { RpcError } from '../../lib/grpc/grpc-error.ts'
import type { Log } from '../../lib/log/log.ts'
import { messageOf } from '../../lib/message-of.ts'
import { nowNs } from '../containers/container.ts'
import type { Containers } from '../containers/containers.ts'
import type { Executor } from '../executors/executor.ts'
import { removeCgroup } from '../executors/remove-cgroup.ts'
import { isRunning } from '../host/processes.ts'
import type { PodConnections } from '../network/pod-connections.ts'
import type { ConnectedPod } from '../network/pod-connector.ts'
import type { OciNamespace } from '../spec/oci-spec.ts'
import { RecordStore } from '../state/record-store.ts'
import { decodeSandbox, encodeSandbox, type SandboxRecord } from '../state/records.ts'
import { createNamespaces, namespaceFiles, removeNamespaces } from './namespaces.ts'
import { writePodFiles } from './pod-files.ts'
import { Sandbox, sharesProcesses, usesHostIpc, usesHostNetwork } from './sandbox.ts'
import { endSharedProcesses, startSharedProcesses } from './shared-processes.ts'
import { userMappingsOf } from './user-namespace.ts'

export interface SandboxesOptions {
  /** The folder of records, which survives a reboot. */
  readonly root: string
  /** The folder of namespaces and files. */
  readonly state: string
  readonly executor: Executor
  readonly network: PodConnections
  readonly containers: Containers
  readonly log: Log
}

const noUserNamespaces = (executor: string): RpcError =>
  new RpcError(
    'FailedPrecondition',
    `${executor} runs no pods with users of their own (hostUsers: false): install crun 1.8 or runc 1.2`,
  )

export class Sandboxes {
  readonly #options: SandboxesOptions
  readonly #store: RecordStore<SandboxRecord>
  readonly #sandboxes = new Map<string, Sandbox>()
  /** Stops and removals of one sandbox run one after another. */
  readonly #queue = new KeyedQueue()
  /** The IDs of sandboxes by their unique names. */
  readonly #names = new Map<string, string>()

  constructor(options: SandboxesOptions) {
    this.#options = options
    this.#store = new RecordStore(join(options.root, 'sandboxes'), encodeSandbox, decodeSandbox)
  }

  /** Goes on with the sandboxes of an earlier runtime. Those that a reboot has ended are not ready. */
  recover(): void {
    const { log, state } = this.#options
    for (const record of this.#store.load((file, error) => log(`cannot read ${file}: ${messageOf(error)}`, 'error'))) {
      const sandbox = new Sandbox(record, join(state, 'sandboxes', record.id))
      this.#sandboxes.set(record.id, sandbox)
      this.#names.set(nameOf(record.config), record.id)
      if (record.isReady && !existsSync(sandbox.paths.resolvConf)) this.#save(sandbox, { isReady: false })
    }
  }

  /** Releases what an earlier runtime, or the end of the machine, has left. Later changes wait for it. */
  releaseOthers(): void {
    const { network } = this.#options
    const connected = this.all.filter(({ isReady, record }) => isReady && record.connector === 'builtin')
    void network.retainOnBridge(connected.map((one) => ({ pod: connectedPod(one), result: one.record.network })))
    for (const sandbox of this.all) if (!sandbox.isReady) void this.#finish(sandbox)
    for (const id of readdirSync(join(this.#options.state, 'sandboxes')))
      if (!this.#sandboxes.has(id)) void this.#removeUnknown(id)
  }

  get all(): readonly Sandbox[] {
    return [...this.#sandboxes.values()]
  }

  /** Finds a sandbox by its ID or a unique begin of it. */
  find(id: string): Sandbox | undefined {
    const exact = this.#sandboxes.get(id)
    if (exact || id === '') return exact
    const found = this.all.filter((sandbox) => sandbox.id.startsWith(id))
    return found.length === 1 ? found[0] : undefined
  }

  /** Throws NotFound if there is none. */
  get(id: string): Sandbox {
    const sandbox = this.find(id)
    if (sandbox) return sandbox
    throw new RpcError('NotFound', `an error occurred when try to find sandbox ${JSON.stringify(id)}: not found`)
  }

  /** True while its namespaces can be joined. */
  isReady({ isReady, record }: Sandbox): boolean {
    return isReady && (record.infra === undefined || isRunning(record.infra))
  }

  /** Runs a sandbox. Rejects, with everything undone, if a part of it fails. */
  async run(config: PodSandboxConfig, runtimeHandler: string): Promise<Sandbox> {
    const name = nameOf(config)
    const taken = this.#names.get(name)
    const quoted = JSON.stringify(name)
    if (taken)
      throw new RpcError(
        'Unknown',
        `failed to reserve sandbox name ${quoted}: name ${quoted} is reserved for ${JSON.stringify(taken)}`,
      )
    const { executor } = this.#options
    if (userMappingsOf(config) && !executor.supportsUserNamespaces) throw noUserNamespaces(executor.name)
    const id = randomBytes(32).toString('hex')
    const record = { id, config, runtimeHandler, createdAt: nowNs(), isReady: false }
    const sandbox = new Sandbox(record, join(this.#options.state, 'sandboxes', id))
    this.#names.set(name, id)
    try {
      await this.#start(sandbox)
      this.#save(sandbox, { isReady: true })
      this.#sandboxes.set(id, sandbox)
      return sandbox
    } catch (error) {
      await this.#release(sandbox).catch(() => {})
      rmSync(sandbox.folder, { recursive: true, force: true })
      this.#store.remove(id)
      this.#names.delete(name)
      throw error
    }
  }

  /** Ends the containers of a sandbox and frees its network. */
  stop(sandbox: Sandbox): Promise<void> {
    return this.#queue.run(sandbox.id, () => this.#stop(sandbox))
  }

  /** Removes a sandbox with its containers. */
  remove(sandbox: Sandbox): Promise<void> {
    return this.#queue.run(sandbox.id, async () => {
      const { containers } = this.#options
      await this.#stop(sandbox)
      for (const container of containers.ofSandbox(sandbox.id)) await containers.remove(container)
      removeNamespaces(sandbox.folder)
      rmSync(sandbox.folder, { recursive: true, force: true })
      this.#store.remove(sandbox.id)
      this.#sandboxes.delete(sandbox.id)
      this.#names.delete(nameOf(sandbox.config))
    })
  }

  async #start(sandbox: Sandbox): Promise<void> {
    const { config, folder, id } = sandbox
    const { executor, network } = this.#options
    const users = userMappingsOf(config)
    const hasNetwork = !usesHostNetwork(config)
    const { connector } = network
    // If the runtime ends before the pod is connected, the next one removes what was done.
    this.#save(sandbox, hasNetwork ? { connector } : {})
    await createNamespaces(
      folder,
      { network: hasNetwork, uts: hasNetwork, ipc: !usesHostIpc(config), users },
      { hostname: hostnameOf(config), sysctls: config.linux?.sysctls ?? {} },
    )
    writePodFiles(sandbox.paths, hostnameOf(config), config.dnsConfig, users)
    if (hasNetwork) {
      const result = await network.connect(connector, connectedPod(sandbox)).catch((error) => {
        throw new RpcError('Unknown', `failed to setup network for sandbox ${JSON.stringify(id)}: ${messageOf(error)}`)
      })
      sandbox.set({ network: result })
    }
    if (!sharesProcesses(config)) return
    const infra = await startSharedProcesses(executor, {
      folder,
      id,
      cgroupsPath: `${cgroupParentOf(config)}/${id}`,
      namespaces: namespacesOf(sandbox),
    })
    sandbox.set({ infra })
  }

  async #stop(sandbox: Sandbox): Promise<void> {
    const containers = this.#options.containers.ofSandbox(sandbox.id)
    await Promise.all(containers.map((container) => container.stop(0)))
    await this.#release(sandbox)
    if (sandbox.isReady) this.#save(sandbox, { isReady: false })
  }

  async #release(sandbox: Sandbox): Promise<void> {
    const { executor, network } = this.#options
    const { config, connector, network: result } = sandbox.record
    endSharedProcesses(sandbox.record.infra)
    if (sharesProcesses(config)) {
      // A runtime that is killed at the start has no record of the process.
      await executor.remove(sandbox.id)
      await removeCgroup(executor, sandbox.folder)
    }
    if (connector) {
      await network.disconnect(connector, connectedPod(sandbox), result)
      this.#save(sandbox, { connector: undefined })
    }
    removeNamespaces(sandbox.folder)
  }

  async #finish(sandbox: Sandbox): Promise<void> {
    try {
      await this.stop(sandbox)
    } catch (error) {
      this.#options.log(`cannot release the network of sandbox ${sandbox.id}: ${messageOf(error)}`, 'error')
    }
  }

  /** Removes a sandbox whose record was deleted. */
  async #removeUnknown(id: string): Promise<void> {
    const { executor, state, log } = this.#options
    const folder = join(state, 'sandboxes', id)
    try {
      await executor.remove(id)
      await removeCgroup(executor, folder)
      await removeNamespaces(folder)
      rmSync(folder, { recursive: true, force: true })
    } catch (error) {
      log(`cannot remove the unknown sandbox ${id}: ${messageOf(error)}`, 'error')
    }
  }

  #save(sandbox: Sandbox, change: Partial<SandboxRecord>): void {
    this.#store.save(sandbox.set(change))
  }
}

/** No two sandboxes have the same one. */
const nameOf = ({ metadata }: PodSandboxConfig): string =>
  [metadata?.name, metadata?.namespace, metadata?.uid, metadata?.attempt].join('_')

export const hostnameOf = ({ hostname }: PodSandboxConfig): string => hostname || hostName()

/** The cgroup of the pod. */
export const cgroupParentOf = ({ linux }: PodSandboxConfig): string => linux?.cgroupParent || '/typernetes'

/** The namespaces that the sandbox does not share with the machine. */
export function namespacesOf({ folder, config }: Sandbox): OciNamespace[] {
  const files = namespaceFiles(folder)
  return [
    ...(userMappingsOf(config) ? [{ type: 'user', path: files.user } as const] : []),
    ...(usesHostNetwork(config)
      ? []
      : ([
          { type: 'network', path: files.network },
          { type: 'uts', path: files.uts },
        ] as const)),
    ...(usesHostIpc(config) ? [] : [{ type: 'ipc', path: files.ipc } as const]),
  ]
}

function connectedPod({ id, config, folder }: Sandbox): ConnectedPod {
  const { name = '', namespace = '', uid = '' } = config.metadata ?? {}
  return {
    id,
    name,
    namespace,
    uid,
    namespaceFile: namespaceFiles(folder).network,
    annotations: config.annotations,
    portMappings: config.portMappings
      .filter(({ hostPort }) => hostPort > 0)
      .map(({ hostPort, containerPort, protocol, hostIp }) => ({
        hostPort,
        containerPort,
        protocol: protocolOf(protocol),
        hostIP: hostIp,
      })),
  }
}

const protocolOf = (protocol: Protocol): 'tcp' | 'udp' | 'sctp' =>
  protocol === Protocol.UDP ? 'udp' : protocol === Protocol.SCTP ? 'sctp' : 'tcp'
