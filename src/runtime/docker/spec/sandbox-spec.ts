/** The container that holds the namespaces of a pod, as the engine creates it. */
import { type PodSandboxConfig, type PortMapping, Protocol } from '#protobuf/cri-runtime_pb.js'
import { usesHostNetwork } from '../../sandboxes/sandbox.ts'
import type { Labels } from '../engine-types.ts'
import { sandboxNamespaces } from './namespaces.ts'
import { cgroupParentOf, oomScoreOf } from './resources.ts'

export interface SandboxSpecInputs {
  readonly config: PodSandboxConfig
  readonly image: string
  readonly labels: Labels
  /** The network of the engine for pods. */
  readonly network: string
  readonly cgroupDriver: string
  readonly minOomScoreAdj: number | undefined
  /** A runtime of the engine; '' for its default. */
  readonly runtime: string
}

/** As dockershim: it ends after the containers of the pod. */
const oomScoreAdj = -998
/** The least that the kernel allows. */
const cpuShares = 2

/** Throws an Error for what Docker cannot do. */
export function sandboxSpec(inputs: SandboxSpecInputs): object {
  const { config, image, labels, runtime } = inputs
  const isOwnNetwork = !usesHostNetwork(config)
  const ports = isOwnNetwork ? config.portMappings.filter(({ hostPort }) => hostPort > 0) : []
  return {
    Image: image,
    Labels: labels,
    // It has nothing to do before its end.
    StopTimeout: 0,
    ...(isOwnNetwork && { Hostname: config.hostname }),
    ExposedPorts: Object.fromEntries(ports.map((port) => [portName(port), {}])),
    HostConfig: {
      ...sandboxNamespaces(config, inputs.network),
      ...dnsSettings(config),
      PortBindings: bindingsOf(ports),
      Sysctls: config.linux?.sysctls ?? {},
      CgroupParent: cgroupParentOf(config.linux?.cgroupParent ?? '', inputs.cgroupDriver),
      CpuShares: cpuShares,
      OomScoreAdj: oomScoreOf(oomScoreAdj, inputs.minOomScoreAdj),
      CapDrop: ['ALL'],
      SecurityOpt: ['no-new-privileges'],
      ReadonlyRootfs: true,
      RestartPolicy: { Name: 'no' },
      LogConfig: { Type: 'none' },
      ...(runtime && { Runtime: runtime }),
    },
  }
}

/** A domain of `.` excludes those of the machine. */
function dnsSettings({ dnsConfig }: PodSandboxConfig): object {
  if (!dnsConfig) return {}
  const { servers, searches, options } = dnsConfig
  if (servers.length + searches.length + options.length === 0) return {}
  return { Dns: servers, DnsSearch: searches.length > 0 ? searches : ['.'], DnsOptions: options }
}

const protocols: Readonly<Record<Protocol, string>> = {
  [Protocol.TCP]: 'tcp',
  [Protocol.UDP]: 'udp',
  [Protocol.SCTP]: 'sctp',
}

const portName = ({ containerPort, protocol }: PortMapping): string => `${containerPort}/${protocols[protocol]}`

function bindingsOf(ports: readonly PortMapping[]): Record<string, object[]> {
  const bindings: Record<string, object[]> = {}
  for (const port of ports) {
    const list = (bindings[portName(port)] ??= [])
    list.push({ HostIp: port.hostIp, HostPort: String(port.hostPort) })
  }
  return bindings
}
