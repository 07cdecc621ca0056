/** The pages of flannel's probes, with upstream's texts. */
import { PlainServer } from '../../kubelet/server/plain-server.ts'
import { ExplainedError, reasonOf } from '../../lib/explained-error.ts'
import type { Page } from '../../node/server/served-nodes.ts'

export interface HealthPages {
  readonly port: number
  close(): Promise<void>
}

/** Rejects with an ExplainedError if the address is not available. */
export async function serveHealth(ip: string, port: number, isReady: () => boolean): Promise<HealthPages> {
  const page = (status: number, text: string): Page => ({ status, type: 'text/plain; charset=utf-8', text })
  const server = new PlainServer(async ({ path }) => {
    if (path === '/healthz') return page(200, 'flanneld is running')
    if (path !== '/readyz') return undefined
    return isReady() ? page(200, 'flanneld is ready') : page(503, 'flanneld is not ready yet')
  })
  try {
    return { port: await server.listen(ip, port), close: () => server.close() }
  } catch (error) {
    throw new ExplainedError(
      `cannot serve /healthz on ${ip}, port ${port} (choose others with --healthz-ip and --healthz-port): ` +
        `${reasonOf(error)}`,
      { cause: error },
    )
  }
}
