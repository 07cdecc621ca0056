/**
 * What `t8s why pod` asks a server: the pod, all nodes and pods, and the kinds that the scheduler's plug-ins look at.
 */
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

export interface AskedPod {
  readonly name: string
  /** That of the context unless said. */
  readonly namespace?: string
  readonly kubeconfig?: string
  readonly context?: string
  /** A KubeSchedulerConfiguration, as the scheduler has it; the defaults unless said. */
  readonly config?: string
}

export interface JudgedPod {
  readonly pod: Pod
  readonly verdict: PodVerdict
  /** The scheduler whose plug-ins were asked. */
  readonly profile: string
}

/** Rejects with an ExplainedError for a pod that is not there, and for a server that does not answer. */
export async function judgePod({ name, namespace, config, ...where }: AskedPod): Promise<JudgedPod> {
  const { profiles } = config ? readConfigurationFile(config, inTreePlugins) : defaultConfiguration(inTreePlugins)
  const client = await connectTo({ ...where, environment: await clusterEnvironment(where) })
  try {
    const place = namespace ?? client.namespace
    const pod = await told(client.find(pods, place, name), 'pods')
    if (!pod)
      throw new ExplainedError(
        `there is no pod ${place}/${name}: it has gone, or never was (kubectl get pods -A lists those that are there)`,
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

/** Reads each kind once, however often it is asked for. */
function readOnce(client: RestClient): ReadAll {
  const lists = new Map<string, Promise<readonly KubeObject[]>>()
  return <T extends KubeObject>(resource: Resource<T>) => {
    const key = `${resource.group}/${resource.plural}`
    const list = lists.get(key) ?? all(client, resource)
    lists.set(key, list)
    return list as Promise<readonly T[]>
  }
}

/** None of a kind that the server does not have. */
async function all<T extends KubeObject>(client: RestClient, resource: Resource<T>): Promise<readonly T[]> {
  const listed = client.list(resource).catch((error) => {
    if (error instanceof StatusError && error.code === 404) return { items: [] }
    throw error
  })
  return (await told(listed, resource.plural)).items
}

async function told<T>(answer: Promise<T>, plural: string): Promise<T> {
  try {
    return await answer
  } catch (error) {
    if (error instanceof ExplainedError) throw error
    const hint = error instanceof StatusError ? ": use the administrator's kubeconfig" : '; is the cluster running?'
    throw new ExplainedError(`cannot read ${plural}: ${reasonOf(error)}${hint}`, { cause: error })
  }
}
