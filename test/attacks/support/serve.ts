/** The process that `attacked-server.ts` starts: one API server on a store in memory, until its parent lets go. */
import { type ApiServerOptions, startApiServer } from '../../../src/apiserver/server.ts'
import { issueCertificate, makeAuthority } from '../../../src/cluster/pki/certificates.ts'
import { giveBackMemory } from '../../../src/lib/process/give-back-memory.ts'
import { memoryStore } from '../../../src/storage/memory/index.ts'

export const token = 'test-token'

/** What a test may set. */
export type AttackedOptions = Pick<ApiServerOptions, 'limits' | 'requestTimeoutMs'>

/** What the parent is told. */
export interface Told {
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
  // Nobody makes accounts here.
  admission: { disabled: ['ServiceAccount'] },
  log: (line) => console.error(line),
})
// As every server does that is a program: at rest, nothing else would collect what an attack has left.
giveBackMemory()
process.send?.({ port, ca: authority.cert } satisfies Told)
process.on('disconnect', () => process.exit())
