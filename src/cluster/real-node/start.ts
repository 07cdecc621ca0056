/** Runs the kubelet of a cluster's real node. */
import { mkdirSync } from 'node:fs'
import { type RunningKubelet, runKubelet } from '../../kubelet/kubelet.ts'
import { nodeTypeLabel, realNode } from '../../node/status/node-type.ts'
import { profilePages } from '../kubelet/profile-pages.ts'
import { rateLimitOf } from '../kubelet/rate-limit.ts'
import { tlsLimits } from '../kubelet/tls-limits.ts'
import type { RealNodeTask } from './messages.ts'

export function startRealNode(task: RealNodeTask, log: (line: string) => void): Promise<RunningKubelet> {
  const { name, ips, configuration, root, podLogs, server, serving, clientCA } = task
  for (const folder of [root, podLogs]) mkdirSync(folder, { recursive: true, mode: 0o700 })
  return runKubelet({
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
  })
}
