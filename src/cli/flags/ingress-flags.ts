/** The flags of the ingress proxy, for `t8s ingress` and `t8s up --ingress`. */
import { Option } from 'commander'
import type { ClusterIngress } from '../../cluster/ingress/index.ts'
import { socketFolder } from '../../lib/rootless/socket-folder.ts'
import { publishedPort } from '../running/without-root.ts'
import * as flags from './flags.ts'

export interface IngressFlags {
  readonly ingressAddress: string
  readonly ingressHttpPort?: number
  readonly ingressHttpsPort?: number
  readonly ingressAccessLog?: boolean
  readonly ingressMetricsPort?: number
}

export const ingressFlags = (): readonly Option[] => [
  new Option('--ingress-address <IP>', 'the address on which ingress listens; 0.0.0.0 for all')
    .default('127.0.0.1')
    .argParser(flags.bindAddress),
  new Option(
    '--ingress-http-port <PORT>',
    'port of ingress for HTTP; 0 for any free one (default: 80, else 8080, else any free one)',
  ).argParser(flags.port),
  new Option(
    '--ingress-https-port <PORT>',
    'port of ingress for HTTPS; 0 for any free one (default: 443, else 8443, else any free one)',
  ).argParser(flags.port),
  new Option('--ingress-access-log', 'log each request of ingress'),
  new Option(
    '--ingress-metrics-port <PORT>',
    'serve metrics of ingress on this port of 127.0.0.1; 0 for any free one',
  ).argParser(flags.port),
]

/** Ports of a cluster in namespaces of its own, which the machine has to publish before. */
const publishedPorts = { http: 8080, https: 8443 }

/** The options of the flags. Rejects with an ExplainedError if a port for a cluster without root is in use. */
export async function clusterIngress(given: IngressFlags): Promise<ClusterIngress> {
  const { ingressAddress: address, ingressHttpPort, ingressHttpsPort } = given
  const isInNamespaces = socketFolder() !== undefined
  const published = (port: number, flag: string): Promise<number> => publishedPort(address, port, flag)
  return {
    address,
    accessLog: given.ingressAccessLog,
    metricsPort: given.ingressMetricsPort,
    httpPort: isInNamespaces
      ? await published(ingressHttpPort ?? publishedPorts.http, '--ingress-http-port')
      : ingressHttpPort,
    httpsPort: isInNamespaces
      ? await published(ingressHttpsPort ?? publishedPorts.https, '--ingress-https-port')
      : ingressHttpsPort,
  }
}
