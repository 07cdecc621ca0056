/** Connects pods by plug-ins, which are programs (CNI 1.0). */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { messageOf } from '../../../lib/message-of.ts'
import { runProgram } from '../../host/run-program.ts'
import type { NetworkResult } from '../network-result.ts'
import type { ConnectedPod, PodConnector } from '../pod-connector.ts'
import { type NetworkConfig, type PluginConfig, readNetworkConfig } from './cni-config.ts'

export interface CniPluginsOptions {
  /** The folder of configurations. */
  readonly configFolder: string
  /** The folders of plug-ins. */
  readonly pluginFolders: readonly string[]
}

const pluginTimeoutMs = 60_000
const notConfigured = 'cni plugin not initialized'

export class CniPlugins implements PodConnector {
  readonly #options: CniPluginsOptions

  constructor(options: CniPluginsOptions) {
    this.#options = options
  }

  get problem(): string | undefined {
    try {
      return this.#config() ? undefined : notConfigured
    } catch (error) {
      return messageOf(error)
    }
  }

  /** True if there is a configuration, even one that cannot be read. */
  get isConfigured(): boolean {
    return this.problem !== notConfigured
  }

  async connect(pod: ConnectedPod): Promise<NetworkResult> {
    const config = this.#config()
    if (!config) throw new Error(notConfigured)
    let result: NetworkResult | undefined
    try {
      for (const plugin of config.plugins) result = await this.#call('ADD', config, plugin, pod, result)
    } catch (error) {
      await this.disconnect(pod, result).catch(() => {})
      throw error
    }
    return result ?? { cniVersion: config.cniVersion }
  }

  async disconnect(pod: ConnectedPod, result: NetworkResult | undefined): Promise<void> {
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
    pod: ConnectedPod,
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

  #environment(command: string, { id, name, namespace, uid, namespaceFile }: ConnectedPod) {
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
function runtimeConfigOf({ capabilities = {} }: PluginConfig, { portMappings, annotations }: ConnectedPod) {
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
