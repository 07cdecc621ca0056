/** `t8s up --ingress` and `t8s ingress` as programs. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { request } from 'node:http'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { connectTo, ingresses, services } from '../../../src/client/index.ts'
import { waitFor } from '../../support/wait-for.ts'
import { repository, temporaryFolder, up } from '../../up/t8s-process.ts'

const anyPorts = ['--ingress-http-port', '0', '--ingress-https-port', '0']

/** Resolves with the port for HTTP as soon as the output names it. */
const httpPort = (output: () => string): Promise<number> =>
  waitFor('the port of ingress', () => {
    const port = /^ingress serves http on 127\.0\.0\.1:(\d+) and https on 127\.0\.0\.1:\d+/m.exec(output())?.[1]
    return port !== undefined && Number(port)
  })

async function get(port: number, host: string): Promise<string> {
  const [response] = await once(request({ port, headers: { host } }).end(), 'response')
  return `${response.statusCode} ${(await response.setEncoding('utf8').toArray()).join('')}`
}

function ingress(t: TestContext, kubeconfig: string, ...args: string[]) {
  const child = spawn(join(repository, 't8s'), ['ingress', '--kubeconfig', kubeconfig, ...args])
  t.after(() => child.kill('SIGKILL'))
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text
    })
  return { child, output: () => output, exited: once(child, 'close') }
}

test('t8s up --ingress serves on a thread of its own, and t8s ingress beside it', async (t) => {
  const folder = temporaryFolder(t)
  const running = await up(t, ['--data-dir', folder, '--secure-port', '0', '--ingress', ...anyPorts])
  const port = await httpPort(running.output)
  const client = await connectTo({ kubeconfig: running.kubeconfig })
  t.after(() => client.close())
  await client.create(services, {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { namespace: 'default', name: 'web' },
    spec: { ports: [{ port: 80 }] },
  })
  await client.create(ingresses, {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'Ingress',
    metadata: { namespace: 'default', name: 'web' },
    spec: {
      rules: [
        {
          host: 'web.example.com',
          http: {
            paths: [{ path: '/', pathType: 'Prefix', backend: { service: { name: 'web', port: { number: 80 } } } }],
          },
        },
      ],
    },
  })
  const isServed = async (at: number): Promise<boolean> =>
    (await get(at, 'web.example.com')).startsWith('503 Service default/web has no ready endpoints')
  await waitFor('the Ingress', () => isServed(port))
  assert.match(await get(port, 'other.example.com'), /^404 no rule for this host and path/)

  const taken = ingress(t, running.kubeconfig, '--ingress-http-port', String(port))
  const [code] = await taken.exited
  assert.equal(code, 1)
  assert.match(
    taken.output(),
    new RegExp(`port ${port} on 127\\.0\\.0\\.1 is in use by another process: choose another with --ingress-http-port`),
  )
  const second = ingress(t, running.kubeconfig, '--ingress-access-log', ...anyPorts)
  const secondPort = await httpPort(second.output)
  await waitFor('the Ingress by the second proxy', () => isServed(secondPort))
  second.child.kill('SIGTERM')
  assert.equal((await second.exited)[0], 0, second.output())
  assert.match(second.output(), /GET web\.example\.com\/ 503 [\d.]+ms Ingress\/default\/web\n/)
  assert.match(second.output(), /^stopped$/m)

  running.process.kill('SIGTERM')
  assert.deepEqual(await running.exited, { code: 0, signal: null })
  await assert.rejects(get(port, 'web.example.com'), /ECONNREFUSED/)
})
