/** The annotation with the deletion cost of a pod is validated in patches too. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testCluster } from '../../support/test-cluster.ts'

test('the cost of deletion stays a number', async (t) => {
  const { call } = await testCluster(t, {
    controllers: false,
    apiServerFlags: ['--disable-admission-plugins=ServiceAccount'],
  })
  const path = '/api/v1/namespaces/default/pods'
  await call('POST', path, { metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'nginx' }] } })
  const set = (cost: string) =>
    call(
      'PATCH',
      `${path}/p`,
      { metadata: { annotations: { 'controller.kubernetes.io/pod-deletion-cost': cost } } },
      'application/merge-patch+json',
    )
  await set('1')
  await assert.rejects(set('x'), /422 .*pod-deletion-cost\]: Invalid value: \\"x\\": must be a 32bit integer/)
})
