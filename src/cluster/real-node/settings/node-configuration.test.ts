import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { ExplainedError } from '../../../lib/explained-error.ts'
import { nodeConfiguration } from './node-configuration.ts'

/** Writes a KubeletConfiguration with these fields. */
function fileOf(t: TestContext, fields: object, name = 'kubelet.conf') {
  const folder = mkdtempSync(join(tmpdir(), 't8s-node-configuration-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const file = join(folder, name)
  writeFileSync(
    file,
    JSON.stringify({ apiVersion: 'kubelet.config.k8s.io/v1beta1', kind: 'KubeletConfiguration', ...fields }),
  )
  return { file, folder }
}

test('drop-ins override the file of a real node', (t) => {
  const { file: configurationFile } = fileOf(t, { maxPods: 20, podPidsLimit: 100 })
  const { folder: configurationFolder } = fileOf(t, { maxPods: 30 })
  const { configuration, fields } = nodeConfiguration({ configurationFile, configurationFolder })
  assert.deepEqual([configuration.maxPods, configuration.podPidsLimit], [30, 100])
  assert.deepEqual([...fields].sort(), ['maxPods', 'podPidsLimit'])
})

test('a real node accepts swap by default', (t) => {
  assert.equal(nodeConfiguration({}).configuration.failSwapOn, false)
  const { file: configurationFile } = fileOf(t, { failSwapOn: true })
  assert.equal(nodeConfiguration({ configurationFile }).configuration.failSwapOn, true)
})

test('fields that the cluster decides are refused with the reason', (t) => {
  const x509 = { clientCAFile: '/ca.crt' }
  const { file: configurationFile } = fileOf(t, { tlsCertFile: '/a.crt', authentication: { x509 } })
  assert.throws(
    () => nodeConfiguration({ configurationFile }),
    (error) =>
      error instanceof ExplainedError &&
      error.message ===
        "the real node cannot use these fields of --kubelet-config: tlsCertFile (the cluster issues the kubelet's " +
          "certificate), authentication.x509.clientCAFile (clients have certificates of the cluster's authority): " +
          'leave them out, or run t8s kubelet',
  )
  const { folder: configurationFolder } = fileOf(t, { oomScoreAdj: -10 })
  assert.throws(() => nodeConfiguration({ configurationFolder }), /oomScoreAdj \(the kubelet runs in the process/)
})

test('fields and gates without effect are named, and invalid values are refused', (t) => {
  const { file: configurationFile } = fileOf(t, { hairpinMode: 'none', featureGates: { EventedPLEG: true } })
  const { notices } = nodeConfiguration({ configurationFile })
  assert.equal(notices[0], 'fields of the KubeletConfiguration without effect here: hairpinMode')
  assert.match(notices[1] ?? '', /EventedPLEG/)
  const { file } = fileOf(t, { maxPods: -1 })
  assert.throws(() => nodeConfiguration({ configurationFile: file }), /cannot use --kubelet-config: .*maxPods/)
})
