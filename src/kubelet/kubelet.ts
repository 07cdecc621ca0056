/** A kubelet: registers this machine as a node and runs the pods that are bound to it, on a CRI runtime. */
import type { Component } from '../lib/lifetime/components.ts'
import { startComponents } from '../lib/lifetime/components.ts'
import { Lifetime } from '../lib/lifetime/lifetime.ts'
import { cluster } from './components/cluster.ts'
import { collection, containerLogs } from './components/container-logs.ts'
import { cgroups } from './components/host/cgroups.ts'
import { csi } from './components/host/csi.ts'
import { shutdown } from './components/host/shutdown.ts'
import { systemOom } from './components/host/system-oom.ts'
import { userNamespaces } from './components/host/user-namespaces.ts'
import { images } from './components/images.ts'
import { metrics } from './components/metrics.ts'
import { machine, registration } from './components/node.ts'
import type { KubeletParts } from './components/parts.ts'
import { admission, dispatcher } from './components/pods/admission.ts'
import { allocation } from './components/pods/allocation.ts'
import { eviction, usage } from './components/pods/eviction.ts'
import { probes, volumes, workers } from './components/pods/pods.ts'
import { desiredPods, manifests } from './components/pods/sources.ts'
import { runtime } from './components/runtime.ts'
import { server } from './components/server.ts'
import { followPods } from './follow-pods.ts'
import type { KubeletOptions } from './options.ts'

export type { KubeletOptions } from './options.ts'

interface PodReference {
  readonly namespace: string
  readonly name: string
  readonly uid: string
}

export interface RunningKubelet {
  readonly nodeName: string
  /** The port of its HTTPS server. */
  readonly port: number
  /** Resolves when the node is registered and its pods are known. */
  readonly started: Promise<void>
  /** Records a warning about a pod as an event: of the runtime, which does not know the cluster. */
  warnOf(pod: PodReference, reason: string, message: string): void
  /** Stops the kubelet; containers continue. */
  stop(): Promise<void>
}

/** In the order of their start. */
const components: readonly Component<KubeletParts>[] = [
  machine,
  metrics,
  desiredPods,
  runtime,
  cluster,
  userNamespaces,
  cgroups,
  images,
  probes,
  csi,
  usage,
  server,
  registration,
  systemOom,
  allocation,
  containerLogs,
  collection,
  volumes,
  workers,
  admission,
  shutdown,
  dispatcher,
  eviction,
  manifests,
]

const schedule = (callback: () => void, ms: number): (() => void) => {
  const timer = setTimeout(callback, ms)
  return () => clearTimeout(timer)
}

/** Rejects if the runtime does not answer, or the port is in use. */
export async function runKubelet(options: KubeletOptions): Promise<RunningKubelet> {
  const lifetime = new Lifetime()
  try {
    const parts = await startComponents(components, { options, schedule }, lifetime)
    const started = followPods(parts, lifetime)
    started.catch((error: Error) => options.log(`the kubelet cannot follow its pods: ${error.message}`))
    return {
      nodeName: parts.node.name,
      port: parts.port,
      started,
      warnOf({ namespace, name, uid }, reason, message) {
        const subject = { apiVersion: 'v1', kind: 'Pod', namespace, name, uid }
        parts.recorder.record(subject, 'Warning', reason, message, parts.node.name)
      },
      stop: () => lifetime.end(),
    }
  } catch (error) {
    await lifetime.end()
    throw error
  }
}
