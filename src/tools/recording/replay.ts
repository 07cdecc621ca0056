/** Serves a recording by an API server of its own, in which nothing runs: only what clients write changes it. */
import type { Cluster } from '../../cluster/cluster-options.ts'
import { dataDirectory } from '../../cluster/data-directory.ts'
import { runCluster } from '../../cluster/run-cluster.ts'
import type { Log } from '../../lib/log/log.ts'
import { ProcessFolders } from '../../lib/process/process-folders.ts'
import { createStore } from '../../storage/log/snapshots/create-store.ts'
import { recordedState } from './recorded-state.ts'
import { type Recording, type RecordingHeader, readRecording } from './recording-file.ts'

export interface ReplayOptions {
  readonly port: number
  readonly bindAddress: string
  /** As for `t8s up --controllers`. */
  readonly controllers: readonly string[]
  readonly log: Log
}

export interface Replay {
  readonly header: RecordingHeader
  readonly cluster: Cluster
  readonly objects: number
  /** The kinds that are not served, each with the number of objects and the reason. */
  readonly omitted: readonly string[]
  /** Ends the server and removes its files. */
  stop(): Promise<void>
}

const folders = new ProcessFolders('t8s-replay-')
/** Webhooks of the recorded cluster cannot be called. */
const withoutWebhooks = '--disable-admission-plugins=MutatingAdmissionWebhook,ValidatingAdmissionWebhook'

/** Rejects with an ExplainedError for a file that is no recording, and for a port that is taken. */
export async function replay(file: string, { controllers, ...options }: ReplayOptions): Promise<Replay> {
  const recording = await readRecording(file)
  const { state, objects, omitted } = recordedState(recording)
  const folder = folders.create()
  try {
    await createStore(dataDirectory(folder.path).store, state, state.revision)
    const range = serviceRangeOf(recording)
    const cluster = await runCluster({
      ...options,
      storage: { directory: folder.path },
      controllers,
      apiServerFlags: [withoutWebhooks],
      ...(range && { serviceClusterIpRange: range }),
    })
    const stop = async (): Promise<void> => {
      await cluster.stop()
      folder[Symbol.dispose]()
    }
    return { header: recording.header, cluster, objects, omitted, stop }
  } catch (error) {
    folder[Symbol.dispose]()
    throw error
  }
}

/** The addresses of Services; undefined if the recording does not have it, as of a cluster before 1.33. */
function serviceRangeOf({ objects }: Recording): string | undefined {
  const found = objects.find(
    ({ group, plural, object }) =>
      group === 'networking.k8s.io' && plural === 'servicecidrs' && object.metadata.name === 'kubernetes',
  )
  const { spec } = (found?.object ?? {}) as { readonly spec?: { readonly cidrs?: readonly string[] } }
  return spec?.cidrs?.join()
}
