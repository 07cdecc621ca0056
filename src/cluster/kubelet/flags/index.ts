/** The command line of the kubelet 1.36: its parser, its help, and what it means. */
import { isIP } from 'node:net'
import type { FlagSet } from '../../../apiserver/serving-flags/flag.ts'
import { flagsHelp } from '../../../apiserver/serving-flags/help.ts'
import { FlagError, type FlagValues, parseFlags } from '../../../apiserver/serving-flags/parse.ts'
import { global, logs } from '../../../apiserver/serving-flags/table/every-component.ts'
import { nodeFlags, resourceFlags, runtimeFlags, serverFlags } from './config-flags.ts'
import { checkNodeLabels } from './node-labels.ts'
import { programFlags } from './program-flags.ts'

export type { FlagValues } from '../../../apiserver/serving-flags/parse.ts'

const sets: readonly FlagSet[] = [
  programFlags,
  { name: 'node', flags: nodeFlags },
  { name: 'serving', flags: serverFlags },
  { name: 'runtime', flags: runtimeFlags },
  { name: 'resource', flags: resourceFlags },
  logs('2 logs slow calls and failures, 3 requests to the kubelet, 4 all calls of the runtime'),
  global('the API that the kubelet speaks'),
]

/** Flags that upstream has removed, and what to do instead. */
const removed: Readonly<Record<string, string>> = {
  'pod-infra-container-image': '1.35 removed it: the runtime has its own setting for the sandbox image',
  'container-runtime': '1.27 removed it: remove the flag, every runtime is reached through CRI',
  'network-plugin': '1.24 removed it: the runtime sets up networks through CNI',
  'cni-conf-dir': '1.24 removed it: it is a setting of the runtime',
  'cni-bin-dir': '1.24 removed it: it is a setting of the runtime',
  'keep-terminated-pod-volumes': 'volumes of ended pods are removed',
  'iptables-masquerade-bit': 'it is a field of the KubeletConfiguration',
  'iptables-drop-bit': 'it is a field of the KubeletConfiguration',
  'cloud-config': 'cloud providers are programs of their own',
  'dynamic-config-dir': '1.24 removed it: use --config',
  'allow-privileged': '1.15 removed it: admission decides about privileged pods',
}

/** Parses the command line. Throws a FlagError with pflag's message, and says what replaces removed flags. */
export function kubeletFlags(args: readonly string[]): FlagValues {
  const flags = parsed(args)
  checkNodeLabels(nodeLabels(flags))
  for (const ip of flags.list('node-ip') ?? [])
    if (isIP(ip) === 0) throw new FlagError(`--node-ip ${JSON.stringify(ip)} is not an IP address`)
  return flags
}

function parsed(args: readonly string[]): FlagValues {
  try {
    return parseFlags(sets, args, 'kubelet')
  } catch (error) {
    const [, name = ''] = /^unknown flag: --([\w-]+)/.exec(error instanceof FlagError ? error.message : '') ?? []
    const advice = Object.hasOwn(removed, name) ? removed[name] : undefined
    throw advice ? new FlagError(`unknown flag: --${name}: ${advice}`) : error
  }
}

export const nodeLabels = (flags: FlagValues): Readonly<Record<string, string>> =>
  Object.fromEntries(flags.map('node-labels') ?? [])

/** A line for each given flag that has no effect. */
export const idleFlagLines = (flags: FlagValues): string[] =>
  flags.given.flatMap(({ name, idle }) => (idle ? [`--${name} changes nothing here: ${idle}`] : []))

/** `--help`. */
export const kubeletHelp = (program: string): string =>
  flagsHelp(
    `Makes this machine a node that runs pods, on containerd or another CRI runtime, with the flags of kubelet 1.36.
It needs Linux and root. The cluster may be of t8s up or any other.

Usage:
  ${program} [flags]

Examples:
  A node of a cluster of t8s up --nodes 0, on Debian's containerd:
    ${program} --kubeconfig .t8s/kubeconfig

  Another runtime, and pods from a folder:
    ${program} --kubeconfig kubelet.conf --container-runtime-endpoint unix:///run/crio/crio.sock \\
      --pod-manifest-path /etc/kubernetes/manifests

  A node that gets its own certificate by a bootstrap token, and renews it:
    ${program} --bootstrap-kubeconfig bootstrap.conf --kubeconfig kubelet.conf --rotate-certificates

  Settings of files, as kubeadm writes them:
    ${program} --kubeconfig kubelet.conf --config /var/lib/kubelet/config.yaml --config-dir /etc/kubelet.conf.d

Settings of --config are overridden by those of --config-dir, and these by flags. See docs/kubelet.md.`,
    sets,
  )
