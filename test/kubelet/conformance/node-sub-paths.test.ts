/** Tests of the conformance suite for `subPathExpr` (`test/e2e/common/node/expansion.go`), on a real node. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { pods } from '../../../src/client/kinds.ts'
import { inNamespaces } from '../support/in-namespaces.ts'
import { TestNode } from '../support/test-node.ts'

const volumes = [{ name: 'work', emptyDir: {} }]
const annotated = {
  name: 'ANNOTATION',
  valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath: "metadata.annotations['mysubpath']" } },
}
const podName = (value: string) => ({ name: 'POD_NAME', value })
const whole = { name: 'work', mountPath: '/volume_mount' }
const nested = { name: 'work', mountPath: '/subpath_mount', subPathExpr: '$(ANNOTATION)/$(POD_NAME)' }

await inNamespaces(import.meta.filename, () =>
  describe('expanded sub-paths', { concurrency: true }, async () => {
    const started = TestNode.start()
    for (const define of [testExpansion, testFaults, testAnnotations]) define(started)
  }),
)

function testExpansion(started: Promise<TestNode>): void {
  test('VolumeSubpathEnvExpansion, subpath expansion', async () => {
    const node = await started
    const pod = await node.create({
      name: 'expanded',
      volumes,
      script: 'test -d /volume_mount/expanded; echo $?',
      container: {
        env: [podName('expanded')],
        volumeMounts: [whole, { name: 'work', mountPath: '/logs', subPathExpr: '$(POD_NAME)' }],
      },
    })
    assert.equal(await node.ended(pod), '0')
  })
}

function testFaults(started: Promise<TestNode>): void {
  for (const [title, name, value, message] of [
    ['VolumeSubpathEnvExpansion, subpath with backticks', 'backticks', '..', /must not contain '\.\.'/],
    ['VolumeSubpathEnvExpansion, subpath with absolute path', 'absolute', '/tmp', /must not be an absolute path/],
  ] as const)
    test(title, async () => {
      const node = await started
      const pod = await node.create({
        name,
        volumes,
        container: {
          env: [podName(value)],
          volumeMounts: [{ name: 'work', mountPath: '/logs', subPathExpr: '$(POD_NAME)' }],
        },
      })
      const { status } = await node.until(pod, 'cannot be created', ({ status: current }) => {
        const waiting = current?.containerStatuses?.[0]?.state?.waiting
        return waiting?.reason === 'CreateContainerConfigError'
      })
      assert.match(status?.containerStatuses?.[0]?.state?.waiting?.message ?? '', message)
      assert.equal(status?.phase, 'Pending')
      await node.deleted(pod)
    })
}

function testAnnotations(started: Promise<TestNode>): void {
  test('VolumeSubpathEnvExpansion, subpath ready from failed state', async () => {
    const node = await started
    const pod = await node.create({
      name: 'changed',
      annotations: { notmysubpath: 'mypath' },
      volumes,
      script: 'tail -f /dev/null',
      container: { env: [podName('foo'), annotated], volumeMounts: [nested, whole] },
    })
    await node.until(pod, 'cannot be created', ({ status }) => {
      return status?.containerStatuses?.[0]?.state?.waiting?.reason === 'CreateContainerConfigError'
    })
    await node.client.patch(pods, 'default', 'changed', { metadata: { annotations: { mysubpath: 'mypath' } } })
    await node.running(pod)
    await node.deleted(pod)
  })

  test('VolumeSubpathEnvExpansion, subpath test writes', async () => {
    const node = await started
    const pod = await node.create({
      name: 'written',
      annotations: { mysubpath: 'mypath' },
      volumes,
      script: `touch /volume_mount/mypath/foo/test.log
        test -f /subpath_mount/test.log && echo found
        tail -f /dev/null`,
      container: { env: [podName('foo'), annotated], volumeMounts: [nested, whole] },
    })
    await node.outputWith(pod, 'found')
    await node.client.patch(pods, 'default', 'written', { metadata: { annotations: { mysubpath: 'mynewpath' } } })
    const { status } = await node.running(pod)
    assert.equal(status?.containerStatuses?.[0]?.restartCount, 0)
    // The volume is removed, although the expression has another value now.
    await node.deleted(pod)
  })
}
