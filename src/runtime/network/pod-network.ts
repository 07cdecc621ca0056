/** Connects pods with the network by plug-ins (CNI 1.0). */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { messageOf } from '../../lib/message-of.ts'
import { runProgram } from '../host/run-program.ts'
import { type NetworkConfig, type PluginConfig, readNetworkConfig } from './cni-config.ts'
import type { NetworkResult } from './network-result.ts'

export interface PodNetworkOptions {
  /** The folder of configurations. */
  readonly configFolder: string
  /** The folders of plug-ins. */
  readonly pluginFolders: readonly string[]
}

/** A pod as plug-ins see it. */
export interface NetworkedPod {
  readonly id: string
  readonly name: string
  readonly namespace: string
  readonly uid: string
  /** The file of its network namespace. */
  readonly namespaceFile: string
  readonly portMappings: readonly PodPortMapping[]
  readonly annotations: Readonly<Record<string, string>>
}

export interface PodPortMapping {
  readonly hostPort: number
  readonly containerPort: number
  readonly protocol: string
  readonly hostIP: string
}

const pluginTimeoutMs = 60_000

export class PodNetwork {
  readonly #options: PodNetworkOptions

  constructor(options: PodNetworkOptions) {
    this.#options = options
  }

  /** Why pods cannot be connected; undefined if they can. */
  get problem(): string | undefined {
    try {
      return this.#config() ? undefined : 'cni plugin not initialized'
    } catch (error) {
      return messageOf(error)
    }
  }

  /** Connects a pod. Rejects, with everything undone, if a plug-in fails. */
  async add(pod: NetworkedPod): Promise<NetworkResult> {
    const config = this.#config()
    if (!config) throw new Error('cni plugin not initialized')
    let result: NetworkResult | undefined
    try {
      for (const plugin of config.plugins) result = await this.#call('ADD', config, plugin, pod, result)
    } catch (error) {
      await this.remove(pod, result).catch(() => {})
      throw error
    }
    return result ?? { cniVersion: config.cniVersion }
  }

  /** Disconnects a pod. Does nothing for one that is not connected. */
  async remove(pod: NetworkedPod, result: NetworkResult | undefined): Promise<void> {
    const config = this.#config()
    if (!config) return
    for (const plugin of [...config.plugins].reverse()) await this.#call('DEL', config, plugin, pod, result)
  }

  #config(): NetworkConfig | undefined {
    return readNetworkConfig(this.#options.configFolder)
  }

  async #call(
    command: 'ADD' | 'DEL',
    { name, cniVersion }: NetworkConfig,
    plugin: PluginConfig,
    pod: NetworkedPod,
    prevResult: NetworkResult | undefined,
  ): Promise<NetworkResult | undefined> {
    const config = { ...plugin, name, cniVersion, ...runtimeConfigOf(plugin, pod), ...(prevResult && { prevResult }) }
    const { code, stdout, stderr } = await runProgram(this.#find(plugin.type), [], {
      input: JSON.stringify(config),
      env: { ...process.env, ...this.#environment(command, pod) },
      timeoutMs: pluginTimeoutMs,
    })
    if (code !== 0)
      throw new Error(
        `plugin type=${JSON.stringify(plugin.type)} failed (${verbs[command]}): ${errorOf(stdout, stderr)}`,
      )
    return command === 'ADD' && stdout.trim() ? (JSON.parse(stdout) as NetworkResult) : undefined
  }

  #environment(command: string, { id, name, namespace, uid, namespaceFile }: NetworkedPod) {
    const args = {
      IgnoreUnknown: '1',
      K8S_POD_NAMESPACE: namespace,
      K8S_POD_NAME: name,
      K8S_POD_INFRA_CONTAINER_ID: id,
      K8S_POD_UID: uid,
    }
    return {
      CNI_COMMAND: command,
      CNI_CONTAINERID: id,
      CNI_NETNS: existsSync(namespaceFile) ? namespaceFile : '',
      CNI_IFNAME: 'eth0',
      CNI_PATH: this.#options.pluginFolders.join(':'),
      CNI_ARGS: Object.entries(args)
        .map(([key, value]) => `${key}=${value}`)
        .join(';'),
    }
  }

  #find(type: string): string {
    const { pluginFolders } = this.#options
    // A type is a name, never a path.
    const found = /[/\0]/.test(type) ? undefined : pluginFolders.map((folder) => join(folder, type)).find(existsSync)
    if (!found) throw new Error(`failed to find plugin ${JSON.stringify(type)} in path [${pluginFolders.join(' ')}]`)
    return found
  }
}

const verbs = { ADD: 'add', DEL: 'delete' } as const

/** The capabilities that a plug-in has asked for. */
function runtimeConfigOf({ capabilities = {} }: PluginConfig, { portMappings, annotations }: NetworkedPod) {
  const bandwidth = bandwidthOf(annotations)
  const runtimeConfig = {
    ...(capabilities.portMappings && portMappings.length > 0 && { portMappings }),
    ...(capabilities.bandwidth && bandwidth && { bandwidth }),
  }
  return Object.keys(runtimeConfig).length > 0 ? { runtimeConfig } : {}
}

const units: Readonly<Record<string, number>> = { '': 1, k: 1e3, M: 1e6, G: 1e9, Ki: 2 ** 10, Mi: 2 ** 20, Gi: 2 ** 30 }

/** The limits of a pod in bits per second, from its annotations. */
function bandwidthOf(annotations: Readonly<Record<string, string>>) {
  const rate = (direction: string): number => {
    const text = annotations[`kubernetes.io/${direction}-bandwidth`] ?? ''
    const [, digits, unit = ''] = /^(\d+)([kMG]i?|)$/.exec(text) ?? []
    return digits ? Number(digits) * (units[unit] ?? 0) : 0
  }
  const [ingressRate, egressRate] = [rate('ingress'), rate('egress')]
  const burst = 2 ** 31 - 1
  if (!ingressRate && !egressRate) return undefined
  return {
    ...(ingressRate && { ingressRate, ingressBurst: burst }),
    ...(egressRate && { egressRate, egressBurst: burst }),
  }
}

/** The message of a plug-in's error, which is JSON on stdout. */
function errorOf(stdout: string, stderr: string): string {
  try {
    const { msg, details } = JSON.parse(stdout) as { readonly msg?: string; readonly details?: string }
    if (msg) return details ? `${msg}: ${details}` : msg
  } catch {
    // Not in the format of the specification.
  }
  return stderr.trim() || stdout.trim() || 'it has reported nothing'
}
