/** Serves `/metrics` and `/healthz` on a port of this machine. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { ExplainedError, errorCode } from '../../lib/explained-error.ts'

export interface MetricsPage {
  readonly port: number
  stop(): Promise<void>
}

/** Rejects with an ExplainedError if the port is in use. */
export async function serveMetrics(port: number, render: () => string): Promise<MetricsPage> {
  const server = createServer((request, response) => {
    const pages: ReadonlyMap<string, () => string> = new Map([
      ['/metrics', render],
      ['/healthz', () => 'ok'],
    ])
    const page = pages.get(request.url ?? '')
    response.writeHead(page ? 200 : 404, { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' })
    response.end(page?.() ?? 'there are /metrics and /healthz\n')
  })
  const { promise: listening, resolve, reject } = Promise.withResolvers<void>()
  server.once('error', reject)
  server.listen(port, '127.0.0.1', resolve)
  await listening.catch((error: unknown) => {
    if (errorCode(error) !== 'EADDRINUSE') throw error
    throw new ExplainedError(`port ${port} is in use by another process: choose another with --ingress-metrics-port`)
  })
  return {
    port: (server.address() as AddressInfo).port,
    async stop() {
      const { promise: closed, resolve: close } = Promise.withResolvers<void>()
      server.close(() => close())
      server.closeAllConnections()
      await closed
    },
  }
}
