import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { upCommand } from '../commands/serving/up.ts'
import { givenApiServerFlags } from './component-options.ts'
import { readConfigFile } from './config-file.ts'
import type { UpFlags } from './up-flags.ts'

const head = 'apiVersion: t8s.dev/v1alpha1\nkind: ClusterConfiguration\n'

function configured(t: TestContext, text: string, ...args: readonly string[]) {
  const folder = mkdtempSync(join(tmpdir(), 't8s-config-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'cluster.yaml')
  writeFileSync(file, text)
  const command = upCommand()
  command.parseOptions([...args])
  readConfigFile(command, file)
  return command
}

test('fields are flags, and the command line wins', (t) => {
  const text = `${head}nodes: 3
securePort: 6444
scheduler: false
manifests: [one, two]
runtimeConfig: [api/beta=true, batch/v2=true]
wait: true
v: 2
auditLogPath: "-"
enableAdmissionPlugins: AlwaysPullImages
`
  const command = configured(t, text, '--secure-port=7000')
  const { nodes, securePort, scheduler, manifests, runtimeConfig, wait, v } = command.opts<UpFlags>()
  assert.deepEqual([nodes, securePort, scheduler, wait, v], [3, 7000, false, 120_000, 2])
  assert.deepEqual(manifests, ['one', 'two'])
  assert.deepEqual(runtimeConfig, ['api/beta=true', 'batch/v2=true'])
  const flags = givenApiServerFlags(command)
  assert.deepEqual(flags.toSorted(), ['--audit-log-path=-', '--enable-admission-plugins=AlwaysPullImages'])
})

test('an error names the file, the line and the field', (t) => {
  const failing = (text: string, expected: RegExp) => assert.throws(() => configured(t, text), expected)
  failing(`${head}nodez: 3\n`, /cluster\.yaml, line 3: nodez is no field: fields are the flags of t8s up/)
  failing(`${head}nodes: 1\nnodes: 2\n`, /is not valid YAML: Map keys must be unique at line 4/)
  failing(`${head}securePort: high\n`, /line 3: securePort: It must be a number from 0 to 65535/)
  failing(`${head}securePort: { a: 1 }\n`, /line 3: securePort: it must be a text, a number/)
  failing(`${head}watch: sometimes\n`, /line 3: watch: it must be true or false/)
  failing(`${head}nodeType: none\n`, /line 3: nodeType: it must be one of auto, real, simulated/)
  failing(`${head}detach: true\n`, /line 3: detach is a flag for the command line only/)
  failing('nodes: 3\n', /is no configuration of a cluster: it begins with "apiVersion: t8s\.dev\/v1alpha1" and "kind/)
  failing('- a\n', /has no fields/)
})
