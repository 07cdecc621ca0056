/**
 * The pod network as a CNI plug-in: reads `CNI_…` variables and the configuration, does one command, and returns what
 * goes to standard output (https://www.cni.dev/docs/spec/, version 1.1).
 */
import { statSync } from 'node:fs'
import type { SystemCalls } from '../../../lib/linux/system-calls.ts'
import { messageOf } from '../../../lib/message-of.ts'
import { type AddressConflict, conflictsText } from '../../arp/check/address-check.ts'
import type { Attachment, NetworkResult, PodReference } from '../attachment.ts'
import { runFlannelPlugin } from '../flannel/flannel-plugin.ts'
import { PodNetwork } from '../pod-network.ts'
import { checkLoopback, enableLoopback } from './loopback.ts'
import {
  hostPortsOf,
  networkOptions,
  type PluginConfig,
  parseConfig,
  requestedAddressesOf,
  supportedVersions,
} from './plugin-config.ts'
import { errorCodes, PluginError } from './plugin-error.ts'

type Environment = Readonly<Record<string, string | undefined>>

export interface PluginOutcome {
  readonly exitCode: 0 | 1
  /** Undefined: nothing is printed. */
  readonly output: object | undefined
}

/**
 * @example
 * const { exitCode, output } = await runPlugin(systemCalls, process.env, await text(process.stdin))
 */
export async function runPlugin(
  loadCalls: () => SystemCalls,
  environment: Environment,
  input: string,
): Promise<PluginOutcome> {
  let cniVersion: string = supportedVersions.at(-1)!
  try {
    if (environment.CNI_COMMAND === 'VERSION') return { exitCode: 0, output: { cniVersion, supportedVersions } }
    const config = parseConfig(input)
    cniVersion = config.cniVersion ?? '0.3.0'
    return { exitCode: 0, output: await runTyped(loadCalls, environment, config, cniVersion) }
  } catch (error) {
    const code = error instanceof PluginError ? error.code : errorCodes.failed
    return { exitCode: 1, output: { cniVersion, code, msg: messageOf(error) } }
  }
}

/** The plug-in by the configuration's type. The result of another plug-in is in the wanted version. */
async function runTyped(
  loadCalls: () => SystemCalls,
  environment: Environment,
  config: PluginConfig,
  cniVersion: string,
): Promise<object | undefined> {
  const runOwn = async (own: PluginConfig): Promise<object | undefined> => {
    const result = await runCommand(loadCalls(), environment, own)
    return result && versioned(result, cniVersion)
  }
  if (config.type !== 'flannel') return runOwn(config)
  return runFlannelPlugin({ environment, config, id: () => keyOf(environment).id, runOwn })
}

async function runCommand(
  calls: SystemCalls,
  environment: Environment,
  config: PluginConfig,
): Promise<NetworkResult | undefined> {
  if (config.type === 'loopback') return runLoopback(calls, environment)
  const network = new PodNetwork({ ...networkOptions(calls, config), onConflict: logConflicts, onProblem: logLine })
  try {
    return await runOn(network, environment, config)
  } finally {
    network.close()
  }
}

/** Runtimes log what plug-ins write to standard error. */
function logConflicts(conflicts: readonly AddressConflict[], addresses: readonly string[]): void {
  logLine(`in use by other hosts: ${conflictsText(conflicts)}; given: ${addresses.join(', ')}`)
}

function logLine(line: string): void {
  process.stderr.write(`t8s cni: ${line}\n`)
}

async function runOn(
  network: PodNetwork,
  environment: Environment,
  config: PluginConfig,
): Promise<NetworkResult | undefined> {
  const command = environment.CNI_COMMAND
  switch (command) {
    case 'ADD':
      return network.add(attachmentOf(environment, config))
    case 'DEL':
      await network.remove(keyOf(environment))
      return undefined
    case 'CHECK':
      if (!config.prevResult)
        throw new PluginError(errorCodes.invalidConfiguration, 'CHECK needs prevResult: the result of ADD')
      await network.check(attachmentOf(environment, config))
      return undefined
    case 'GC': {
      const valid = config['cni.dev/valid-attachments']
      if (!valid)
        throw new PluginError(
          errorCodes.invalidConfiguration,
          'GC needs cni.dev/valid-attachments: those that are used',
        )
      await network.removeOthers(valid.map(({ containerID, ifname }) => ({ id: containerID, interfaceName: ifname })))
      return undefined
    }
    case 'STATUS':
      // The configuration was read, and the system calls are there: a pod can be added.
      return undefined
    default:
      throw new PluginError(errorCodes.invalidEnvironment, `unknown CNI_COMMAND: ${command ?? ''}`)
  }
}

function runLoopback(calls: SystemCalls, environment: Environment): NetworkResult | undefined {
  switch (environment.CNI_COMMAND) {
    case 'ADD':
      return enableLoopback(calls, namespaceOf(environment))
    case 'CHECK':
      checkLoopback(calls, namespaceOf(environment))
      return undefined
    default:
      // The interface ends with its namespace.
      return undefined
  }
}

function namespaceOf(environment: Environment): string {
  const namespace = required(environment, 'CNI_NETNS', /^\//)
  if (statSync(namespace, { throwIfNoEntry: false })) return namespace
  throw new PluginError(errorCodes.unknownContainer, `the network namespace CNI_NETNS=${namespace} does not exist`)
}

function keyOf(environment: Environment): Pick<Attachment, 'id' | 'interfaceName'> {
  const id = required(environment, 'CNI_CONTAINERID', /^[A-Za-z0-9][A-Za-z0-9_.-]*$/)
  return { id, interfaceName: required(environment, 'CNI_IFNAME', /^(?!\.{1,2}$)[^\s/:]{1,15}$/) }
}

function attachmentOf(environment: Environment, config: PluginConfig): Attachment {
  const namespace = namespaceOf(environment)
  const key = keyOf(environment)
  const requestedAddresses = requestedAddressesOf(config)
  return { ...key, namespace, hostPorts: hostPortsOf(config), requestedAddresses, pod: podOf(environment.CNI_ARGS) }
}

/** The pod that runtimes of Kubernetes name: `IgnoreUnknown=1;K8S_POD_NAMESPACE=default;K8S_POD_NAME=web;…`. */
function podOf(text = ''): PodReference | undefined {
  const pairs = text.split(';').map((pair) => pair.split('=', 2))
  const keys = ['K8S_POD_NAME', 'K8S_POD_NAMESPACE', 'K8S_POD_UID']
  const [name, namespace, uid] = keys.map((key) => pairs.find(([one]) => one === key)?.[1])
  return name && namespace && uid ? { name, namespace, uid } : undefined
}

function required(environment: Environment, name: string, pattern: RegExp): string {
  const value = environment[name] ?? ''
  if (value === '') throw new PluginError(errorCodes.invalidEnvironment, `required env variables [${name}] missing`)
  if (!pattern.test(value))
    throw new PluginError(errorCodes.invalidEnvironment, `${name}=${JSON.stringify(value)} is not valid`)
  return value
}

/** Results before 1.0 have the version of each address; those before 1.1 have no MTU. */
function versioned(result: NetworkResult, cniVersion: string): object {
  const interfaces =
    cniVersion === '1.1.0' ? result.interfaces : result.interfaces.map(({ mtu: _, ...described }) => described)
  const ips = cniVersion.startsWith('0.')
    ? result.ips.map((one) => ({ version: one.address.includes(':') ? '6' : '4', ...one }))
    : result.ips
  return { cniVersion, ...result, interfaces, ips }
}
