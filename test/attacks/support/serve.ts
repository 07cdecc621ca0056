/**
 * The child process of `attacked-server.ts`: an API server on a memory store that runs until its parent disconnects.
 */
import { type ApiServerOptions, startApiServer } from '../../../src/apiserver/server.ts'
import { releaseMemoryWhenIdle } from '../../../src/lib/process/memory/release-memory.ts'
import { issueCertificate, makeAuthority } from '../../../src/lib/x509/certificates.ts'
import { memoryStore } from '../../../src/storage/memory/index.ts'

export const token = 'test-token'

/** The server options that a test may set. */
export type AttackedOptions = Pick<ApiServerOptions, 'limits' | 'requestTimeoutMs'>

/** The message to the parent once the server listens. */
export interface StartedServer {
  readonly port: number
  readonly ca: string
}

const options = JSON.parse(process.argv[2] ?? '{}') as AttackedOptions
const authority = await makeAuthority('test', new Date())
const { port } = await startApiServer({
  ...options,
  store: memoryStore(),
  bindAddress: '127.0.0.1',
  port: 0,
  tls: await issueCertificate(
    authority,
    { commonName: 'apiserver', usage: 'server', hosts: ['127.0.0.1'] },
    new Date(),
  ),
  clientCA: authority.cert,
  tokens: [{ token, user: { name: 'admin', groups: ['system:masters'] } }],
  // No controller creates the default service accounts here.
  admission: { disabled: ['ServiceAccount'] },
  log: (line) => console.error(line),
})
// As in `t8s`: without it, an idle server would not collect the garbage of an attack.
releaseMemoryWhenIdle()
process.send?.({ port, ca: authority.cert } satisfies StartedServer)
process.on('disconnect', () => process.exit())
