/** kubectl port-forward and the proxy subresources, with real containers. Needs root. */
import assert from 'node:assert/strict'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { after, type TestContext, test } from 'node:test'
import type { Pod } from '../../../src/client/kinds.ts'
import { installedKubectls, Kubectl, manyKubectls } from '../../support/kubectl.ts'
import { reachable } from '../../support/reachable-cluster.ts'
import { waitFor } from '../../support/wait-for.ts'
import { inNamespaces } from '../support/in-namespaces.ts'
import { TestNode } from '../support/test-node.ts'
import { protocolsOf } from './protocols.ts'

/** A server of HTTP on port 8080, and one on port 7 that counts the first bytes of its input. */
const servers = [
  'mkdir /www; echo page > /www/page; httpd -p 8080 -h /www',
  'echo \'echo "$(head -c 100000 | wc -c) bytes"\' > /count; exec nc -ll -p 7 -e sh /count',
].join('; ')

await inNamespaces(import.meta.filename, async () => {
  const node = await TestNode.start()
  const cluster = reachable({ after }, node.cluster)
  const create = (): Promise<Pod> => node.create({ name: 'web', labels: { app: 'web' }, script: servers })
  let web = await create()
  await node.running(web)
  await cluster.call('POST', '/api/v1/namespaces/default/services', {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'web' },
    spec: { selector: { app: 'web' }, ports: [{ name: 'http', port: 80, targetPort: 8080 }] },
  })

  for (const program of manyKubectls())
    for (const protocol of protocolsOf(program))
      test(`kubectl ${program.version}, ${protocol.name}: forwards ports`, async (t) => {
        const kubectl = new Kubectl(program, cluster.kubeconfigFile, cluster.folder)
        const forwarding = await startForwarding(t, kubectl.spawn('port-forward pod/web :8080 :7 :9', protocol), 3)
        const [http, count, closed] = forwarding.ports as [number, number, number]
        await waitFor('the page', async () => (await page(http)) === 'page\n')
        assert.equal(await exchange(count, 'x'.repeat(100_000)), '100000 bytes\n')
        // A client that leaves early does not end the others' connections (111825).
        const leaving = connect(count, '127.0.0.1', () => leaving.write('lost', () => leaving.resetAndDestroy()))
        await once(leaving, 'close')
        assert.equal(await exchange(count, 'x'.repeat(100_000)), '100000 bytes\n')
        assert.equal(await page(http), 'page\n')
        // Nothing listens: kubectl prints the error; newer ones end then.
        await exchange(closed, 'lost').catch(() => '')
        await waitFor('the error', () => /onnection refused/.test(forwarding.output()))
      })

  test('1,000 connections through one forwarded port', (t) =>
    testManyConnections(t, new Kubectl(installedKubectls().at(-1)!, cluster.kubeconfigFile, cluster.folder)))

  test('requests reach pods, Services and nodes through the API server', async () => {
    const core = '/api/v1/namespaces/default'
    assert.equal(await cluster.text(`${core}/pods/web:8080/proxy/page`), 'page\n')
    const viaService = (): Promise<string> => cluster.text(`${core}/services/web:http/proxy/page`)
    assert.equal(await waitFor('the page of the Service', viaService), 'page\n')
    const { items } = JSON.parse(await cluster.text('/api/v1/nodes/n1/proxy/pods')) as { items: Pod[] }
    assert.ok(items.some(({ metadata }) => metadata.name === 'web'))
  })

  test('after the pod has been replaced, a new port-forward reaches it', async (t) => {
    const kubectl = new Kubectl(installedKubectls().at(-1)!, cluster.kubeconfigFile, cluster.folder)
    const old = await startForwarding(t, kubectl.spawn('port-forward pod/web :8080'), 1)
    assert.equal(await page(old.ports[0]!), 'page\n')
    await node.deleted(web)
    await page(old.ports[0]!).catch(() => '')
    web = await create()
    await node.running(web)
    const { ports } = await startForwarding(t, kubectl.spawn('port-forward pod/web :8080'), 1)
    await waitFor('the page', async () => (await page(ports[0]!)) === 'page\n')
  })
})

async function testManyConnections(t: TestContext, kubectl: Kubectl): Promise<void> {
  const { ports } = await startForwarding(t, kubectl.spawn('port-forward pod/web :8080'), 1)
  for (let done = 0; done < 1_000; done += 40) {
    const pages = await Promise.all(Array.from({ length: 40 }, () => page(ports[0]!)))
    assert.deepEqual(new Set(pages), new Set(['page\n']))
  }
}

/** Resolves with the local ports when all of them are forwarded. */
async function startForwarding(t: TestContext, child: ChildProcess, count: number) {
  t.after(async () => {
    child.kill()
    if (child.exitCode === null && child.signalCode === null) await once(child, 'close')
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding('utf8').on('data', (chunk: string) => (output += chunk))
  const ports = await waitFor(`forwarded ports: ${output}`, () => {
    const found = [...output.matchAll(/127\.0\.0\.1:(\d+) -> /g)].map(([, port]) => Number(port))
    return found.length === count && found
  })
  return { child, ports, output: () => output }
}

const page = async (port: number): Promise<string> =>
  (await fetch(`http://127.0.0.1:${port}/page`, { headers: { connection: 'close' } })).text()

/** Sends a text, and resolves with the answer. Runtimes close both halves of a connection after that of the pod. */
async function exchange(port: number, sent: string): Promise<string> {
  const socket = connect(port, '127.0.0.1')
  socket.write(sent)
  return text(socket)
}
