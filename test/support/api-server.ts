/** Starts an API server for each test, with access to its store. All tests share the certificates. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { type ApiServer, type ApiServerOptions, startApiServer } from '../../src/apiserver/server.ts'
import type { KeyPair } from '../../src/cluster/pki/key-pair.ts'
import { issueCertificate, makeAuthority } from '../../src/lib/x509/certificates.ts'
import { openLogStore } from '../../src/storage/log/index.ts'
import { memoryStore } from '../../src/storage/memory/index.ts'
import type { Store } from '../../src/storage/store.ts'

export const token = 'test-token'

/** The CA of all test servers, and one that they do not trust. */
export const authority = await makeAuthority('test', new Date())
export const untrustedAuthority = await makeAuthority('stranger', new Date())
const serving = await issueCertificate(
  authority,
  { commonName: 'apiserver', usage: 'server', hosts: ['127.0.0.1'] },
  new Date(),
)

/** Issues a client certificate. */
export const clientPair = (by: KeyPair, commonName: string, organizations: readonly string[]): Promise<KeyPair> =>
  issueCertificate(by, { commonName, organizations, usage: 'client' }, new Date())

export interface TestServer {
  readonly url: string
  readonly port: number
  readonly store: Store
  /** The log lines of the server, such as unexpected errors. */
  readonly logLines: readonly string[]
  stop(graceMs?: number): Promise<void>
}

/** Starts a server with a new store; both are closed after the test. */
export async function startTestServer(t: TestContext, storage: 'memory' | 'log' = 'memory'): Promise<TestServer> {
  const directory = storage === 'log' ? mkdtempSync(join(tmpdir(), 't8s-api-')) : undefined
  const store = directory ? await openLogStore({ directory }) : memoryStore()
  const server = await serve(t, store)
  t.after(async () => {
    await server.stop(0)
    await store.close()
    if (directory) rmSync(directory, { recursive: true, force: true })
  })
  return server
}

/** Starts a server with a store that the caller closes. */
export async function serve(
  t: TestContext,
  store: Store,
  options: Partial<ApiServerOptions> = {},
): Promise<TestServer> {
  const logLines: string[] = []
  const server: ApiServer = await startApiServer({
    store,
    bindAddress: '127.0.0.1',
    port: 0,
    tls: serving,
    clientCA: authority.cert,
    tokens: [{ token, user: { name: 'admin', groups: ['system:masters'] } }],
    // No controllers are running, so namespaces have no default ServiceAccount for pods.
    admission: { disabled: ['ServiceAccount'] },
    log: (line) => logLines.push(line),
    ...options,
  })
  let stopped: Promise<void> | undefined
  const stop = (graceMs = 10_000): Promise<void> => (stopped ??= server.stop({ graceMs }))
  t.after(() => stop(0))
  return { url: server.url, port: server.port, store, logLines, stop }
}
