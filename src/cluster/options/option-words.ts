/** The messages of a cluster in the words of its options. The code that writes them also serves commands with flags. */
import { ExplainedError } from '../../lib/explained-error.ts'
import type { Log } from '../../lib/log/log.ts'
import type { ClusterOptions } from '../cluster-options.ts'

/** Flags of `t8s up` and the options that have the same meaning, with their values where those differ. */
const optionNames: Readonly<Record<string, string>> = {
  '--node-type=real': 'nodes.real',
  '--accept-data-loss': 'storage.acceptDataLoss',
  '--bind-address': 'bindAddress',
  '--client-ca-file': 'clientCA',
  '--compaction-interval': 'compaction.intervalMs',
  '--compaction-retention': 'compaction.retainMs',
  '--container-runtime-endpoint': 'nodes.real.containerRuntimeEndpoint',
  '--controller-manager-port': 'controllerManagerPort',
  '--controllers': 'controllers',
  '--data-dir': 'storage.directory',
  '--docker': 'nodes.real.docker',
  '--etcd-servers': 'storage.etcd.servers',
  '--image-source': 'nodes.real.imageSources',
  '--ingress': 'ingress',
  '--kubelet-config': 'nodes.real.configurationFile',
  '--kubelet-config-dir': 'nodes.real.configurationFolder',
  '--machines': 'nodes.machines',
  '--network-backend': 'nodes.real.networkBackend',
  '--network-policy-mode': 'nodes.real.networkPolicyMode',
  '--node-ip': 'nodes.real.ips',
  '--nodes': 'nodes.count',
  '--port': 'nodes.real.ports',
  '--proxy-mode': 'nodes.real.proxyMode',
  '--runtime-config': 'runtimeConfig',
  '--scheduler-config': 'scheduler.configurationFile',
  '--secure-port': 'port',
  '--service-cluster-ip-range': 'serviceClusterIpRange',
}

/** A flag, with a number or a range as its value: `--secure-port 0`, `--service-cluster-ip-range=10.0.0.0/24`. */
const flag = /--node-type=real|(--[a-z][a-z-]*[a-z])(?:[= ]([\d.:,/]*\d))?/g

/** Replaces the names of flags by those of options, except flags that the program itself gave. */
export function inOptionWords(message: string, given: ReadonlySet<string>): string {
  return message.replace(flag, (whole, name: string | undefined, value: string | undefined) => {
    const known = name ?? whole
    const option = !given.has(known) && Object.hasOwn(optionNames, known) ? optionNames[known] : undefined
    if (option === undefined) return whole
    return value === undefined ? `\`${option}\`` : `\`${option}: ${value}\``
  })
}

/** Translates errors for the user, and lines of the log, to the words of options. */
export interface OptionWords {
  /** Returns other errors unchanged. */
  error(error: unknown): unknown
  log(log: Log): Log
}

export function optionWords({ apiServerFlags = [], controllerFlags = {} }: ClusterOptions): OptionWords {
  const given = new Set([
    ...apiServerFlags.map((text) => text.split('=')[0]!),
    ...Object.keys(controllerFlags).map((name) => `--${name}`),
  ])
  return {
    error(error) {
      if (!(error instanceof ExplainedError)) return error
      const message = inOptionWords(error.message, given)
      if (message === error.message) return error
      const translated = new ExplainedError(message, { cause: error.cause })
      translated.name = error.name
      return translated
    },
    // Events contain texts of clients.
    log: (log) => (line, severity, event) => log(event ? line : inOptionWords(line, given), severity, event),
  }
}
