/** Serves a store: API server and compactor, started and stopped together. The caller closes the store. */
import { type ApiServer, type ApiServerOptions, startApiServer } from '../apiserver/server.ts'
import { release } from '../lib/release.ts'
import { type CompactorOptions, startCompactor } from '../storage/compactor.ts'
import { listenError } from './listen-error.ts'

export interface ServeOptions extends Omit<ApiServerOptions, 'release'> {
  /** `off`: no revision is compacted. */
  readonly compaction?: CompactorOptions | 'off'
}

/** Starts both. Rejects with an ExplainedError if the address is not available; then neither runs. */
export async function serveStore({ compaction, ...options }: ServeOptions): Promise<ApiServer> {
  const compactor = compaction === 'off' ? undefined : startCompactor(options.store, compaction)
  try {
    const server = await startApiServer({ ...options, release })
    return {
      url: server.url,
      port: server.port,
      clock: server.clock,
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
