import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { defaultConfiguration, withDefaults } from './defaults.ts'
import { mergeDropIns } from './drop-ins.ts'

const head = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n'

function folderWith(t: TestContext, files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), 't8s-drop-ins-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(join(folder, name, '..'), { recursive: true })
    writeFileSync(join(folder, name), text)
  }
  return folder
}

test('drop-ins are merged in the order of their names: maps by members, lists as a whole', (t) => {
  const folder = folderWith(t, {
    '20-later.conf': `${head}maxPods: 30\nevictionHard: {memory.available: 200Mi}\n`,
    '10-earlier.conf': `${head}maxPods: 20\nclusterDNS: [10.0.0.10]\n`,
    '30/nested.conf': `${head}clusterDNS: [10.0.0.11]\n`,
    'notes.txt': 'no configuration',
  })
  const { configuration, fields } = mergeDropIns(withDefaults({ clusterDNS: ['10.0.0.9'] }), folder)
  assert.equal(configuration.maxPods, 30)
  assert.deepEqual(configuration.clusterDNS, ['10.0.0.11'])
  assert.deepEqual(configuration.evictionHard, { ...defaultConfiguration.evictionHard, 'memory.available': '200Mi' })
  assert.deepEqual([...fields].sort(), ['clusterDNS', 'evictionHard', 'maxPods'])
})

test('null in a drop-in means the default', (t) => {
  const folder = folderWith(t, { 'a.conf': `${head}maxPods: null\nauthentication: {anonymous: null}\n` })
  const base = withDefaults({ maxPods: 7, authentication: { anonymous: { enabled: true } } })
  const { configuration } = mergeDropIns(base, folder)
  assert.equal(configuration.maxPods, 110)
  assert.deepEqual(configuration.authentication.anonymous, { enabled: false })
})

test('a faulty drop-in and a missing folder are named', (t) => {
  const folder = folderWith(t, { 'bad.conf': `${head}maxPodz: 3\n` })
  assert.throws(() => mergeDropIns(defaultConfiguration, folder), {
    message:
      /^failed to load kubelet dropin file, path: .*bad\.conf, error: strict decoding error: unknown field "maxPodz"$/,
  })
  const other = folderWith(t, { 'other.conf': 'kind: Pod\napiVersion: v1\n' })
  assert.throws(() => mergeDropIns(defaultConfiguration, other), { message: /no kind "Pod" is registered for version/ })
  assert.throws(() => mergeDropIns(defaultConfiguration, join(folder, 'none')), {
    message: /^failed to walk through kubelet dropin directory ".*none": /,
  })
})
