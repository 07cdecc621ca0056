/** The HTTP server of the `etcd` launcher: serves /health, with the location of the store in headers. */
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { ExplainedError, errorCode, reasonOf } from '../../../lib/explained-error.ts'
import type { EtcdFlags } from './flags.ts'
import type { StoreLocation } from './open-store.ts'

/** Only read by the kube-apiserver of Typernetes. */
export const locationHeaders = { dataDir: 't8s-data-dir', unsafeNoFsync: 't8s-unsafe-no-fsync' } as const

export interface HealthServer {
  stop(): Promise<void>
}

const health = JSON.stringify({ health: 'true', reason: '' })

/** Listens on all client URLs. Rejects with an ExplainedError if it cannot. */
export async function serveHealth({ listenClientUrls, dataDir, unsafeNoFsync }: EtcdFlags): Promise<HealthServer> {
  const servers: Server[] = []
  const stop = async (): Promise<void> => {
    await Promise.all(
      servers.map((server) => {
        server.closeAllConnections()
        return new Promise((closed) => server.close(closed))
      }),
    )
  }
  try {
    for (const url of listenClientUrls) {
      const server = healthServer({ dataDir, unsafeNoFsync })
      servers.push(server)
      server.listen(Number(url.port || 80), url.hostname.replace(/^\[(.*)\]$/, '$1'))
      await once(server, 'listening')
    }
  } catch (error) {
    await stop()
    const where = listenClientUrls.map(String).join(', ')
    const why = errorCode(error) === 'EADDRINUSE' ? 'the port is in use by another process' : reasonOf(error)
    throw new ExplainedError(`cannot listen on ${where}: ${why}; choose another with --listen-client-urls`, {
      cause: error,
    })
  }
  return { stop }
}

const healthServer = ({ dataDir, unsafeNoFsync }: StoreLocation): Server =>
  createServer((request, response) => {
    const [path] = (request.url ?? '').split('?')
    if (path !== '/health' || request.method !== 'GET') {
      response.writeHead(404, { 'content-type': 'text/plain; charset=utf-8' }).end('404 page not found\n')
      return
    }
    response.setHeader(locationHeaders.dataDir, encodeURIComponent(dataDir))
    response.setHeader(locationHeaders.unsafeNoFsync, String(unsafeNoFsync))
    response.setHeader('content-type', 'application/json').end(health)
  })
