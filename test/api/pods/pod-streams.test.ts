/** Subresources of pods without a node. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testCluster } from '../../support/test-cluster.ts'

const pods = '/api/v1/namespaces/default/pods'
const pod = (name: string, spec: object) => ({ apiVersion: 'v1', kind: 'Pod', metadata: { name }, spec })

test('a pod without a node has empty logs, and its streams fail for lack of a host', async (t) => {
  const { call } = await testCluster(t)
  await call('POST', pods, pod('one', { containers: [{ name: 'c', image: 'i' }] }))
  const containers = ['a', 'b'].map((name) => ({ name, image: 'i' }))
  await call('POST', pods, pod('two', { containers, initContainers: [{ name: 'first', image: 'i' }] }))
  await call('GET', `${pods}/one/log`)
  await call('GET', `${pods}/two/log?container=first`)
  for (const [method, path, answer] of [
    ['GET', 'one/log?container=x', /: 400 .*container x is not valid for pod one/],
    [
      'GET',
      'two/log',
      new RegExp(
        ': 400 .*a container name must be specified for pod two, choose ' +
          String.raw`one of: \[a b\] or one of the init containers: \[first\]`,
      ),
    ],
    ['GET', 'one/log?limitBytes=0', /: 422 .*limitBytes: Invalid value: 0: must be greater than 0/],
    [
      'GET',
      'one/log?sinceSeconds=1&sinceTime=2026-01-01T00:00:00Z',
      /: 422 .*at most one of `sinceTime` or `sinceSeconds` may be specified/,
    ],
    ['GET', 'none/log', /: 404 /],
    ['POST', 'one/exec?command=ls', /: 400 .*pod one does not have a host assigned/],
    ['POST', 'one/attach?container=x', /: 400 .*container x is not valid for pod one/],
    ['POST', 'two/portforward', /: 400 .*pod two does not have a host assigned/],
  ] as const)
    await assert.rejects(call(method, `${pods}/${path}`), answer, path)
})
