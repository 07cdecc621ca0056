/** 100 MB through kubectl exec, both ways, without growing memory. Needs root. */
import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import type { Readable, Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { after, test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { installedKubectls, Kubectl } from '../../support/kubectl.ts'
import { reachable } from '../../support/reachable-cluster.ts'
import { inNamespaces } from '../support/in-namespaces.ts'
import { TestNode } from '../support/test-node.ts'
import { protocolsOf } from './protocols.ts'

const megabyte = 1024 * 1024
const size = 100 * megabyte
/**
 * Kubelet and API server run in this process, through which 400 MB pass. The windows of their connections are of 16 MB
 * in each direction, and may be full.
 */
const maxGrowth = 64 * megabyte

await inNamespaces(import.meta.filename, async () => {
  const node = await TestNode.start()
  const cluster = reachable({ after }, node.cluster)
  const web = await node.create({ name: 'web', script: 'sleep 1000' })
  await node.running(web)

  for (const program of [installedKubectls()[0]!, installedKubectls().at(-1)!])
    for (const protocol of protocolsOf(program))
      test(`kubectl ${program.version}, ${protocol.name}: cat of 100 MB both ways`, async () => {
        const kubectl = new Kubectl(program, cluster.kubeconfigFile, cluster.folder)
        const child = kubectl.spawn('exec -i web -- cat', protocol)
        using memory = watchMemory()
        const [sent, received] = await Promise.all([send(child.stdin!), digestOf(child.stdout!)])
        const [code] = child.exitCode === null ? await once(child, 'close') : [child.exitCode]
        assert.equal(code, 0)
        assert.equal(received, sent)
        const growth = memory.growth()
        assert.ok(growth < maxGrowth, `memory has grown by ${Math.round(growth / megabyte)} MB`)
      })
})

/** Resolves with the digest of random bytes, of which it sends `size`. */
async function send(stdin: Writable): Promise<string> {
  const hash = createHash('sha256')
  const block = randomBytes(megabyte)
  async function* blocks(): AsyncGenerator<Buffer> {
    for (let i = 0; i < size / megabyte; i++) {
      block.writeUInt32BE(i)
      hash.update(block)
      yield Buffer.from(block)
    }
  }
  await pipeline(blocks, stdin)
  return hash.digest('hex')
}

async function digestOf(stdout: Readable): Promise<string> {
  const hash = createHash('sha256')
  for await (const chunk of stdout) hash.update(chunk as Buffer)
  return hash.digest('hex')
}

/** Measures by how much the memory in use grows, in bytes: it does not count garbage. */
function watchMemory(): Disposable & { growth(): number } {
  setFlagsFromString('--expose-gc')
  const collectGarbage = runInNewContext('gc') as () => void
  function used(): number {
    collectGarbage()
    const { heapUsed, arrayBuffers } = process.memoryUsage()
    return heapUsed + arrayBuffers
  }
  const start = used()
  let most = start
  // Collections take a tenth of the time at most, on a busy machine too.
  function measure(): void {
    const begin = performance.now()
    most = Math.max(most, used())
    timer = setTimeout(measure, Math.max(100, 9 * (performance.now() - begin)))
  }
  let timer = setTimeout(measure, 100)
  return {
    growth: () => most - start,
    // A timer that is left keeps the process alive after a failure.
    [Symbol.dispose]: () => clearTimeout(timer),
  }
}
