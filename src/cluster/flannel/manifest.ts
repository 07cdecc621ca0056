/** The objects with which flannel runs on each node of a cluster: rights, configuration, and a DaemonSet. */
import { toYaml } from '../../machinery/yaml.ts'
import { networkConfiguration } from './stored-network.ts'

export interface ManifestOptions {
  /** An image with t8s as its program, and nft or iptables. */
  readonly image: string
  /** `10.244.0.0/16`: the cluster's range of pods. */
  readonly network: string
  readonly ipv6Network?: string
  /** `vxlan`. */
  readonly backend: string
  readonly namespace: string
}

const name = 'flannel'
const labels = { 'k8s-app': 'flannel' }
const configName = networkConfiguration.name
const healthPort = 8081

/** The objects as YAML, in the order in which they are created. */
export function flannelManifest(options: ManifestOptions): string {
  const { namespace } = options
  const objects = [
    {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: namespace, labels: { ...labels, 'pod-security.kubernetes.io/enforce': 'privileged' } },
    },
    ...rights(namespace),
    configuration(options),
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

function configuration({ namespace, network, ipv6Network, backend }: ManifestOptions): object {
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
  const net = {
    Network: network,
    ...(ipv6Network && { EnableIPv6: true, IPv6Network: ipv6Network }),
    Backend: { Type: backend },
  }
  const text = (value: object): string => `${JSON.stringify(value, undefined, 2)}\n`
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: configName, namespace, labels: { ...labels, tier: 'node', app: name } },
    data: { 'cni-conf.json': text(cni), 'net-conf.json': text(net) },
  }
}

function daemonSet({ namespace, image }: ManifestOptions): object {
  const podLabels = { tier: 'node', app: name }
  const mounts = {
    run: { name: 'run', mountPath: '/run/flannel' },
    cni: { name: 'cni', mountPath: '/etc/cni/net.d' },
    config: { name: 'config', mountPath: '/etc/kube-flannel/' },
    lock: { name: 'xtables-lock', mountPath: '/run/xtables.lock' },
  }
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
          containers: [flannelContainer(image, [mounts.run, mounts.config, mounts.lock])],
          volumes: [
            { name: 'run', hostPath: { path: '/run/flannel', type: 'DirectoryOrCreate' } },
            { name: 'cni', hostPath: { path: '/etc/cni/net.d', type: 'DirectoryOrCreate' } },
            { name: 'config', configMap: { name: configName } },
            { name: 'xtables-lock', hostPath: { path: '/run/xtables.lock', type: 'FileOrCreate' } },
          ],
        },
      },
    },
  }
}

function flannelContainer(image: string, volumeMounts: readonly object[]): object {
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
    securityContext: { privileged: false, capabilities: { add: ['NET_ADMIN', 'NET_RAW'] } },
    env: [
      field('NODE_NAME', 'spec.nodeName'),
      field('POD_NAME', 'metadata.name'),
      field('POD_NAMESPACE', 'metadata.namespace'),
    ],
    volumeMounts,
  }
}
