/** The objects that `t8s up` applies at the start, and the wait until everything is ready. */
import type { Cluster } from '../../cluster/cluster-options.ts'
import { ExplainedError } from '../../lib/explained-error.ts'
import type { Log } from '../../lib/log/log.ts'
import type { UpFlags } from '../flags/up-flags.ts'

type ObjectFlags = Pick<UpFlags, 'manifests' | 'watch' | 'wait'>

export interface StartObjects {
  /** Ends the watch of manifests. */
  close(): Promise<void>
}

/** Resolves when the manifests are applied, and everything is ready if `--wait` asks for it. */
export async function startObjects(cluster: Cluster, flags: ObjectFlags, log: Log): Promise<StartObjects> {
  const { manifests = [], watch = false, wait } = flags
  if (watch && manifests.length === 0) throw new ExplainedError('--watch needs --manifests, whose files it watches')
  if (manifests.length === 0 && wait === undefined) return { close: async () => {} }
  const [{ connectTo, DynamicClient }, { manifestFolders }] = await Promise.all([
    import('../../client/index.ts'),
    import('../../cluster/manifests/manifest-folders.ts'),
  ])
  const client = await connectTo({ access: { ...cluster.client, userAgent: 't8s' } })
  const folders = manifestFolders(new DynamicClient(client), manifests, log)
  const close = async (): Promise<void> => {
    await folders.close()
    client.close()
  }
  try {
    await cluster.synced
    if (manifests.length > 0) log(`manifests: ${await folders.apply()} objects applied`)
    if (wait !== undefined)
      await (await import('../../cluster/manifests/everything-ready.ts')).everythingReady(client, wait)
    if (watch) folders.watch()
  } catch (error) {
    await close()
    throw error
  }
  return { close }
}
