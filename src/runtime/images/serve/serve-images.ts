/** Serves an image store as a registry. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { ImageStore } from '../store/image-store.ts'
import { registryHandler } from './registry-handler.ts'

export interface ServeOptions {
  readonly store: ImageStore
  /** Default: 127.0.0.1, which other machines cannot reach. */
  readonly address?: string
  /** Default: 0, any free port. */
  readonly port?: number
  /** Default: true. */
  readonly isWritable?: boolean
}

export interface ServedImages {
  /** Such as `127.0.0.1:5000`. */
  readonly host: string
  stop(): Promise<void>
}

/** Resolves when the registry accepts connections. Rejects if the port is in use. */
export async function serveImages({
  store,
  address = '127.0.0.1',
  port = 0,
  isWritable = true,
}: ServeOptions): Promise<ServedImages> {
  const lease = store.lease()
  const server = createServer(registryHandler({ store, lease, isWritable }))
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, address, resolve)
  })
  const { port: actual } = server.address() as AddressInfo
  return {
    host: `${address.includes(':') ? `[${address}]` : address}:${actual}`,
    async stop() {
      lease.release()
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeAllConnections()
      await closed
    },
  }
}
