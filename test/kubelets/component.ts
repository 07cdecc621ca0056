/**
 * Components of nodes as the API server sees them: programs with a client certificate that was requested and signed the
 * usual way.
 */
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { request } from 'node:https'
import { join } from 'node:path'
import type { TestCluster } from '../support/test-cluster.ts'
import { waitFor } from '../support/wait-for.ts'

export interface Credentials {
  readonly token?: string
  readonly key?: string
  readonly cert?: string
}

export interface Reply {
  readonly status: number
  readonly body: Readonly<Record<string, unknown>>
}

export const signingRequests = '/apis/certificates.k8s.io/v1/certificatesigningrequests'

/**
 * A private key and a request for a certificate of this subject (`/O=system:nodes/CN=system:node:n1`), made by openssl.
 */
export function keyAndRequest(
  { folder }: TestCluster,
  subject: string,
  ...more: readonly string[]
): { key: string; request: string } {
  const newKey = [
    '-newkey',
    'ec',
    '-pkeyopt',
    'ec_paramgen_curve:prime256v1',
    '-nodes',
    '-keyout',
    join(folder, 'component.key'),
  ]
  const made = execFileSync('openssl', ['req', ...newKey, '-subj', subject, ...more], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const key = execFileSync('cat', [join(folder, 'component.key')]).toString()
  return { key, request: made.toString('base64') }
}

/** Sends a request with these credentials only. A watch is cancelled at its first byte. */
export async function call(
  { client }: TestCluster,
  { token, key, cert }: Credentials,
  line: string,
  body?: object,
): Promise<Reply> {
  const [method = '', path = ''] = line.split(' ')
  const type = method === 'PATCH' ? 'application/strategic-merge-patch+json' : 'application/json'
  const headers = { ...(token && { authorization: `Bearer ${token}` }), ...(body && { 'content-type': type }) }
  const sent = request(new URL(path, client.url), { method, ca: client.ca, key, cert, agent: false, headers })
  const [response]: IncomingMessage[] = await once(sent.end(body && JSON.stringify(body)), 'response')
  const status = response!.statusCode ?? 0
  if (status === 200 && path.includes('watch=')) {
    sent.destroy()
    return { status, body: {} }
  }
  const text = Buffer.concat(await response!.toArray()).toString()
  return { status, body: text.startsWith('{') ? JSON.parse(text) : {} }
}

/** Requests a certificate with these credentials, waits until it is signed, and returns it. */
export async function signedBy(cluster: TestCluster, asker: Credentials, name: string, spec: object): Promise<string> {
  await call(cluster, asker, `POST ${signingRequests}`, { metadata: { name }, spec })
  let certificate = ''
  await waitFor(`the certificate of ${name}`, async () => {
    const { body } = await call(cluster, asker, `GET ${signingRequests}/${name}`)
    certificate = (body.status as { certificate?: string } | undefined)?.certificate ?? ''
    return certificate !== ''
  })
  return Buffer.from(certificate, 'base64').toString()
}
