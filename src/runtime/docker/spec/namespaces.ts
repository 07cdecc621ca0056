/** Namespaces of sandboxes and containers as modes of the engine. */
import type { ContainerConfig, PodSandboxConfig } from '#protobuf/cri-runtime_pb.js'
import { NamespaceMode } from '#protobuf/cri-values_pb.js'
import { namespaceOptionsOf, sharesProcesses, usesHostIpc, usesHostNetwork } from '../../sandboxes/sandbox.ts'

/** Throws an Error for users of a pod's own. */
export function sandboxNamespaces(config: PodSandboxConfig, network: string): object {
  const { pid, usernsOptions } = namespaceOptionsOf(config)
  if (usernsOptions && usernsOptions.mode === NamespaceMode.POD)
    throw new Error('pods with users of their own (hostUsers: false) need another container runtime than Docker')
  return {
    NetworkMode: usesHostNetwork(config) ? 'host' : network,
    IpcMode: usesHostIpc(config) ? 'host' : 'shareable',
    ...(usesHostNetwork(config) && { UTSMode: 'host' }),
    ...(pid === NamespaceMode.NODE && { PidMode: 'host' }),
  }
}

/** Containers join the network and IPC namespaces of their sandbox, also if those are the host's. */
export function containerNamespaces(sandboxId: string, sandbox: PodSandboxConfig, config: ContainerConfig): object {
  const shared = `container:${sandboxId}`
  const pid = pidMode(shared, sandbox, config)
  return {
    NetworkMode: shared,
    IpcMode: shared,
    ...(usesHostNetwork(sandbox) && { UTSMode: 'host' }),
    ...(pid && { PidMode: pid }),
  }
}

/** '' for a namespace of its own. */
function pidMode(shared: string, sandbox: PodSandboxConfig, { linux }: ContainerConfig): string {
  const { pid = NamespaceMode.POD, targetId = '' } =
    linux?.securityContext?.namespaceOptions ?? namespaceOptionsOf(sandbox)
  switch (pid) {
    case NamespaceMode.NODE:
      return 'host'
    case NamespaceMode.TARGET:
      return `container:${targetId}`
    case NamespaceMode.POD:
      return sharesProcesses(sandbox) ? shared : ''
    default:
      return ''
  }
}
