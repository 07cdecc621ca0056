/** `t8s config check` with a running server, an unreachable server, and rejected credentials. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { test } from 'node:test'
import { bareServer } from '../support/bare-server.ts'
import { testCluster } from '../support/test-cluster.ts'
import { Home } from './home.ts'

test('check shows the version of the server and the user', async (t) => {
  const cluster = await testCluster(t, bareServer)
  const home = new Home(t)
  home.write('.kube/config', cluster.kubeconfigYaml)
  assert.match(
    await home.ok(['check']),
    new RegExp(
      String.raw`^"t8s" works \(https://127\.0\.0\.1:\d+\)\n {2}version v1\.\d+\.\d+\S*, responded in \d+ ms\n` +
        String.raw` {2}you are \S+ \(.*system:masters.*system:authenticated\)\n$`,
    ),
  )
  await home.ok(['rename', '-n', 't8s', '-t', 'good'])
  const { url, client } = cluster
  const authority = Buffer.from(client.ca).toString('base64')
  const closed = createServer().listen(0, '127.0.0.1')
  await once(closed, 'listening')
  const address = closed.address()
  const port = typeof address === 'object' && address ? address.port : 0
  closed.close()
  home.write(
    'others',
    `clusters:
- {name: k, cluster: {server: "${url}", certificate-authority-data: ${authority}}}
- {name: stranger, cluster: {server: "${url}"}}
- {name: down, cluster: {server: "https://127.0.0.1:${port}"}}
users:
- {name: expired, user: {token: old}}
contexts:
- {name: expired, context: {cluster: k, user: expired}}
- {name: stranger, context: {cluster: stranger}}
- {name: down, context: {cluster: down}}
- {name: half, context: {cluster: nowhere}}
`,
  )
  const env = { KUBECONFIG: `${home.path('.kube/config')}:${home.path('others')}` }
  const { code, stdout, stderr } = await home.config(['check', '--all'], { env })
  assert.deepEqual([code, stderr], [1, ''])
  assert.match(stdout, /^"good" works/m)
  assert.match(
    stdout,
    /^"expired" does not work .*\n(?: {2}version .*\n)? {2}the server rejects these credentials \(401\)/m,
  )
  assert.match(
    stdout,
    /^"stranger" does not work .*\n {2}no response: .*certificate.*\n {2}its certificate is not signed/m,
  )
  assert.match(stdout, /^"down" does not work .*\n {2}no response: .*\n {2}check that the cluster is running/m)
  assert.match(stdout, /^"half" does not work \(no server\)\n {2}there is no cluster "nowhere"$/m)
  assert.equal((await home.config(['check', 'down'], { env })).code, 1)
  await home.ok(['check', 'good'])
})
