/** Reads the cluster for `t8s why pod`, and runs the scheduler's plugins for the pod. */
import { connectTo } from '../../client/connection/connect-to.ts'
import { nodes, type Pod, pods } from '../../client/kinds.ts'
import type { Resource } from '../../client/resource.ts'
import type { RestClient } from '../../client/rest/rest-client.ts'
import { clusterEnvironment } from '../../kubeconfig/find-cluster.ts'
import { ExplainedError, reasonOf } from '../../lib/explained-error.ts'
import type { KubeObject } from '../../machinery/object.ts'
import { StatusError } from '../../machinery/status-error.ts'
import { defaultConfiguration, readConfigurationFile } from '../../scheduler/configuration/index.ts'
import { inTreePlugins } from '../../scheduler/plugins/index.ts'
import { DryRun, type PodVerdict } from '../../scheduler/why/dry-run.ts'
import type { ReadAll } from '../../scheduler/why/read-cluster.ts'

export interface PodQuery {
  readonly name: string
  /** Default: the namespace of the context. */
  readonly namespace?: string
  readonly kubeconfig?: string
  readonly context?: string
  /** Path of a KubeSchedulerConfiguration. Default: upstream's default configuration. */
  readonly config?: string
}

export interface PodResult {
  readonly pod: Pod
  readonly verdict: PodVerdict
  /** The profile whose plugins were used. */
  readonly profile: string
}

/** Rejects with an ExplainedError for a missing pod and for an unreachable server. */
export async function judgePod({ name, namespace, config, ...context }: PodQuery): Promise<PodResult> {
  const { profiles } = config ? readConfigurationFile(config, inTreePlugins) : defaultConfiguration(inTreePlugins)
  const client = await connectTo({ ...context, environment: await clusterEnvironment(context) })
  try {
    const podNamespace = namespace ?? client.namespace
    const pod = await explained(client.find(pods, podNamespace, name), 'pods')
    if (!pod)
      throw new ExplainedError(
        `there is no pod ${podNamespace}/${name}: it was deleted or never existed; list pods with kubectl get pods -A`,
      )
    const settings = profiles.find(({ schedulerName }) => schedulerName === pod.spec?.schedulerName) ?? profiles[0]!
    const run = new DryRun(settings, inTreePlugins, client)
    const read = readOnce(client)
    const [allNodes, allPods] = await Promise.all([read(nodes), read(pods), run.cluster.read(read)])
    return { pod, verdict: run.verdict(pod, allNodes, allPods), profile: settings.schedulerName }
  } finally {
    client.close()
  }
}

/** Caches the list of each kind. */
function readOnce(client: RestClient): ReadAll {
  const lists = new Map<string, Promise<readonly KubeObject[]>>()
  return <T extends KubeObject>(resource: Resource<T>) => {
    const key = `${resource.group}/${resource.plural}`
    const list = lists.get(key) ?? all(client, resource)
    lists.set(key, list)
    return list as Promise<readonly T[]>
  }
}

/** Lists a kind; an empty list if the server does not have it. */
async function all<T extends KubeObject>(client: RestClient, resource: Resource<T>): Promise<readonly T[]> {
  const listed = client.list(resource).catch((error) => {
    if (error instanceof StatusError && error.code === 404) return { items: [] }
    throw error
  })
  return (await explained(listed, resource.plural)).items
}

async function explained<T>(reading: Promise<T>, plural: string): Promise<T> {
  try {
    return await reading
  } catch (error) {
    if (error instanceof ExplainedError) throw error
    const hint = error instanceof StatusError ? ": use the administrator's kubeconfig" : '; is the cluster running?'
    throw new ExplainedError(`cannot read ${plural}: ${reasonOf(error)}${hint}`, { cause: error })
  }
}
