/** A server that receives lists of events over HTTPS, and can simulate failures. */
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { issueCertificate, makeAuthority } from '../../src/lib/x509/certificates.ts'
import type { Lifetime } from '../support/reachable-cluster.ts'
import type { AuditEvent } from './audited-cluster.ts'

export type Manner = 'well' | 'failing' | 'hanging' | 'endless'

export interface WebhookSink {
  readonly kubeconfig: string
  /** The received events, one list per call. */
  readonly lists: readonly {
    readonly kind: string
    readonly apiVersion: string
    readonly items: readonly AuditEvent[]
  }[]
  /** The number of calls, failed ones included. */
  calls(): number
  /** Headers and URL of the last call. */
  last(): {
    readonly url: string | undefined
    readonly authorization: string | undefined
    readonly type: string | undefined
  }
  behaves(manner: Manner): void
}

const endless = Buffer.alloc(64 * 1024, 'x')

/** Starts the server. Its kubeconfig is written to `folder`. */
export async function webhookSink(t: Lifetime, folder: string, first: Manner = 'well'): Promise<WebhookSink> {
  const now = new Date()
  const authority = await makeAuthority('sink-ca', now)
  const serving = await issueCertificate(authority, { commonName: 'sink', usage: 'server', hosts: ['127.0.0.1'] }, now)
  const lists: WebhookSink['lists'][number][] = []
  let manner = first
  let calls = 0
  let last: ReturnType<WebhookSink['last']> = { url: undefined, authorization: undefined, type: undefined }
  const server = createServer(serving, async (request, response) => {
    calls++
    last = { url: request.url, authorization: request.headers.authorization, type: request.headers['content-type'] }
    const text = Buffer.concat(await request.toArray()).toString()
    if (manner === 'hanging') return
    if (manner === 'endless') {
      const more = (): void => {
        while (!response.destroyed && response.write(endless));
        if (!response.destroyed) response.once('drain', more)
      }
      more()
      return
    }
    if (manner === 'failing') {
      response.writeHead(503).end()
      return
    }
    lists.push(JSON.parse(text))
    response.end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  const kubeconfig = join(folder, 'webhook.yaml')
  const data = Buffer.from(authority.cert).toString('base64')
  const { port } = server.address() as AddressInfo
  writeFileSync(
    kubeconfig,
    `apiVersion: v1
kind: Config
clusters: [{name: sink, cluster: {server: 'https://127.0.0.1:${port}/events?x=1', certificate-authority-data: ${data}}}]
users: [{name: me, user: {token: s3cret}}]
contexts: [{name: c, context: {cluster: sink, user: me}}]
current-context: c
`,
  )
  return { kubeconfig, lists, calls: () => calls, last: () => last, behaves: (next) => void (manner = next) }
}
