/** Serves a store: the API server and the compactor on it, started and stopped together. The store stays the caller's. */
import { type ApiServer, type ApiServerOptions, startApiServer } from '../apiserver/server.ts'
import { ExplainedError, errorCode } from '../lib/explained-error.ts'
import { release } from '../lib/release.ts'
import { type CompactorOptions, startCompactor } from '../storage/compactor.ts'

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
      async stop(how) {
        await server.stop(how)
        await compactor?.stop()
      },
    }
  } catch (error) {
    await compactor?.stop()
    throw listenError(error, options.bindAddress, options.port)
  }
}

/** Says what to do when the address cannot be had; other errors stay themselves. */
function listenError(error: unknown, address: string, port: number): unknown {
  const messages: Readonly<Record<string, string>> = {
    EADDRINUSE: `port ${port} on ${address} is in use by another process: choose another with --secure-port, or --secure-port 0 for any free one`,
    EACCES: `port ${port} on ${address} needs more rights than this process has: choose one above 1023 with --secure-port`,
    EADDRNOTAVAIL: `${address} is not an address of this machine: give one with --bind-address, or leave it out`,
    ENOTFOUND: `${address} is not an address of this machine: give one with --bind-address, or leave it out`,
  }
  const message = messages[errorCode(error) ?? '']
  return message ? new ExplainedError(message, { cause: error }) : error
}
