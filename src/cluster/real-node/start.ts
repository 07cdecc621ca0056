/** Runs the kubelet of a cluster's real node and, if it has no other one, its container runtime. */
import { mkdirSync } from 'node:fs'
import { runKubelet } from '../../kubelet/kubelet.ts'
import type { KubeletOptions } from '../../kubelet/options.ts'
import { Lifetime } from '../../lib/lifetime/lifetime.ts'
import { nodeTypeLabel, realNode } from '../../node/status/node-type.ts'
import type { RunningRuntime } from '../../runtime/runtime.ts'
import { profilePages } from '../kubelet/profile-pages.ts'
import { rateLimitOf } from '../kubelet/rate-limit.ts'
import { tlsLimits } from '../kubelet/tls-limits.ts'
import type { EmbeddedRuntime } from './embedded-runtime.ts'
import type { RealNodeTask } from './messages.ts'

type Log = (line: string) => void

/** A kubelet that runs. */
export interface RunningNode {
  /** Resolves when the node is registered and its pods are known. */
  readonly started: Promise<void>
  /** Stops the kubelet and the runtime; containers continue. */
  stop(): Promise<void>
}

/** Rejects if the runtime or the kubelet cannot start. */
export async function startRealNode(task: RealNodeTask, log: Log): Promise<RunningNode> {
  for (const folder of [task.root, task.podLogs]) mkdirSync(folder, { recursive: true, mode: 0o700 })
  const lifetime = new Lifetime()
  try {
    if (task.runtime) {
      const runtime = await startRuntime(task.runtime, log)
      lifetime.onEnd(() => runtime.stop())
    }
    const kubelet = await runKubelet(kubeletOptions(task, log))
    lifetime.onEnd(() => kubelet.stop())
    return { started: kubelet.started, stop: () => lifetime.end() }
  } catch (error) {
    await lifetime.end()
    throw error
  }
}

async function startRuntime(runtime: EmbeddedRuntime, log: Log): Promise<RunningRuntime> {
  const { endpoint, root, state, imageRoot, imageSources, docker, name } = runtime
  if (docker !== undefined) {
    const { startDockerRuntime } = await import('../../runtime/docker/docker-runtime.ts')
    return startDockerRuntime({ endpoint, address: docker, name, streamPort: 0, log })
  }
  const { startStandaloneRuntime } = await import('../../runtime/standalone-runtime.ts')
  return startStandaloneRuntime({
    endpoint,
    root,
    state,
    imageFolder: imageRoot,
    imageSources,
    network: { configFolder: '/etc/cni/net.d', pluginFolders: ['/opt/cni/bin', '/usr/lib/cni'] },
    streamPort: 0,
    log,
  })
}

function kubeletOptions(task: RealNodeTask, log: Log): KubeletOptions {
  const { name, ips, configuration, root, podLogs, server, serving, clientCA } = task
  return {
    server: { ...server, ...rateLimitOf(configuration) },
    configuration,
    root,
    podLogs,
    nodeName: name,
    nodeIps: ips,
    nodeLabels: { [nodeTypeLabel]: realNode },
    serving: { current: serving, onChange: () => {} },
    clientCA,
    profile: profilePages,
    tlsLimits: tlsLimits(configuration.tlsMinVersion, configuration.tlsCipherSuites),
    log,
  }
}
