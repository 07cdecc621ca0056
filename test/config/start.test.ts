/** What commands of `t8s config` load: SSH only where it is spoken, and a writer of YAML only where something is written. */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { Home, kubeconfigOf } from './home.ts'

interface Coverage {
  readonly result: readonly { readonly url: string }[]
}

/** What tells a package in the bundle. */
const packages = { ssh2: 'SSH-2.0-', yaml: 'Unresolved alias' }

/** The packages that a command loaded. */
async function loaded(home: Home, args: readonly string[]): Promise<string[]> {
  const folder = home.path(`coverage-${args.join('-')}`)
  await home.config(args, { env: { NODE_V8_COVERAGE: folder } })
  const urls = readdirSync(folder).flatMap((file) => (JSON.parse(readFileSync(join(folder, file), 'utf8')) as Coverage).result.map(({ url }) => url))
  const code = urls.filter((url) => url.startsWith('file:')).map((url) => readFileSync(fileURLToPath(url), 'utf8'))
  assert.ok(code.length > 5, 'the code of the command was seen')
  return Object.entries(packages).flatMap(([name, sign]) => (code.some((text) => text.includes(sign)) ? [name] : []))
}

test('packages are loaded by the commands that need them', async (t) => {
  const home = new Home(t)
  home.write('.kube/config', kubeconfigOf(['dev', 'prod']))
  assert.deepEqual(await loaded(home, ['list']), [])
  assert.deepEqual(await loaded(home, ['show', 'dev']), [])
  assert.deepEqual(await loaded(home, ['use', 'prod']), ['yaml'])
  assert.deepEqual(await loaded(home, ['import', 'x', '-']), ['yaml'])
  assert.deepEqual(await loaded(home, ['import', 'x', '--from=ssh://127.0.0.1:1/x']), ['ssh2', 'yaml'])
})
