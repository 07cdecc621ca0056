/** The official Python client against a cluster. Debian's Python runs the checks in `python/`. */
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { test } from 'node:test'
import { bareServer } from '../support/bare-server.ts'
import { testCluster } from '../support/test-cluster.ts'

const python = '/usr/bin/python3'
const missing = spawnSync(python, ['-c', 'import kubernetes']).status !== 0
const skip = missing && `the Python client is missing: apt-get install python3-kubernetes (for ${python})`

test('the Python client works', { skip }, async (t) => {
  const cluster = await testCluster(t, bareServer)
  const child = spawn(python, ['-B', join(import.meta.dirname, 'python/client_test.py')], {
    env: { ...process.env, KUBECONFIG: cluster.kubeconfigFile },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text
    })
  }
  const [code] = await once(child, 'close')
  assert.equal(code, 0, output)
})
