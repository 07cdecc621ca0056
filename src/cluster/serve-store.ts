/**
 * Serves a store: the API server and the compactor on it, started and stopped together. The store stays the caller's.
 */
import { type ApiServer, type ApiServerOptions, startApiServer } from '../apiserver/server.ts'
import { release } from '../lib/release.ts'
import { type CompactorOptions, startCompactor } from '../storage/compactor.ts'
import { listenError } from './listen-error.ts'

export interface ServeOptions extends Omit<ApiServerOptions, 'release'> {
  /** `off`: revisions are kept for ever. */
  readonly compaction?: CompactorOptions | 'off'
}

/** Starts both. Rejects with an ExplainedError where the address cannot be had; then neither runs. */
export async function serveStore({ compaction, ...options }: ServeOptions): Promise<ApiServer> {
  const compactor = compaction === 'off' ? undefined : startCompactor(options.store, compaction)
  try {
    const server = await startApiServer({ ...options, release })
    return {
      url: server.url,
      port: server.port,
      dial: server.dial,
      async stop(how) {
        await server.stop(how)
        await compactor?.stop()
      },
    }
  } catch (error) {
    await compactor?.stop()
    throw listenError(error, options.bindAddress, options.port, '--secure-port, or --secure-port 0 for any free one')
  }
}
