/** The objects with which flannel runs on each node of a cluster: rights, configuration, and a DaemonSet. */
import { ExplainedError } from '../../lib/explained-error.ts'
import { messageOf } from '../../lib/message-of.ts'
import { toYaml } from '../../machinery/yaml.ts'
import { ipsecConfig } from '../../network/flannel/backends/ipsec/ipsec-config.ts'
import { wireguardConfig } from '../../network/flannel/backends/wireguard/wireguard-config.ts'
import { parseNetworkConfig } from '../../network/flannel/config/network-config.ts'
import { networkConfiguration } from './stored-network.ts'

export interface ManifestOptions {
  /** An image with t8s as its program, and nft or iptables. */
  readonly image: string
  /** `10.244.0.0/16`: the cluster's range of pods. */
  readonly network: string
  readonly ipv6Network?: string
  /** `vxlan`. */
  readonly backend: string
  /** The secret of all nodes, for the backends wireguard and ipsec. */
  readonly psk?: string
  /** True: rules are in nftables, not in iptables. */
  readonly nftables?: boolean
  readonly namespace: string
}

const name = 'flannel'
const labels = { 'k8s-app': 'flannel' }
const configName = networkConfiguration.name
/** The Secret with `net-conf.json`, if that has a secret. */
const secretName = 'kube-flannel-net-conf'
const healthPort = 8081
const capabilities = ['NET_ADMIN', 'NET_RAW']

/**
 * The objects as YAML, in the order in which they are created. With a PSK, `net-conf.json` is in a Secret.
 * @throws an ExplainedError if flannel would not start with the options.
 */
export function flannelManifest(options: ManifestOptions): string {
  const { namespace } = options
  checkNetwork(options)
  const objects = [
    {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: namespace, labels: { ...labels, 'pod-security.kubernetes.io/enforce': 'privileged' } },
    },
    ...rights(namespace),
    ...configuration(options),
    daemonSet(options),
  ]
  return objects.map((object) => toYaml(object)).join('---\n')
}

/** Upstream's rights, and events about nodes without a common link. */
function rights(namespace: string): object[] {
  const group = 'rbac.authorization.k8s.io'
  return [
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name, namespace, labels } },
    {
      apiVersion: `${group}/v1`,
      kind: 'ClusterRole',
      metadata: { name, labels },
      rules: [
        { apiGroups: [''], resources: ['pods'], verbs: ['get'] },
        { apiGroups: [''], resources: ['nodes'], verbs: ['get', 'list', 'watch'] },
        { apiGroups: [''], resources: ['nodes/status'], verbs: ['patch'] },
        { apiGroups: [''], resources: ['events'], verbs: ['create', 'patch'] },
      ],
    },
    {
      apiVersion: `${group}/v1`,
      kind: 'ClusterRoleBinding',
      metadata: { name, labels },
      roleRef: { apiGroup: group, kind: 'ClusterRole', name },
      subjects: [{ kind: 'ServiceAccount', name, namespace }],
    },
  ]
}

function checkNetwork(options: ManifestOptions): void {
  try {
    const { backendType, backend } = parseNetworkConfig(textOf(netConf(options)))
    if (backendType === 'ipsec') ipsecConfig(backend)
    else if (backendType === 'wireguard') wireguardConfig(backend)
    else if (options.psk !== undefined)
      throw new Error(`the backend ${backendType} has no PSK: leave out --psk-file, or use wireguard or ipsec`)
  } catch (error) {
    throw new ExplainedError(`flannel cannot use these options: ${messageOf(error)} (--psk-file FILE reads the PSK)`, {
      cause: error,
    })
  }
}

function netConf({ network, ipv6Network, backend, psk, nftables }: ManifestOptions): object {
  return {
    Network: network,
    ...(ipv6Network && { EnableIPv6: true, IPv6Network: ipv6Network }),
    ...(nftables && { EnableNFTables: true }),
    Backend: { Type: backend, ...(psk !== undefined && { PSK: psk }) },
  }
}

const textOf = (value: object): string => `${JSON.stringify(value, undefined, 2)}\n`

function configuration(options: ManifestOptions): object[] {
  const { namespace, psk } = options
  const cni = {
    name: 'cbr0',
    cniVersion: '1.0.0',
    plugins: [
      {
        type: 'flannel',
        capabilities: { portMappings: true },
        delegate: { hairpinMode: true, isDefaultGateway: true },
      },
    ],
  }
  const metadata = { namespace, labels: { ...labels, tier: 'node', app: name } }
  const net = { 'net-conf.json': textOf(netConf(options)) }
  const files = { 'cni-conf.json': textOf(cni), ...(psk === undefined && net) }
  const map = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: configName, ...metadata }, data: files }
  const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: secretName, ...metadata }, stringData: net }
  return psk === undefined ? [map] : [map, secret]
}

/** The volume with both files. */
function configVolume({ psk }: ManifestOptions): object {
  if (psk === undefined) return { name: 'config', configMap: { name: configName } }
  const item = (key: string): object => ({ items: [{ key, path: key }] })
  const sources = [
    { configMap: { name: configName, ...item('cni-conf.json') } },
    { secret: { name: secretName, ...item('net-conf.json') } },
  ]
  return { name: 'config', projected: { defaultMode: 0o400, sources } }
}

const mounts = {
  run: { name: 'run', mountPath: '/run/flannel' },
  cni: { name: 'cni', mountPath: '/etc/cni/net.d' },
  config: { name: 'config', mountPath: '/etc/kube-flannel/' },
  lock: { name: 'xtables-lock', mountPath: '/run/xtables.lock' },
  tun: { name: 'tun', mountPath: '/dev/net/tun' },
}

function daemonSet(options: ManifestOptions): object {
  const { namespace, image } = options
  const podLabels = { tier: 'node', app: name }
  // Packets pass through the program itself, which opens the device.
  const usesTun = options.backend.toLowerCase() === 'udp'
  return {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { name: 'kube-flannel-ds', namespace, labels: { ...labels, ...podLabels } },
    spec: {
      selector: { matchLabels: { app: name } },
      template: {
        metadata: { labels: podLabels },
        spec: {
          nodeSelector: { 'kubernetes.io/os': 'linux' },
          hostNetwork: true,
          priorityClassName: 'system-node-critical',
          tolerations: [{ operator: 'Exists', effect: 'NoSchedule' }],
          serviceAccountName: name,
          initContainers: [
            {
              name: 'install-cni',
              image,
              command: ['cp', '-f', '/etc/kube-flannel/cni-conf.json', '/etc/cni/net.d/10-flannel.conflist'],
              volumeMounts: [mounts.cni, mounts.config],
            },
          ],
          containers: [flannelContainer(image, usesTun)],
          volumes: [
            { name: 'run', hostPath: { path: '/run/flannel', type: 'DirectoryOrCreate' } },
            { name: 'cni', hostPath: { path: '/etc/cni/net.d', type: 'DirectoryOrCreate' } },
            configVolume(options),
            { name: 'xtables-lock', hostPath: { path: '/run/xtables.lock', type: 'FileOrCreate' } },
            ...(usesTun ? [{ name: 'tun', hostPath: { path: '/dev/net/tun', type: 'CharDevice' } }] : []),
          ],
        },
      },
    },
  }
}

function flannelContainer(image: string, usesTun: boolean): object {
  const field = (variable: string, fieldPath: string): object => ({
    name: variable,
    valueFrom: { fieldRef: { fieldPath } },
  })
  const probe = (path: string, initialDelaySeconds: number, periodSeconds: number): object => ({
    httpGet: { path, port: 'healthz', host: '127.0.0.1' },
    initialDelaySeconds,
    periodSeconds,
  })
  return {
    name: 'kube-flannel',
    image,
    command: ['t8s', 'flannel'],
    // With the host's network, the kubelet reaches the loopback interface.
    args: ['--ip-masq', '--kube-subnet-mgr', '--healthz-ip=127.0.0.1', `--healthz-port=${healthPort}`],
    ports: [{ name: 'healthz', containerPort: healthPort, protocol: 'TCP' }],
    livenessProbe: probe('/healthz', 10, 30),
    readinessProbe: probe('/readyz', 5, 10),
    resources: { requests: { cpu: '100m', memory: '50Mi' } },
    // Runtimes let only privileged containers open devices of the machine.
    securityContext: usesTun ? { privileged: true } : { privileged: false, capabilities: { add: capabilities } },
    env: [
      field('NODE_NAME', 'spec.nodeName'),
      field('POD_NAME', 'metadata.name'),
      field('POD_NAMESPACE', 'metadata.namespace'),
    ],
    volumeMounts: [mounts.run, mounts.config, mounts.lock, ...(usesTun ? [mounts.tun] : [])],
  }
}
