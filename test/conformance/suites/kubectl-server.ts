/** Tests of the conformance suite for commands of kubectl that need no pods (`test/e2e/kubectl/kubectl.go`). */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request } from 'node:http'
import { createConnection } from 'node:net'
import { join } from 'node:path'
import { test } from 'node:test'
import { waitFor } from '../../support/wait-for.ts'
import type { StartKubectl } from './kubectl.ts'

export function serverCommandSuite(start: StartKubectl): void {
  test('Kubectl client Kubectl api-versions should check if v1 is in available api versions', async () => {
    const { kubectl } = await start()
    await kubectl.ok('api-versions', /^v1$/m)
  })

  test(
    'Kubectl client Kubectl cluster-info should check if Kubernetes control plane services is included in ' +
      'cluster-info',
    async () => {
      const { kubectl } = await start()
      await kubectl.ok('cluster-info', /Kubernetes control plane.*is running at/)
    },
  )

  test('Kubectl client Kubectl version should check is all data is printed', async () => {
    const { kubectl } = await start()
    const output = await kubectl.ok('version')
    assert.match(output, /Client Version: /)
    assert.match(output, /Server Version: .*v1\.36/)
  })

  test('Kubectl client Proxy server should support proxy with --port 0', async () => {
    const { kubectl } = await start()
    const proxy = kubectl.spawn('proxy -p 0 --disable-filter')
    try {
      const [line] = await once(proxy.stdout!, 'data')
      const [, port] = /Starting to serve on 127\.0\.0\.1:(\d+)/.exec(String(line)) ?? []
      const answer = (await (await fetch(`http://127.0.0.1:${port}/api/`)).json()) as { versions: string[] }
      assert.deepEqual(answer.versions, ['v1'])
    } finally {
      proxy.kill()
      await once(proxy, 'close')
    }
  })

  test('Kubectl client Proxy server should support --unix-socket=/path', async () => {
    const { kubectl, nodes, namespace } = await start()
    const socketPath = join(nodes.cluster.folder, `${namespace}.sock`)
    const proxy = kubectl.spawn(`proxy --unix-socket=${socketPath}`)
    try {
      await waitFor('the socket', async () => {
        const socket = createConnection(socketPath)
        await once(socket, 'connect')
        socket.destroy()
        return true
      })
      const [answer] = await once(request({ socketPath, path: '/api/' }).end(), 'response')
      const body = JSON.parse(Buffer.concat(await answer.toArray()).toString()) as { versions: string[] }
      assert.deepEqual(body.versions, ['v1'])
    } finally {
      proxy.kill()
      await once(proxy, 'close')
    }
  })
}
