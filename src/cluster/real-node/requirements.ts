/** Checks that this machine can be a node, before anything of the cluster starts. */
import { existsSync } from 'node:fs'
import { createServer } from 'node:net'
import { hostname } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import type { KubeletConfiguration } from '../../kubelet/configuration/index.ts'
import { CriRuntime } from '../../kubelet/cri/runtime.ts'
import { machineAddresses } from '../../kubelet/registration/machine.ts'
import { DockerEngine, engineAddress } from '../../lib/docker-engine/index.ts'
import { ExplainedError, errorCode, reasonOf } from '../../lib/explained-error.ts'
import { checkHost } from '../kubelet/machine-checks.ts'
import type { RealNode } from './index.ts'
import { nodeConfiguration } from './node-configuration.ts'

/** A real node whose machine has been checked. */
export interface CheckedNode {
  readonly name: string
  readonly ips: readonly string[]
  readonly configuration: KubeletConfiguration
  /** True without another container runtime: the cluster starts its own. */
  readonly isEmbedded: boolean
  /** The address of the Docker engine in front of which that runtime is. */
  readonly docker: string | undefined
  /** Other programs whose images that runtime uses. */
  readonly imageSources: readonly string[]
  /** The folder of the logs of pods. Default: in the data directory. */
  readonly podLogs: string | undefined
}

/** The facts of this process and machine that a real node depends on. */
export interface MachineFacts {
  readonly platform: string
  readonly userId: number
  /** Returns true if a file exists. */
  readonly exists: (path: string) => boolean
}

const otherwise = 'or leave out --node-type=real for simulated nodes'
/** The time for a runtime to answer, in ms. */
const answerMs = 10_000

const thisMachine = (): MachineFacts => ({
  platform: process.platform,
  userId: process.getuid?.() ?? -1,
  exists: existsSync,
})

/**
 * Resolves with the node's settings. Rejects with an ExplainedError that names what is missing on this machine, and how
 * to get it. Logs a missing network of pods, since a pod of the node may install it.
 */
export async function checkRealNode(node: RealNode, log: (line: string) => void): Promise<CheckedNode> {
  const machine = thisMachine()
  checkMachine(machine)
  const { configuration: written, fields, notices } = nodeConfiguration(node)
  checkHost(written)
  const docker = node.docker === undefined ? undefined : await checkDocker(node)
  const stated = fields.has('containerRuntimeEndpoint') ? written.containerRuntimeEndpoint : undefined
  const endpoint = docker === undefined ? (node.containerRuntimeEndpoint ?? stated) : undefined
  const configuration = endpoint
    ? { ...written, containerRuntimeEndpoint: runtimeEndpoint(endpoint, machine) }
    : written
  for (const notice of notices) log(notice)
  if (endpoint) await checkRuntime(configuration.containerRuntimeEndpoint, log)
  await checkPorts(configuration)
  return {
    name: node.name ?? hostname().trim().toLowerCase(),
    ips: node.ips ?? [machineAddresses()[0] ?? '127.0.0.1'],
    configuration,
    isEmbedded: !endpoint,
    docker,
    imageSources: node.imageSources ?? [],
    podLogs: fields.has('podLogsDir') ? written.podLogsDir : undefined,
  }
}

/** Throws an ExplainedError if this system or user cannot run containers. */
export function checkMachine({ platform, userId }: MachineFacts): void {
  if (platform !== 'linux')
    throw new ExplainedError(
      `a real node needs Linux, and this machine runs ${platform}: use a virtual machine with Linux, ${otherwise}`,
    )
  if (userId !== 0)
    throw new ExplainedError(`a real node needs root, for the cgroups and mounts of pods: use sudo, ${otherwise}`)
}

/** Returns the URL of the runtime's socket. Throws an ExplainedError if it does not exist. */
export function runtimeEndpoint(given: string, { exists }: Pick<MachineFacts, 'exists'>): string {
  const path = given.startsWith('/') ? given : /^unix:\/\/(\/.+)$/.exec(given)?.[1]
  if (!path)
    throw new ExplainedError(
      `the container runtime endpoint ${given} is not a socket: write it like unix:///run/containerd/containerd.sock`,
    )
  if (!exists(path))
    throw new ExplainedError(
      `the socket ${path} of the container runtime does not exist: start the runtime, or name its socket with ` +
        '--container-runtime-endpoint, or leave that out for the runtime of Typernetes',
    )
  return `unix://${path}`
}

/** Resolves with the address of the Docker engine. Rejects with an ExplainedError if it does not answer. */
async function checkDocker({ docker, containerRuntimeEndpoint }: RealNode): Promise<string> {
  if (containerRuntimeEndpoint !== undefined)
    throw new ExplainedError('a node has one container runtime: leave out --docker or --container-runtime-endpoint')
  try {
    const engine = new DockerEngine(engineAddress(docker === true ? undefined : docker))
    await engine.version()
    engine.close()
    return engine.address.text
  } catch (error) {
    throw new ExplainedError(`the real node cannot use --docker: ${reasonOf(error)}`, { cause: error })
  }
}

/** Rejects with an ExplainedError if the runtime does not speak CRI. */
async function checkRuntime(endpoint: string, log: (line: string) => void): Promise<void> {
  const runtime = new CriRuntime(endpoint)
  try {
    const late = delay(answerMs, undefined, { ref: false }).then(() => {
      throw new Error(`no answer within ${answerMs / 1000} s`)
    })
    const { status } = await Promise.race([runtime.status(), late])
    const network = status?.conditions.find(({ type }) => type === 'NetworkReady')
    if (network && !network.status)
      log(
        `pods of the real node have no network yet, so it is not ready (${network.message}): put a CNI configuration ` +
          'into /etc/cni/net.d (docs/real-nodes.md has one) and the plug-ins into the folder that the runtime expects',
      )
  } catch (error) {
    throw new ExplainedError(
      `the container runtime at ${endpoint} does not answer CRI requests: ${reasonOf(error)}; start it, and for ` +
        'containerd remove cri from disabled_plugins in /etc/containerd/config.toml',
      { cause: error },
    )
  } finally {
    runtime.close()
  }
}

/**
 * Two kubelets on one machine would remove each other's pods: their ports, which are fixed by default, exclude that.
 */
async function checkPorts({ address, port, healthzBindAddress, healthzPort }: KubeletConfiguration): Promise<void> {
  for (const [host, number] of [
    [address, port],
    [healthzBindAddress, healthzPort],
  ] as const) {
    if (number > 0) await checkPort(host, number)
  }
}

async function checkPort(host: string, port: number): Promise<void> {
  const server = createServer()
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  server.once('error', reject)
  server.listen(port, host, resolve)
  try {
    await promise
  } catch (error) {
    if (errorCode(error) !== 'EADDRINUSE')
      throw new ExplainedError(`the kubelet cannot listen on ${host}:${port}: ${reasonOf(error)}`, { cause: error })
    throw new ExplainedError(
      `port ${port} is in use, probably by another kubelet, and this machine can be a node of one cluster only: stop ` +
        'it, or set another port in a file for --kubelet-config if it is another program',
      { cause: error },
    )
  } finally {
    server.close()
  }
}
