/** Where nodes get their subnets from, by flags. */
import { readFileSync } from 'node:fs'
import type { FlagValues } from '../../apiserver/serving-flags/parse.ts'
import type { ServerAccess } from '../../client/connection/connection.ts'
import { inClusterAccess, loadAccess } from '../../client/connection/load-access.ts'
import { ExplainedError, reasonOf } from '../../lib/explained-error.ts'
import { messageOf } from '../../lib/message-of.ts'
import { defaultSubnetFile, readSubnetFile } from '../../network/flannel/subnet-file/subnet-file.ts'
import { EtcdCalls } from '../../network/flannel/subnets/etcd/client/etcd-calls.ts'
import { EtcdSubnetManager } from '../../network/flannel/subnets/etcd/etcd-subnet-manager.ts'
import { annotationNames, defaultPrefix } from '../../network/flannel/subnets/kube/annotations.ts'
import { KubeSubnetManager } from '../../network/flannel/subnets/kube/kube-subnet-manager.ts'
import { nodeNameOf } from '../../network/flannel/subnets/kube/node-name.ts'
import type { SubnetManager } from '../../network/flannel/subnets/subnet-manager.ts'
import { defaultConfigFile, defaultEndpoints, defaultEtcdPrefix } from './flags.ts'

export interface SubnetManagerContext {
  readonly flags: FlagValues
  readonly environment: NodeJS.ProcessEnv
  readonly log: (line: string) => void
}

/** Rejects with an ExplainedError for unusable flags, and if the API server does not answer about the pod. */
export async function createSubnetManager(context: SubnetManagerContext): Promise<SubnetManager> {
  if (context.flags.bool('kube-subnet-mgr')) return kubeSubnetManager(context)
  return etcdSubnetManager(context)
}

async function kubeSubnetManager({ flags, environment, log }: SubnetManagerContext): Promise<SubnetManager> {
  const server = await accessOf(flags, environment)
  try {
    return new KubeSubnetManager({
      server,
      node: await nodeNameOf(environment, server),
      names: annotationNames(flags.text('kube-annotation-prefix') ?? defaultPrefix),
      configFile: flags.text('net-config-path') ?? defaultConfigFile,
      setsNetworkUnavailable: flags.bool('set-node-network-unavailable') ?? true,
      log,
    })
  } catch (error) {
    throw new ExplainedError(`error creating network manager: ${reasonOf(error)}`, { cause: error })
  }
}

/** As upstream: the file, else the service account of the pod. `--kube-api-url` replaces the address. */
async function accessOf(flags: FlagValues, environment: NodeJS.ProcessEnv): Promise<ServerAccess> {
  const [file, url] = [flags.text('kubeconfig-file'), flags.text('kube-api-url')]
  const isInPod = environment.KUBERNETES_SERVICE_HOST !== undefined && environment.KUBECONFIG === undefined
  const access =
    file || !isInPod
      ? await loadAccess({ ...(file && { kubeconfig: file }), environment })
      : await inClusterAccess({ environment })
  return { ...access, ...(url && { url }) }
}

/** Minutes of `--subnet-lease-renew-margin`: a lease lives for 24 hours. */
const marginMinutes = { usual: 60, least: 1, most: 24 * 60 - 1 } as const

function etcdSubnetManager({ flags, log }: SubnetManagerContext): SubnetManager {
  const margin = flags.int('subnet-lease-renew-margin') ?? marginMinutes.usual
  const { least, most } = marginMinutes
  if (margin < least || margin > most)
    throw new ExplainedError(
      `Invalid subnet-lease-renew-margin option, out of acceptable range: ${margin} is not from ${least} to ${most}`,
    )
  const [name, password = ''] = [flags.text('etcd-username'), flags.text('etcd-password')]
  const calls = new EtcdCalls({
    endpoints: (flags.list('etcd-endpoints') ?? defaultEndpoints).map((url) => url.trim()).filter((url) => url !== ''),
    tls: { ...pemOf(flags, 'ca', 'etcd-cafile'), ...clientCertificate(flags) },
    user: name ? { name, password } : undefined,
    random: Math.random,
  })
  return new EtcdSubnetManager({
    calls,
    prefix: flags.text('etcd-prefix') ?? defaultEtcdPrefix,
    previous: previousSubnets(flags, log),
    renewMarginMs: margin * 60_000,
    random: Math.random,
    log,
  })
}

function clientCertificate(flags: FlagValues): { readonly cert?: Buffer; readonly key?: Buffer } {
  const files = { ...pemOf(flags, 'cert', 'etcd-certfile'), ...pemOf(flags, 'key', 'etcd-keyfile') }
  if (Object.keys(files).length === 1)
    throw new ExplainedError('a client certificate of etcd needs both --etcd-certfile and --etcd-keyfile')
  return files
}

/** The content of the file of a flag, by a name; nothing without the flag. */
function pemOf<Name extends string>(flags: FlagValues, name: Name, flag: string): { readonly [N in Name]?: Buffer } {
  const path = flags.text(flag)
  const files: { [N in Name]?: Buffer } = {}
  try {
    if (path) files[name] = readFileSync(path)
    return files
  } catch (error) {
    throw new ExplainedError(`cannot read ${path} (--${flag}): ${reasonOf(error)}`, { cause: error })
  }
}

/** The subnets of an earlier run, which are kept if nobody has them. A file that is wrong does not stop flannel. */
function previousSubnets(
  flags: FlagValues,
  log: (line: string) => void,
): { readonly subnet: string | undefined; readonly ipv6Subnet: string | undefined } | undefined {
  try {
    return readSubnetFile(flags.text('subnet-file') ?? defaultSubnetFile)
  } catch (error) {
    log(`the earlier subnet is not used: ${messageOf(error)}`)
    return undefined
  }
}
