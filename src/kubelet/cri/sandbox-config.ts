/** The configuration of a pod's sandbox. */
import { Protocol } from '#protobuf/cri-runtime_pb.js'
import { type Container, type Pod, specOf } from '../pod-types.ts'
import { sandboxLabels } from './labels.ts'
import { type NodeResources, sandboxResources } from './linux-resources.ts'
import type { NamespaceOptions } from './namespaces.ts'
import { kernelHostname } from './pod-hostname.ts'
import type { SandboxConfig } from './runtime.ts'
import { type SecuritySettings, sandboxSecurity } from './security.ts'

/** The settings of the node for a pod's sandbox. */
export interface SandboxSettings {
  readonly security: SecuritySettings
  readonly namespaces: NamespaceOptions
  /** The folder of all pods' logs, `/var/log/pods`. */
  readonly logFolder: string
  readonly node: NodeResources
  /** The pod's cgroup, `/kubepods/burstable/podUID`. */
  readonly cgroupParent: string
  readonly clusterDomain: string
  readonly dns: { readonly servers: string[]; readonly searches: string[]; readonly options: string[] }
}

/** `attempt` counts the sandboxes of the pod from 0. Throws an Error for a host name that is too long. */
export function sandboxConfig(pod: Pod, attempt: number, settings: SandboxSettings): SandboxConfig {
  const { metadata } = pod
  const { hostNetwork, securityContext } = specOf(pod)
  const { name = '', namespace = '', uid = '' } = metadata
  return {
    metadata: { name, namespace, uid, attempt },
    // With the node's network the runtime uses the node's name.
    hostname: hostNetwork ? '' : kernelHostname(pod, settings.clusterDomain),
    logDirectory: podLogFolder(settings.logFolder, pod),
    dnsConfig: settings.dns,
    portMappings: hostNetwork ? [] : portMappings(pod),
    labels: sandboxLabels(pod),
    annotations: { ...metadata.annotations },
    linux: {
      cgroupParent: settings.cgroupParent,
      ...sandboxResources(pod, settings.node),
      securityContext: sandboxSecurity(pod, settings.namespaces, settings.security),
      sysctls: Object.fromEntries(
        (securityContext?.sysctls ?? []).map(({ name, value }) => [dottedSysctl(name), value]),
      ),
    },
  }
}

/** `/var/log/pods/NAMESPACE_NAME_UID`. */
export const podLogFolder = (logFolder: string, { metadata }: Pod): string =>
  `${logFolder}/${metadata.namespace}_${metadata.name}_${metadata.uid}`

const protocols = { TCP: Protocol.TCP, UDP: Protocol.UDP, SCTP: Protocol.SCTP } as const

/** The ports that the node passes on to the pod's containers. */
const portMappings = (pod: Pod) =>
  [...(specOf(pod).initContainers ?? []), ...specOf(pod).containers].flatMap(({ ports = [] }: Container) =>
    ports
      .filter(({ hostPort }) => hostPort)
      .map(({ protocol = 'TCP', containerPort, hostPort, hostIP = '' }) => ({
        protocol: protocols[protocol as keyof typeof protocols] ?? Protocol.TCP,
        containerPort,
        hostPort: hostPort!,
        hostIp: hostIP,
      })),
  )

/** Kernel parameters may be written with slashes, like their files. */
export const dottedSysctl = (name: string): string => {
  const separator = /[./]/.exec(name)?.[0]
  return separator === '/' ? name.replace(/[./]/g, (one) => (one === '/' ? '.' : '/')) : name
}
