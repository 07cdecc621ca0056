import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { ExplainedError } from '../../../lib/explained-error.ts'
import { readAdmissionConfiguration } from './admission-configuration.ts'

function fileOf(t: TestContext, content: string): string {
  const folder = mkdtempSync(join(tmpdir(), 't8s-admission-'))
  t.after(() => rmSync(folder, { recursive: true }))
  mkdirSync(join(folder, 'plugins'))
  writeFileSync(join(folder, 'plugins/rates.yaml'), 'kind: Configuration\nlimits: []\n')
  writeFileSync(join(folder, 'plugins/empty.yaml'), '')
  const file = join(folder, 'admission.yaml')
  writeFileSync(file, content)
  return file
}

const head = 'apiVersion: apiserver.config.k8s.io/v1\nkind: AdmissionConfiguration\n'
const refusal = (file: string): string => {
  try {
    readAdmissionConfiguration(file)
  } catch (error) {
    assert.ok(error instanceof ExplainedError, String(error))
    return error.message
  }
  return assert.fail('no error')
}

test('plugins are configured in the file or in another file', (t) => {
  const file = fileOf(
    t,
    `${head}plugins:\n- name: PodSecurity\n  configuration: {defaults: {enforce: baseline}}\n- name: ` +
      'EventRateLimit\n  path: plugins/rates.yaml\n- name: Empty\n  path: plugins/empty.yaml\n- name: Nothing\n',
  )
  assert.deepEqual(readAdmissionConfiguration(file), {
    PodSecurity: { defaults: { enforce: 'baseline' } },
    EventRateLimit: { kind: 'Configuration', limits: [] },
    Empty: undefined,
    Nothing: undefined,
  })
})

test('of two entries for a plugin the first one counts', (t) => {
  const file = fileOf(t, `${head}plugins: [{name: A, configuration: {a: 1}}, {name: A, configuration: {a: 2}}]`)
  assert.deepEqual(readAdmissionConfiguration(file), { A: { a: 1 } })
})

test('a file without AdmissionConfiguration configures the plugin of its field', (t) => {
  const old = { podNodeSelectorPluginConfig: { clusterDefaultNodeSelector: 'a=b' } }
  assert.deepEqual(readAdmissionConfiguration(fileOf(t, JSON.stringify(old))), { PodNodeSelector: old })
})

test('errors in a file contain its name', (t) => {
  assert.match(
    refusal('/no/such/file'),
    /^unable to read admission control configuration from "\/no\/such\/file" \[no such file or directory\]$/,
  )
  assert.match(
    refusal(fileOf(t, `${head}plugin: []`)),
    /admission\.yaml: strict decoding error: unknown field "plugin"$/,
  )
  assert.match(
    refusal(fileOf(t, `${head}plugins: [{name: A, file: x}]`)),
    /strict decoding error: unknown field "plugins\[0\]\.file"$/,
  )
  assert.match(
    refusal(fileOf(t, `${head}plugins: 7`)),
    /cannot unmarshal number into Go struct field AdmissionConfiguration\.plugins/,
  )
  assert.match(refusal(fileOf(t, `${head}kind: Twice`)), /key "kind" already set in map/)
  assert.match(refusal(fileOf(t, 'plugins: []')), /Object 'Kind' is missing in '\{"plugins":\[\]\}'$/)
  assert.match(
    refusal(fileOf(t, 'apiVersion: v1\nkind: Pod')),
    new RegExp(
      'no kind "Pod" is registered for version "v1": write kind: AdmissionConfiguration, apiVersion: ' +
        String.raw`apiserver\.config\.k8s\.io/v1$`,
    ),
  )
  assert.match(
    refusal(fileOf(t, `${head}plugins: [{name: A, path: absent.yaml}]`)),
    new RegExp(
      String.raw`couldn't open admission plugin configuration .*/absent\.yaml: ` +
        String.raw`no such file or directory; check plugin "A" in .*admission\.yaml$`,
    ),
  )
})
