/** The `etcd` launcher at work: it answers whether all is well, and says in headers which store it stands for. */
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { ExplainedError, errorCode, reasonOf } from '../../lib/explained-error.ts'
import type { EtcdFlags } from './flags.ts'
import type { StoreLocation } from './open-store.ts'

/** Only a kube-apiserver of ours reads them. */
export const locationHeaders = { dataDir: 't8s-data-dir', unsafeNoFsync: 't8s-unsafe-no-fsync' } as const

export interface HealthAnswers {
  stop(): Promise<void>
}

const health = JSON.stringify({ health: 'true', reason: '' })

/** Listens on all client URLs. Rejects with an ExplainedError if one cannot be had. */
export async function answerHealth({ listenClientUrls, dataDir, unsafeNoFsync }: EtcdFlags): Promise<HealthAnswers> {
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
