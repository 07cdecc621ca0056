/** Where nodes get their subnets from, by flags. */
import type { FlagValues } from '../../apiserver/serving-flags/parse.ts'
import type { ServerAccess } from '../../client/connection/connection.ts'
import { inClusterAccess, loadAccess } from '../../client/connection/load-access.ts'
import { ExplainedError, reasonOf } from '../../lib/explained-error.ts'
import { annotationNames, defaultPrefix } from '../../network/flannel/subnets/kube/annotations.ts'
import { KubeSubnetManager } from '../../network/flannel/subnets/kube/kube-subnet-manager.ts'
import { nodeNameOf } from '../../network/flannel/subnets/kube/node-name.ts'
import type { SubnetManager } from '../../network/flannel/subnets/subnet-manager.ts'
import { defaultConfigFile } from './flags.ts'

export interface SubnetManagerContext {
  readonly flags: FlagValues
  readonly environment: NodeJS.ProcessEnv
  readonly log: (line: string) => void
}

/** Rejects with an ExplainedError for unusable flags, and if the API server does not answer about the pod. */
export async function createSubnetManager(context: SubnetManagerContext): Promise<SubnetManager> {
  if (context.flags.bool('kube-subnet-mgr')) return kubeSubnetManager(context)
  throw new ExplainedError('no subnet manager is chosen: --kube-subnet-mgr takes subnets from the Kubernetes API')
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
