/** The command line of flannel: upstream's flags and defaults, and a variable of the environment for each of them. */
import { type FlagSet, idle, works } from '../../apiserver/serving-flags/flag.ts'
import { flagsHelp } from '../../apiserver/serving-flags/help.ts'
import { type FlagValues, parseFlags } from '../../apiserver/serving-flags/parse.ts'
import { defaultSubnetFile } from '../../network/flannel/subnet-file/subnet-file.ts'
import { defaultPrefix } from '../../network/flannel/subnets/kube/annotations.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** Upstream's: the first one was that of etcd 2. */
export const defaultEndpoints: readonly string[] = ['http://127.0.0.1:4001', 'http://127.0.0.1:2379']
export const defaultEtcdPrefix = '/coreos.com/network'

export const defaultConfigFile = '/etc/kube-flannel/net-conf.json'

const interfaceFlags: FlagSet = {
  name: 'interface',
  flags: [
    works(
      'iface',
      'stringArray',
      'interface to other nodes, by name or address; may be repeated: the first that exists is used. Default: that ' +
        'of the default route',
    ),
    works('iface-regex', 'stringArray', 'expression for its address or name; may be repeated; tried after --iface'),
    works('iface-can-reach', 'string', 'an address to which the interface leads, as ip route get shows it'),
    works('public-ip', 'string', 'the address by which other nodes reach this one. Default: that of the interface'),
    works('public-ipv6', 'string', 'the same of IPv6'),
  ],
}

const kubeFlags: FlagSet = {
  name: 'Kubernetes',
  flags: [
    works('kube-subnet-mgr', 'bool', 'get the subnet from the Kubernetes API: spec.podCIDR of the Node'),
    works('kube-api-url', 'string', "the address of the API server; overrides the kubeconfig's"),
    works(
      'kubeconfig-file',
      'string',
      'the cluster and the credentials. Default: the service account of the pod, else $KUBECONFIG',
    ),
    works(
      'kube-annotation-prefix',
      'string',
      "the begin of the names of annotations of flannel's nodes",
      defaultPrefix,
    ),
    works('net-config-path', 'string', "the file with the network's configuration", defaultConfigFile),
    works('set-node-network-unavailable', 'bool', 'set the condition NetworkUnavailable of the Node', 'true'),
  ],
}

const etcdFlags: FlagSet = {
  name: 'etcd',
  flags: [
    works(
      'etcd-endpoints',
      'strings',
      'URLs of etcd, from which subnets come without --kube-subnet-mgr',
      defaultEndpoints.join(','),
    ),
    works('etcd-prefix', 'string', "the begin of the network's keys in etcd", defaultEtcdPrefix),
    works('etcd-keyfile', 'string', 'the key of the client certificate, as PEM'),
    works('etcd-certfile', 'string', 'the client certificate for etcd, as PEM'),
    works('etcd-cafile', 'string', "the authorities of etcd's certificates, as PEM. Default: those of the system"),
    works('etcd-username', 'string', 'the user of an etcd with authentication'),
    works('etcd-password', 'string', 'its password; the variable FLANNELD_ETCD_PASSWORD does not show it to others'),
    works(
      'subnet-lease-renew-margin',
      'int',
      'how long before its end the lease is renewed, in minutes, from 1 to 1439',
      '60',
    ),
  ],
}

const trafficFlags: FlagSet = {
  name: 'traffic',
  flags: [
    works('ip-masq', 'bool', 'masquerade packets that leave the network of pods'),
    works('ip-masq-fully-random-disable', 'bool', 'masquerade with ports in order, not fully at random'),
    works('iptables-forward-rules', 'bool', 'let the machine forward packets of pods: rules in FORWARD', 'true'),
    works('iptables-resync', 'int', 'how often rules are checked, in seconds', '5'),
    works('ip-blackhole-route', 'bool', "discard packets to this node's subnet that no interface has"),
    works('subnet-file', 'string', 'the file for the CNI plug-in: subnet, MTU, masquerade', defaultSubnetFile),
  ],
}

const programFlags: FlagSet = {
  name: 'flannel',
  flags: [
    works('healthz-ip', 'string', 'the address where /healthz and /readyz are served', '0.0.0.0'),
    works('healthz-port', 'int', 'the port of /healthz and /readyz; 0 turns them off', '0'),
    { ...works('help', 'bool', 'show this help'), short: 'h' },
    { ...idle('the log is a few lines', 'v', 'int', 'how much to log'), short: 'v' },
    idle('the log is a few lines', 'vmodule', 'string', 'how much to log, by file'),
    idle('the log is a few lines', 'log_backtrace_at', 'string', 'lines of code whose stack is logged'),
    works('logging-format', 'string', 'the form of log lines: text, with the header of klog, or json'),
  ],
}

/** Flags by topic. */
const sets: readonly FlagSet[] = [kubeFlags, etcdFlags, interfaceFlags, trafficFlags, programFlags]

/**
 * Parses the command line; as in Go, one dash is enough. `FLANNELD_IFACE` stands for `--iface` if that is not given.
 * Throws a FlagError.
 */
export function flannelFlags(args: readonly string[], environment: Environment): FlagValues {
  const flags = sets.flatMap((set) => set.flags)
  const names = new Set(flags.map(({ name }) => name))
  const long = args.map((arg) => {
    const [, name = ''] = /^-([a-z][a-z0-9_-]+)(?:=|$)/.exec(arg) ?? []
    return names.has(name) ? `-${arg}` : arg
  })
  const given = new Set(parseFlags(sets, long, 'flannel').given.map(({ name }) => name))
  const fromEnvironment = flags.flatMap(({ name }) => {
    const value = environment[`FLANNELD_${name.replaceAll('-', '_').toUpperCase()}`]
    return value === undefined || value === '' || given.has(name) ? [] : [`--${name}=${value}`]
  })
  return parseFlags(sets, [...fromEnvironment, ...long], 'flannel')
}

/** `--help`. */
export const flannelHelp = (program: string): string =>
  flagsHelp(
    `Connects the pods of this machine with those of other nodes: a subnet for each node, and a way between them.
It is flannel, with its flags, files and annotations, and shares a network with nodes of upstream's flannel.
It needs Linux and root (in a pod NET_ADMIN and NET_RAW).

Usage:
  ${program} [flags]
  ${program} manifest      prints the objects for a cluster: kubectl apply -f -
  ${program} docker-opts   prints options of Docker for this node's subnet

Examples:
  In a pod of a DaemonSet:
    ${program} --kube-subnet-mgr --ip-masq --healthz-port 8081

  A node of a cluster, by hand; net-conf.json has { "Network": "10.244.0.0/16", "Backend": { "Type": "vxlan" } }:
    NODE_NAME=node-1 ${program} --kube-subnet-mgr --kubeconfig-file flannel.conf --net-config-path net-conf.json

  Without Kubernetes, with the network's configuration and the subnets of nodes in etcd:
    etcdctl put /coreos.com/network/config '{ "Network": "10.244.0.0/16", "Backend": { "Type": "vxlan" } }'
    ${program} --etcd-endpoints https://10.0.0.1:2379 --etcd-cafile ca.pem

Each flag has a variable, too: FLANNELD_IFACE=eth1 is --iface=eth1. See docs/flannel.md.`,
    sets,
  )
