/** The clusters of a thread: the other end of `cluster-host.ts`. */
import { flushCompileCache } from 'node:module'
import type { MessagePort } from 'node:worker_threads'
import type { ClusterOptions } from '../cluster-options.ts'
import { firstObjects } from '../first-objects.ts'
import { type RunningCluster, runCluster } from '../run-cluster.ts'
import type { ClusterData, HostCall, HostReport, SentOptions } from './messages.ts'
import { sentError } from './sent-error.ts'

/** Starts, uses and stops clusters as the messages of `port` say. */
export function hostClusters(port: MessagePort): void {
  const clusters = new Map<number, RunningCluster>()
  let isCached = false
  const post = (report: HostReport): void => port.postMessage(report)

  async function start(cluster: number, sent: SentOptions): Promise<ClusterData> {
    const started = await runCluster(receivedOptions(cluster, sent, post))
    clusters.set(cluster, started)
    void started.synced.then(() => {
      post({ cluster, synced: true })
      if (!isCached) flushCompileCache()
      isCached = true
      saveFirstObjects()
    })
    const { url, port, client, kubeconfig, kubeconfigYaml, clockMemory } = started
    return { url, port, client, kubeconfig, kubeconfigYaml, clockMemory }
  }

  function answer(order: HostCall): Promise<unknown> {
    if ('start' in order) return start(order.cluster, order.start)
    const cluster = clusters.get(order.cluster)!
    if ('user' in order) return cluster.user(order.user)
    if ('clock' in order) return cluster.order(order.clock)
    clusters.delete(order.cluster)
    return cluster.stop(order.stop)
  }

  port.on('message', (order: HostCall) => {
    const { call } = order
    answer(order).then(
      (answer) => post({ call, answer }),
      (error) => post({ call, error: sentError(error) }),
    )
  })
}

/** They only make later starts faster: without space, or in a folder of others, there is no file. */
function saveFirstObjects(): void {
  try {
    firstObjects.save()
  } catch {}
}

/** The options, with functions that send what they are called with. */
function receivedOptions(
  cluster: number,
  { options, hasLog, hasNotice }: SentOptions,
  post: (report: HostReport) => void,
): ClusterOptions {
  const { storage } = options
  return {
    ...options,
    ...(hasLog && { log: (log, severity) => post({ cluster, log, severity }) }),
    ...(hasNotice &&
      typeof storage === 'object' && {
        storage: { ...storage, notice: (notice: string) => post({ cluster, notice }) },
      }),
  }
}
