/** The flags for the real node of `t8s up`. */
import { InvalidArgumentError, Option } from 'commander'
import { type PolicyMode, policyModes } from '../../../cluster/policy/policy-mode.ts'
import type { RealNode } from '../../../cluster/real-node/index.ts'
import { type ProxyChoice, proxyChoices } from '../../../cluster/real-node/settings/proxy-choice.ts'
import { ExplainedError } from '../../../lib/explained-error.ts'
import type { PortMapping } from '../../../network/ports/port-mapping.ts'
import { imageSourceFlag } from './image-source-flag.ts'
import { asksForSimulated, type NodeFlags } from './node-flags.ts'
import { portMapping } from './port-mapping-flag.ts'
import { type RegistryFlags, registryOptions, registrySettings } from './registry-flags.ts'

export interface RealNodeFlags extends RegistryFlags {
  readonly nodeType: 'auto' | 'real' | 'simulated'
  readonly containerRuntimeEndpoint?: string
  /** True without an address. */
  readonly docker?: string | true
  readonly imageSource: readonly string[]
  readonly hostnameOverride?: string
  readonly kubeletConfig?: string
  readonly kubeletConfigDir?: string
  readonly proxyMode?: ProxyChoice
  readonly networkPolicyMode?: PolicyMode
  readonly port?: readonly PortMapping[]
  readonly machines?: number
  readonly networkBackend?: string
}

export const realNodeFlags = (): readonly Option[] => [
  new Option(
    '--node-type <TYPE>',
    'real makes this machine a node that runs pods, simulated has nodes that run nothing; auto is real where the ' +
      'machine can, unless flags ask for simulated nodes (docs/real-nodes.md)',
  )
    .choices(['auto', 'real', 'simulated'])
    .default('auto'),
  new Option(
    '--container-runtime-endpoint <URL>',
    'socket of a container runtime, such as containerd, for the real node (default: a runtime in this process)',
  ),
  new Option(
    '--docker [ADDRESS]',
    'let a Docker engine run the containers of the real node (default address: $DOCKER_HOST, else ' +
      'unix:///var/run/docker.sock)',
  ),
  imageSourceFlag(),
  new Option('--hostname-override <NAME>', 'name of the real node (default: the name of this machine)'),
  new Option('--kubelet-config <FILE>', 'a KubeletConfiguration (kubelet.config.k8s.io/v1beta1) for the real node'),
  new Option('--kubelet-config-dir <DIR>', 'a folder of files *.conf whose fields override those of --kubelet-config'),
  new Option(
    '--proxy-mode <MODE>',
    'how Services work on the real node; none if the cluster has another kube-proxy (default: the best one of this ' +
      'machine, docs/services.md)',
  ).choices(proxyChoices),
  new Option(
    '--network-policy-mode <MODE>',
    'what has the rules of network policies on the real node (default: nftables, or iptables where only that works)',
  ).choices(policyModes),
  new Option(
    '--network-backend <TYPE>',
    'connect the pods of several nodes by this backend of flannel (default: that of the cluster, in the ConfigMap ' +
      'kube-flannel/kube-flannel-cfg; for a new one host-gw with --machines, and else vxlan with routes on one link)',
  ).choices(['host-gw', 'vxlan', 'udp']),
  new Option(
    '--machines <NUMBER>',
    'real nodes in network namespaces on this machine, machine-1, machine-2, …, in the place of the machine itself ' +
      '(docs/many-nodes.md)',
  ).argParser(machineCount),
  new Option(
    '--port <[ADDRESS:]PORT:SERVICE:PORT>',
    'a port of this machine that leads to a Service: 8080:web:80, 8080:NAMESPACE/web:http, 53:dns:53/udp; can be ' +
      'repeated, and changed while it runs (t8s port --help)',
  ).argParser(collectPorts),
  ...registryOptions(),
]

function machineCount(text: string): number {
  if (!/^[1-9]\d{0,2}$/.test(text)) throw new InvalidArgumentError('It must be a number of machines such as 3.')
  return Number(text)
}

const collectPorts = (text: string, before: readonly PortMapping[] = []): readonly PortMapping[] => [
  ...before,
  portMapping(text),
]

/**
 * The wanted real node. Undefined if the flags, or those of simulated nodes, ask for simulated ones. Throws an
 * ExplainedError for flags of a real node then.
 */
export function realNode(flags: RealNodeFlags, nodes: NodeFlags): RealNode | undefined {
  const { nodeType, containerRuntimeEndpoint, docker, hostnameOverride: name } = flags
  const imageSources = flags.imageSource.length > 0 ? flags.imageSource : undefined
  const {
    kubeletConfig: configurationFile,
    kubeletConfigDir: configurationFolder,
    proxyMode,
    networkPolicyMode,
    networkBackend,
    port: ports,
  } = flags
  const given = Object.entries({
    '--container-runtime-endpoint': containerRuntimeEndpoint,
    '--docker': docker,
    '--image-source': imageSources,
    '--hostname-override': name,
    '--kubelet-config': configurationFile,
    '--kubelet-config-dir': configurationFolder,
    '--proxy-mode': proxyMode,
    '--network-policy-mode': networkPolicyMode,
    '--port': ports,
    '--machines': flags.machines,
    '--network-backend': flags.networkBackend,
  }).filter(([, value]) => value !== undefined)
  const registries = registrySettings(flags)
  if (nodeType === 'real' || (nodeType === 'auto' && given.length > 0)) {
    if (imageSources && (containerRuntimeEndpoint !== undefined || docker !== undefined))
      throw new ExplainedError('--image-source is for the runtime of Typernetes: leave out the flag of another one')
    const runtime = { containerRuntimeEndpoint, docker, imageSources, registries }
    const network = { proxyMode, networkPolicyMode, networkBackend, ports }
    return { ...runtime, ...network, name, configurationFile, configurationFolder }
  }
  if (given.length > 0)
    throw new ExplainedError(`${given[0]![0]} is a flag of real nodes: leave out --node-type=simulated`)
  return nodeType === 'auto' && !asksForSimulated(nodes) ? { registries, fallback: 'simulated' } : undefined
}
